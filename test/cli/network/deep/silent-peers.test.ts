import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, test} from 'vitest';
import {errorLines, sandboxFor} from '../../../engine/service/program.ts';
import {needPrograms, notRun} from '../../../support/installed.ts';
import {fixture, mediaCommand, needNode} from '../../../support/media.ts';
import {patienceMs} from '../../../support/patience.ts';
import {
  fullListener,
  type SilentPeer,
  silentNameServer,
  silentServer,
  silentTunnel,
} from '../../../support/silent-peers.ts';

const photo = fixture('photo.png');
const throughProxy = ({port}: SilentPeer): [string, Record<string, string>] => [
  'https://api.example.com',
  {HTTPS_PROXY: `http://127.0.0.1:${port}`},
];

describe.each<[string, () => Promise<SilentPeer>, (peer: SilentPeer) => [string, Record<string, string>]]>([
  ['a service that is silent in TLS', silentServer, ({port}) => [`https://127.0.0.1:${port}`, {}]],
  ['a service that is silent in TCP', fullListener, ({port}) => [`http://127.0.0.1:${port}`, {}]],
  ['a proxy that is silent in CONNECT', silentServer, throughProxy],
  ['a proxy that is silent in TCP', fullListener, throughProxy],
  ['a proxy behind which nobody answers in TLS', silentTunnel, throughProxy],
])('%s', (_, start, settings) => {
  test('--deadline: ends as deadline_exceeded', async () => {
    const box = await sandboxFor(...settings(await start()));
    const {stdout, stderr, exitCode} = await box.run(['upload', photo, '--deadline', '4s', '--json']);
    const [error] = errorLines(stderr);
    expect(error).toMatchObject({code: 'deadline_exceeded', message: 'The deadline of this run has passed.'});
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('%s: ends by it', async signal => {
    const peer = await start();
    const upload = (await sandboxFor(...settings(peer))).start(['upload', photo]);
    await peer.reached();
    upload.kill(signal);
    const {stdout, stderr, signal: endedBy} = await upload;
    expect({stdout, endedBy}).toEqual({stdout: '', endedBy: signal});
    expect(stderr).toContain(`media: The run was stopped by ${signal}.\n`);
  });
});

describe.each([
  ['here', {}],
  // There, Node has no execve to offer, although it has a function of that name.
  ['as on Windows', {NODE_OPTIONS: '--require=./windows.cjs'}],
])('a name server that is silent, %s', (_, variables) => {
  test('--deadline: ends as deadline_exceeded', async context => {
    needPrograms(context, ['unshare', 'mount']);
    needNode(context);
    if (!('execve' in process)) notRun(context, 'this Node waits for the look-up before it ends');
    const address = await silentNameServer();
    if (address === undefined) notRun(context, 'port 53 may not be listened on here');
    const box = await sandboxFor('https://media.example', variables);
    const at = (name: string) => join(box.directory, name);
    await writeFile(at('resolv.conf'), `nameserver ${address}\n`);
    await writeFile(at('windows.cjs'), `Object.defineProperty(process, 'platform', {value: 'win32'});`);
    const script = 'mount --bind "$0" /etc/resolv.conf || exit 77; exec "$@"';
    const command = ['upload', photo, '--deadline', '4s', '--json'];
    const {stdout, stderr, exitCode} = await execa(
      'unshare',
      ['--map-root-user', '--mount', 'sh', '-c', script, at('resolv.conf'), ...mediaCommand, ...command],
      {
        timeout: patienceMs,
        cwd: box.directory,
        env: box.env,
        extendEnv: false,
        reject: false,
        stripFinalNewline: false,
      },
    );
    if (exitCode === 77) notRun(context, `a file may not be mounted here (${stderr.trim()})`);
    expect(errorLines(stderr)).toMatchObject([{code: 'deadline_exceeded'}]);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
  });
});
