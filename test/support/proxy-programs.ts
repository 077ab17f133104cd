import {chmod, mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {afterTest} from './after-test.ts';
import {listensOn} from './daemon-port.ts';
import {freePort} from './free-ports.ts';
import {type Program, whatIsMissing} from './installed.ts';
import {temporaryDirectory} from './media.ts';
import {patienceMs} from './patience.ts';

/** What a proxy asks for: nothing, a login, or that only https goes through a tunnel, as by its own defaults. */
export type ProxyRule = 'none' | 'login' | 'no tunnel';

/** A forward proxy that others made. */
export interface ProxyProgram {
  name: 'squid' | 'tinyproxy';
  password: string;
  /** Writes what it needs into the directory; returns its command. It takes media.test for 127.0.0.1. */
  prepare(directory: string, port: number, rule: ProxyRule): Promise<string[]>;
}

export const user = 'me';

export const squid: ProxyProgram = {
  name: 'squid',
  password: 'tr:ick@y/100%',
  async prepare(directory, port, rule) {
    const [helper, hosts, file] = ['login.sh', 'hosts', 'squid.conf'].map(name => join(directory, name));
    // A line each login; the percent sign is encoded.
    const expected = `${user} ${squid.password.replace('%', '%25')}`;
    const script = `while read -r line; do [ "$line" = '${expected}' ] && echo OK || echo ERR; done\n`;
    await writeFile(helper as string, script);
    await writeFile(hosts as string, '127.0.0.1 media.test\n');
    const auth = `auth_param basic program /bin/sh ${helper}
auth_param basic realm test
acl known proxy_auth REQUIRED
http_access deny !known
`;
    await writeFile(
      file as string,
      `http_port 127.0.0.1:${port}
hosts_file ${hosts}
${rule === 'login' ? auth : ''}${rule === 'no tunnel' ? 'http_access deny CONNECT\n' : ''}http_access allow localhost
http_access deny all
cache deny all
cache_mem 0
memory_cache_shared off
pid_filename none
access_log none
cache_log ${join(directory, 'log')}
coredump_dir ${directory}
pinger_enable off
shutdown_lifetime 0 seconds
`,
    );
    return ['squid', '-N', '-f', file as string];
  },
};

export const tinyproxy: ProxyProgram = {
  name: 'tinyproxy',
  // Its settings take no other characters.
  password: 'tr-ick.y_100',
  async prepare(directory, port, rule) {
    // It knows no hosts file of its own, so it asks a squid without login for the connection.
    const upstream = await freePort();
    await mkdir(join(directory, 'upstream'));
    await startDaemon(squid, join(directory, 'upstream'), upstream, 'none');
    const file = join(directory, 'tinyproxy.conf');
    await writeFile(
      file,
      `Port ${port}
Listen 127.0.0.1
Allow 127.0.0.1
Timeout 600
Upstream http 127.0.0.1:${upstream}
${rule === 'login' ? `BasicAuth ${user} ${tinyproxy.password}\n` : ''}${rule === 'no tunnel' ? 'ConnectPort 443\n' : ''}LogFile "${join(directory, 'log')}"
`,
    );
    return ['tinyproxy', '-d', '-c', file];
  },
};

async function startDaemon(proxy: ProxyProgram, directory: string, port: number, rule: ProxyRule) {
  // Started by root they go on as somebody else, who writes a log here.
  await chmod(directory, 0o777);
  const [program = '', ...parameters] = await proxy.prepare(directory, port, rule);
  const daemon = execa(program, parameters, {
    reject: false,
    all: true,
    timeout: patienceMs,
  });
  afterTest(async () => {
    daemon.kill();
    await daemon;
  });
  let ended: string | undefined;
  void daemon.then(({all}) => {
    ended = all;
  });
  await listensOn(port, () => {
    if (ended !== undefined) throw new Error(`${proxy.name} did not start: ${ended}`);
  });
}

/** Why it cannot be tried here, or undefined. */
export function missingProxy({name}: ProxyProgram): string | undefined {
  const programs: Program[] = name === 'squid' ? ['squid'] : [name, 'squid'];
  return whatIsMissing(programs);
}

/** Starts a proxy for the current test; returns its host and port. */
export async function startProxy(proxy: ProxyProgram, rule: ProxyRule = 'none'): Promise<string> {
  const port = await freePort();
  await startDaemon(proxy, await temporaryDirectory(), port, rule);
  return `127.0.0.1:${port}`;
}
