import {type ChildProcess, spawn} from 'node:child_process';
import {chmod, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {generate} from 'selfsigned';
import {afterTest} from '../after-test.ts';
import {listensOn} from '../daemon-port.ts';
import {freePort} from '../free-ports.ts';
import {type Program, whatIsMissing} from '../installed.ts';
import {temporaryDirectory} from '../media.ts';

/** A reverse proxy that others made, in front of an origin. */
export interface Peer {
  plainUrl: string;
  tlsUrl: string;
  /** PEM text of the authority of its certificate. */
  certificateAuthorities: string;
}

interface Places {
  DIR: string;
  PLAIN: number;
  TLS: number;
  ORIGIN: number;
}

const configured = (file: string) => async (places: Places) => {
  let text = await readFile(new URL(`peers/${file}`, import.meta.url), 'utf8');
  for (const [name, value] of Object.entries(places)) text = text.replaceAll(`@${name}@`, String(value));
  const path = join(places.DIR, file);
  await writeFile(path, text);
  return path;
};

const mitmproxy = (places: Places, port: number) => [
  [
    '-q',
    '--listen-host',
    '127.0.0.1',
    '-p',
    String(port),
    '--mode',
    `reverse:http://127.0.0.1:${places.ORIGIN}`,
  ],
  ['--set', `confdir=${places.DIR}`, '--certs', `*=${join(places.DIR, 'peer.pem')}`],
];

const varnish = async (places: Places) => [
  ['-F', '-n', join(places.DIR, 'varnish'), '-j', 'none', '-s', 'malloc,16m'],
  ['-a', `127.0.0.1:${places.PLAIN}`, '-f', await configured('varnish.vcl')(places)],
];

interface Start {
  program: Program;
  /** Of each process of it. */
  parameters: (places: Places) => Promise<string[][]>;
  isPlainOnly?: true;
}

/** How each of them is started; mitmproxy tells plain from TLS by itself, but listens on one port only. */
const starts = {
  nginx: {
    program: 'nginx',
    parameters: async places => [['-c', await configured('nginx.conf')(places)]],
  },
  haproxy: {
    program: 'haproxy',
    parameters: async places => [['-db', '-f', await configured('haproxy.cfg')(places)]],
  },
  mitmproxy: {
    program: 'mitmdump',
    parameters: async places => [places.PLAIN, places.TLS].map(port => mitmproxy(places, port).flat()),
  },
  caddy: {
    program: 'caddy',
    parameters: async places => [
      ['run', '--adapter', 'caddyfile', '--config', await configured('Caddyfile')(places)],
    ],
  },
  varnish: {
    program: 'varnishd',
    parameters: async places => [(await varnish(places)).flat()],
    isPlainOnly: true,
  },
  'nginx that closes': {
    program: 'nginx',
    parameters: async places => [['-c', await configured('closing-nginx.conf')(places)]],
    isPlainOnly: true,
  },
  'Apache that closes': {
    program: 'apache2',
    parameters: async places => [['-X', '-f', await configured('closing-apache.conf')(places)]],
    isPlainOnly: true,
  },
  'haproxy that refuses': {
    program: 'haproxy',
    parameters: async places => [['-db', '-f', await configured('early-haproxy.cfg')(places)]],
    isPlainOnly: true,
  },
} satisfies Record<string, Start>;

export type PeerName = keyof typeof starts;

/** Why a peer cannot be tried here, or undefined. */
export function missingPeer(name: PeerName): string | undefined {
  return whatIsMissing([starts[name].program]);
}

/** Starts a peer before an origin, for the current test. */
export async function startPeer(name: PeerName, origin: string): Promise<Peer> {
  const directory = await temporaryDirectory();
  // nginx gives up root's rights, and keeps long bodies here.
  await chmod(directory, 0o711);
  const pems = await generate([{name: 'commonName', value: 'media torture'}], {
    keySize: 2048,
    algorithm: 'sha256',
    extensions: [
      {name: 'basicConstraints', cA: true},
      {name: 'subjectAltName', altNames: [{type: 7, ip: '127.0.0.1'}] as never},
    ],
  });
  await writeFile(join(directory, 'peer.pem'), `${pems.private}\n${pems.cert}`);
  const [plain, tls] = [await freePort(), await freePort()];
  const places = {DIR: directory, PLAIN: plain, TLS: tls, ORIGIN: Number(new URL(origin).port)};
  const start: Start = starts[name];
  const children: ChildProcess[] = [];
  for (const parameters of await start.parameters(places)) {
    const env = {...process.env, HOME: directory};
    const child = spawn(start.program, parameters, {stdio: 'ignore', env});
    children.push(child);
    afterTest(() => ended(child));
  }
  const refuseEnded = () => {
    if (children.some(hasEnded)) throw new Error(`${name} did not start`);
  };
  const ports = start.isPlainOnly ? [plain] : [plain, tls];
  await Promise.all(ports.map(port => listensOn(port, refuseEnded)));
  return {
    plainUrl: `http://127.0.0.1:${plain}`,
    tlsUrl: `https://127.0.0.1:${tls}`,
    certificateAuthorities: pems.cert,
  };
}

function hasEnded({exitCode, signalCode}: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function ended(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const exit = new Promise(resolve => child.once('exit', resolve));
  child.kill('SIGTERM');
  await exit;
}
