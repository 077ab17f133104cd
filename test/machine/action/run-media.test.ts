import {chmod, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, it} from 'vitest';
import {mediaEnv} from '../../../tools/action/inputs.ts';
import {runMedia} from '../../../tools/action/run-media.ts';
import {temporaryDirectory} from '../../support/media.ts';

async function program(text: string): Promise<string> {
  const path = join(await temporaryDirectory(), 'program.mjs');
  await writeFile(path, `#!${process.execPath}\n${text}`, {mode: 0o755});
  return path;
}

it('a signal that the runner sends when the job is cancelled: passed on, and the status is that of the program', async () => {
  const waiting = await program(`
    process.on('SIGHUP', () => process.exit(9));
    setInterval(() => {}, 1000);
    console.log('ready');`);
  const end = await runMedia(waiting, [], process.env, line => {
    if (line === 'ready') process.emit('SIGHUP', 'SIGHUP');
    return line;
  });
  expect(end).toEqual({status: 9, wasStopped: false});
  expect(process.listenerCount('SIGHUP')).toBe(0);
});

it('the program gets the service and the key, and no other input: not the token for comments', () => {
  const env = {
    PATH: '/bin',
    'INPUT_API-KEY': 'mk_1',
    INPUT_TOKEN: 'ghs_1',
    'INPUT_BASE-URL': '',
    INPUT_FILES: 'a',
  };
  expect(mediaEnv(env)).toEqual({PATH: '/bin', MEDIA_API_KEY: 'mk_1'});
});

it('a program that ends by a signal: stopped, with the status of a shell', async () => {
  const ending = await program(`process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000);`);
  expect(await runMedia(ending, [], process.env, line => line)).toEqual({status: 143, wasStopped: true});
});

it.each([undefined, (line: string) => line])(
  'a program that may not be executed: an error that says what to check',
  async shown => {
    const path = await program('');
    await chmod(path, 0o644);
    await expect(runMedia(path, [], process.env, shown)).rejects.toMatchObject({
      code: 'local_failure',
      message: `${path} could not be started: permission denied.`,
      hint: 'The directory that RUNNER_TEMP names must allow programs to be executed.',
    });
    expect(process.listenerCount('SIGHUP')).toBe(0);
  },
);
