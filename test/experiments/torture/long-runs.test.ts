import {copyFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {sandboxFor} from '../../engine/service/program.ts';
import {experiment} from '../../support/experiment/experiment.ts';
import {fixture} from '../../support/media.ts';
import {memoryIn, tellMemory} from '../../support/memory.ts';
import {slowTest} from '../../support/patience.ts';
import {scriptedServer} from '../../support/scripted-server.ts';
import {runOnPlainTerminal} from './terminal.ts';

const photo = fixture('photo.png');
const day = 86_400;

/** A day or more, in every way that Retry-After can say it. */
const longWaits: Record<string, () => string> = {
  'a day in seconds': () => String(day),
  'a day, as a date': () => new Date(Date.now() + 1000 * day).toUTCString(),
  '25 days, more than a timer takes': () => String(25 * day),
  '3,000 years': () => String(3000 * 365 * day),
  'a date in 3000': () => 'Wed, 01 Jan 3000 00:00:00 GMT',
  'more seconds than a number holds': () => '9'.repeat(400),
};

experiment(
  'a Retry-After of a day or more: ends, and says until when, on a terminal and off it',
  async ({scale}) => {
    const broken: string[] = [];
    let tried = 0;
    for (const [name, field] of Object.entries(longWaits))
      for (const status of [429, 503])
        for (const isTerminal of [false, true]) {
          if (scale === 'short' && (status === 503 || isTerminal)) continue;
          tried += 1;
          const {url, requests} = await scriptedServer(async connection => {
            await connection.request();
            connection.answer(status, `{"code":${status},"message":"Later."}`, {'retry-after': field()});
          });
          const box = await sandboxFor(url);
          const told = isTerminal
            ? (await runOnPlainTerminal(box, ['upload', photo])).output
            : (await box.run(['upload', photo])).stderr;
          const isSaid = /asks to wait .+\./.test(told) && told.includes('--retry-max-wait');
          if (!isSaid || requests.length !== 1)
            broken.push(
              `${status}, ${name}${isTerminal ? ', on a terminal' : ''}: ${requests.length} requests, ${told}`,
            );
        }
    return {tried, held: tried - broken.length, broken};
  },
);

experiment('a table of records of 1 MB each, in a heap of 64 MiB: every row is printed', async ({scale}) => {
  const tried = scale === 'long' ? 1_000 : 40;
  const record = `{"id":"m_1","type":"IMAGE","padding":"${'x'.repeat(1_000_000)}"}`;
  const {url} = await scriptedServer(async connection => {
    await connection.request();
    connection.answer(200, record);
  });
  const box = await sandboxFor(url, {NODE_OPTIONS: '--max-old-space-size=64'});
  const names = Array.from({length: tried}, (_, index) => `${index}.ico`);
  for (const name of names) await copyFile(fixture('favicon.ico'), join(box.directory, name));
  const {stdout, stderr, exitCode} = await box.run(['upload', ...names, '-c', '4', '--verbose'], slowTest);
  const held = stdout.match(/uploaded/g)?.length ?? 0;
  const broken = exitCode === 0 ? [] : [`exit status ${exitCode}: ${stderr.slice(-300)}`];
  return {tried, held, broken};
});

/** In MiB, of a run that fails for each of so many names. */
const mostMemory = 250;

experiment('names that fail, in a list: each reported, in 250 MiB', async ({scale}) => {
  const tried = scale === 'long' ? 200_000 : 5_000;
  const box = await sandboxFor('http://127.0.0.1:9', {NODE_OPTIONS: tellMemory});
  const names = Array.from({length: tried}, (_, index) => `photos/of/a/holiday/IMG_${index}.png\n`);
  await writeFile(join(box.directory, 'list'), names.join(''));
  const {stderr, exitCode} = await box.run(['upload', '--files-from', 'list'], slowTest);
  const memory = Math.round(memoryIn(stderr) / 1024 / 1024);
  const broken: string[] = [];
  if (exitCode !== 1) broken.push(`exit status ${exitCode}: ${stderr.slice(-300)}`);
  if (memory > mostMemory) broken.push(`${memory} MiB`);
  const held = Number(/0 uploaded, 0 skipped, (\d+) failed, 0 unknown\n/.exec(stderr)?.[1] ?? 0);
  return {tried, held, broken, note: `${memory} MiB at most`};
});
