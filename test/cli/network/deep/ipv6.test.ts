import {writeFile} from 'node:fs/promises';
import {createServer as createHttpServer} from 'node:http';
import {createServer, type Server} from 'node:net';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, onTestFinished, type TestContext, test} from 'vitest';
import {sandboxFor} from '../../../engine/service/program.ts';
import {deadPort} from '../../../support/free-ports.ts';
import {needPrograms, notRun} from '../../../support/installed.ts';
import {portOf} from '../../../support/loopback.ts';
import {fixture, mediaCommand, type Sandbox} from '../../../support/media.ts';
import {patienceMs} from '../../../support/patience.ts';
import {scriptedServer, someRecord} from '../../../support/scripted-server.ts';
import {fullListener} from '../../../support/silent-peers.ts';

const photo = fixture('photo.png');
const stored = {stdout: 'm_1\n', stderr: '', exitCode: 0};

/** A service on 127.0.0.1. */
async function service() {
  const {url, requests} = await scriptedServer(async connection => {
    await connection.request();
    connection.answer(200, someRecord);
  });
  return {port: Number(new URL(url).port), requests};
}

async function listenOn(server: Server, address: string, context: TestContext, port = 0): Promise<number> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, address, resolve);
    });
  } catch (error) {
    notRun(context, `nothing can listen on ${address} here (${(error as Error).message})`);
  }
  onTestFinished(() => {
    server.close();
  });
  return portOf(server);
}

/** Runs `media` where the host called many.test has these addresses: a hosts file of its own, in a namespace of its own. */
async function runWithHosts(
  context: TestContext,
  machine: Sandbox,
  addresses: string[],
  parameters: string[],
) {
  needPrograms(context, ['unshare', 'mount']);
  const hosts = join(machine.directory, 'hosts');
  await writeFile(hosts, addresses.map(address => `${address} many.test\n`).join(''));
  const enter = [
    'unshare',
    '--map-root-user',
    '--mount',
    'sh',
    '-c',
    'mount --bind "$0" /etc/hosts && exec "$@"',
    hosts,
  ];
  const look = `require('node:dns').lookup('many.test', {all: true},
    (error, all) => process.stdout.write(error ? error.code : all.map(({address}) => address).join()))`;
  const options = {
    cwd: machine.directory,
    env: {...machine.env, NODE_OPTIONS: '--dns-result-order=ipv6first'},
    extendEnv: false,
    timeout: patienceMs,
    reject: false,
  } as const;
  const run = (...command: string[]) =>
    execa(enter[0] as string, [...enter.slice(1), ...command], {...options, stripFinalNewline: false});
  const found = await run(process.execPath, '-e', look);
  if (found.stdout !== addresses.join()) {
    notRun(
      context,
      `many.test cannot be given addresses here (${found.stderr || found.stdout || found.shortMessage})`,
    );
  }
  return run(...mediaCommand, ...parameters);
}

async function uploadToMany(
  context: TestContext,
  port: number,
  addresses: string[],
  parameters: string[] = [photo],
) {
  const machine = await sandboxFor(`http://many.test:${port}`);
  return runWithHosts(context, machine, addresses, [
    ...['upload', ...parameters],
    ...['--allow-http', '--retries', '0', '--template', '{id}\\n'],
  ]);
}

test('http://[::1]:PORT: uploaded, and the brackets stand in Host', async context => {
  let host: string | undefined;
  const server = createServer(socket => {
    let received = '';
    socket
      .on('error', () => {})
      .on('data', bytes => {
        received += bytes.toString('latin1');
        const [, length] = /\r\ncontent-length: (\d+)\r\n/i.exec(received) ?? [];
        const start = received.indexOf('\r\n\r\n') + 4;
        if (start < 4 || received.length < start + Number(length)) return;
        host = /\r\nhost: (.*)\r\n/i.exec(received)?.[1];
        socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${someRecord.length}\r\n\r\n${someRecord}`);
      });
  });
  const port = await listenOn(server, '::1', context);
  const machine = await sandboxFor(`http://[::1]:${port}`);
  expect(await machine.run(['upload', photo, '--template', '{id}\\n'])).toMatchObject(stored);
  expect(host).toBe(`[::1]:${port}`);
});

describe('a host with several addresses', () => {
  test('the IPv6 one refuses: the IPv4 one is taken', async context => {
    const {port, requests} = await service();
    expect(await uploadToMany(context, port, ['::1', '127.0.0.1'])).toMatchObject(stored);
    expect(requests).toHaveLength(1);
  });

  test('the first is out of reach: the next is taken', async context => {
    const {port, requests} = await service();
    expect(await uploadToMany(context, port, ['2001:db8::1', '127.0.0.1'])).toMatchObject(stored);
    expect(requests).toHaveLength(1);
  });

  test('all refuse: connection_refused, exit 6', async context => {
    const port = await deadPort();
    const {stdout, stderr, exitCode} = await uploadToMany(context, port, ['::1', '127.0.0.1']);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 6});
    expect(stderr).toContain(
      `media: Nothing is listening at many.test:${port}: the connection was refused.\n`,
    );
  });

  test('one is out of reach and one refuses: told of the one that responded', async context => {
    const port = await deadPort();
    const {stderr, exitCode} = await uploadToMany(context, port, ['2001:db8::1', '127.0.0.1']);
    expect(stderr).toContain(
      `media: Nothing is listening at many.test:${port}: the connection was refused.\n`,
    );
    expect(exitCode).toBe(6);
  });

  test('the first does not respond: the next is tried beside it, and taken', async context => {
    const full = await fullListener();
    const server = createHttpServer((request, response) => {
      request.resume().on('end', () => response.end(someRecord));
    });
    await listenOn(server, '127.0.0.2', context, full.port);
    const {stdout, stderr, exitCode} = await uploadToMany(
      context,
      full.port,
      ['127.0.0.1', '127.0.0.2'],
      [photo, '--verbose'],
    );
    expect({stdout, exitCode}).toEqual({stdout: 'm_1\n', exitCode: 0});
    expect(stderr).toContain(`connection 1: connect: 127.0.0.1 port ${full.port}: given up`);
  });

  test('the first takes longer than 250 ms and the other one refuses: the first is waited for', async context => {
    const slow = await fullListener();
    const result = uploadToMany(context, slow.port, ['127.0.0.1', '127.0.0.2']);
    await Promise.race([slow.reached(), result]);
    // By then, the other attempt has begun and failed.
    setTimeout(slow.open, 500);
    expect(await result).toMatchObject(stored);
  });

  test('the family that was reached first is tried first from then on', async context => {
    const {port, requests} = await service();
    const {stdout, stderr} = await uploadToMany(
      context,
      port,
      ['::1', '127.0.0.1'],
      [photo, fixture('photo.gif'), '-c', '1', '--verbose'],
    );
    expect(stdout).toBe('m_1\nm_1\n');
    expect(requests).toHaveLength(2);
    expect(stderr.match(/connect: ::1 port/g)).toHaveLength(1);
    expect(stderr.match(/connect: 127\.0\.0\.1 port/g)).toHaveLength(2);
  });
});
