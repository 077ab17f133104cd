import {describe, expect, test} from 'vitest';
import {errorLines, sandboxFor} from '../service/program.ts';
import {fixture} from '../support/media.ts';
import {fullListener, type SilentPeer, silentServer, silentTunnel} from '../support/silent-peers.ts';

const photo = fixture('photo.png');
const throughProxy = ({port}: SilentPeer): [string, Record<string, string>] => [
  'https://api.example.com',
  {HTTPS_PROXY: `http://127.0.0.1:${port}`},
];

/** Sooner than a connection that is not made is given up by itself, which takes 10 s. */
const timely = {timeout: 8_000, killSignal: 'SIGKILL'} as const;

describe.each<[string, () => Promise<SilentPeer>, (peer: SilentPeer) => [string, Record<string, string>]]>([
  ['a service that is silent in TLS', silentServer, ({port}) => [`https://127.0.0.1:${port}`, {}]],
  ['a service that is silent in TCP', fullListener, ({port}) => [`http://127.0.0.1:${port}`, {}]],
  ['a proxy that is silent in CONNECT', silentServer, throughProxy],
  ['a proxy that is silent in TCP', fullListener, throughProxy],
  ['a proxy behind which nobody answers in TLS', silentTunnel, throughProxy],
])('%s', (_, start, settings) => {
  test('--deadline: ends as deadline_exceeded', async () => {
    const box = await sandboxFor(...settings(await start()));
    const {stdout, stderr, exitCode} = await box.run(['upload', photo, '--deadline', '1s', '--json'], timely);
    const [error] = errorLines(stderr);
    expect(error).toMatchObject({code: 'deadline_exceeded', message: 'The deadline of this run has passed.'});
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('%s: ends by it', async signal => {
    const peer = await start();
    const upload = (await sandboxFor(...settings(peer))).run(['upload', photo], timely);
    await peer.reached();
    upload.kill(signal);
    const {stdout, stderr, signal: endedBy} = await upload;
    expect({stdout, endedBy}).toEqual({stdout: '', endedBy: signal});
    expect(stderr).toContain(`media: The run was ended by ${signal}.\n`);
  });
});
