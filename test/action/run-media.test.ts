import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {expect, it} from 'vitest';
import {runMedia} from '../../tools/action/run-media.ts';
import {temporaryDirectory} from '../support/media.ts';

async function program(text: string): Promise<URL> {
  const path = join(await temporaryDirectory(), 'program.mjs');
  await writeFile(path, text);
  return pathToFileURL(path);
}

it('a signal that the runner sends when the job is cancelled: passed on, and the status is that of the program', async () => {
  const waiting = await program(`
    process.on('SIGHUP', () => process.exit(9));
    setInterval(() => {}, 1000);
    console.log('ready');`);
  const end = await runMedia(waiting, [], process.env, line => {
    if (line === 'ready') process.emit('SIGHUP', 'SIGHUP');
  });
  expect(end).toEqual({status: 9, wasStopped: false});
  expect(process.listenerCount('SIGHUP')).toBe(0);
});

it('a program that ends by a signal: stopped, with the status of a shell', async () => {
  const ending = await program(`process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000);`);
  expect(await runMedia(ending, [], process.env, () => {})).toEqual({status: 143, wasStopped: true});
});
