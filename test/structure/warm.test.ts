import {createServer} from 'node:net';
import {expect, test} from 'vitest';
import {listen, urlOf} from '../support/loopback.ts';
import {fixture, sandbox} from '../support/media.ts';
import {scriptedServer, someRecord} from '../support/scripted-server.ts';

test('two command lines one after the other: each has its own output, environment and directory', async () => {
  const {url} = await scriptedServer(async connection => {
    await connection.request();
    connection.answer(200, someRecord);
  });
  const [one, other] = [await sandbox(), await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: 'mk_other'})];
  const upload = ['upload', fixture('photo.png'), '--template', '{id}\\n'];
  for (let round = 0; round < 3; round += 1) {
    expect(await one.run(upload)).toMatchObject({
      stdout: '',
      exitCode: 4,
      stderr: expect.stringContaining('no base URL'),
    });
    expect(await other.run(upload)).toEqual({stdout: 'm_1\n', stderr: '', exitCode: 0, signal: undefined});
    expect((await one.run(['config', 'list'])).stdout).toContain(`: ${one.directory}/config/config.json\n`);
  }
});

test('a run that is not at an end in time: ended by a signal, and the next one is not', async () => {
  const silent = createServer(socket => void socket.on('error', () => {}));
  await listen(silent);
  const box = await sandbox({MEDIA_BASE_URL: urlOf(silent), MEDIA_API_KEY: 'mk_silent'});
  const ended = await box.run(['upload', fixture('photo.png')], {timeout: 500});
  expect(ended).toMatchObject({exitCode: undefined, signal: 'SIGKILL'});
  expect(await box.run(['config', 'list'])).toMatchObject({exitCode: 0, signal: undefined});
});
