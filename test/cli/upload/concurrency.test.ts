import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {createServer} from 'node:http';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {listen, urlOf} from '../../support/loopback.ts';
import {fixture, type Sandbox, sandbox} from '../../support/media.ts';
import {someRecord} from '../../support/scripted-server.ts';

/** A service that responds to nobody until `atLeast` uploads are in progress, and counts them. */
async function waitingService(atLeast: number) {
  const seen = {most: 0, stored: 0};
  let inProgress = 0;
  let release = () => {};
  const isEnough = new Promise<void>(resolve => {
    release = resolve;
  });
  const server = createServer((request, response) => {
    inProgress += 1;
    seen.most = Math.max(seen.most, inProgress);
    if (inProgress === atLeast) release();
    request.resume().on('end', async () => {
      await isEnough;
      inProgress -= 1;
      seen.stored += 1;
      response.setHeader('Content-Type', 'application/json').end(someRecord);
    });
  });
  await listen(server);
  return {seen, url: urlOf(server)};
}

async function sandboxWith(files: number, url: string): Promise<Sandbox> {
  const box = await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: 'k'});
  const png = await readFile(fixture('photo.png'));
  await mkdir(join(box.directory, 'p'));
  for (let index = 0; index < files; index += 1)
    await writeFile(
      join(box.directory, 'p', `${index}.png`),
      Buffer.concat([png, Buffer.from(String(index))]),
    );
  return box;
}

describe('media upload --concurrency', () => {
  it.each([
    ['auto', 9, 128],
    ['auto:3', 3, 3],
    ['5', 5, 5],
  ])('%s, 100 files: each once, and only so many at a time', async (concurrency, atLeast, atMost) => {
    const {seen, url} = await waitingService(atLeast);
    const box = await sandboxWith(100, url);
    const {exitCode, stderr} = await box.run([
      'upload',
      '-r',
      'p',
      '-c',
      concurrency,
      '--template',
      '{id}\\n',
    ]);
    expect(stderr).toContain('100 uploaded, 0 skipped, 0 failed, 0 unknown');
    expect(exitCode).toBe(0);
    expect(seen.stored).toBe(100);
    expect(seen.most).toBeLessThanOrEqual(atMost);
  });

  it.each(['auto:', 'auto:0', 'automatic', '0', '1.5', ''])('%j: a usage error', async value => {
    const box = await sandbox();
    const {exitCode, stderr} = await box.run(['upload', 'a.png', `--concurrency=${value}`]);
    expect(stderr).toContain('Use a whole number from 1 to 1000, auto, or auto:N with such a number.');
    expect(exitCode).toBe(2);
  });
});
