import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect} from 'vitest';
import {formatNames} from '../../../src/cli/output/results/formats.ts';
import {exitStatusOf} from '../../../src/errors.ts';
import {experiment} from '../../support/experiment/experiment.ts';
import {notJson, rawControl, runnerCommands} from '../../support/experiment/hostile-text.ts';
import {liar, listening} from '../../support/experiment/liar.ts';
import {type Lie, lies} from '../../support/experiment/lies.ts';
import {type Sandbox, sandbox} from '../../support/media.ts';
import {memoryIn, tellMemory, withoutMemory} from '../../support/memory.ts';
import {optionOf} from '../../support/output-formats.ts';
import {slowTest} from '../../support/patience.ts';
import {runOnPlainTerminal} from './terminal.ts';

const mostMemoryKiB = 150 * 1024;

/** A small new space: garbage that V8 has not collected yet would otherwise be up to 48 MiB of the peak. */
const tellMemoryHeld = `${tellMemory} --max-semi-space-size=1`;

const signature = '\x89PNG\r\n\x1a\n';

/** A sandbox with a file for each lie, a server that tells them, and another one that counts its callers. */
async function lyingService() {
  let calls = 0;
  const elsewhere = await listening(() => {
    calls += 1;
  });
  const told: Lie[] = [];
  const host = await liar(() => told);
  told.push(...lies(elsewhere));
  const box = await sandbox({MEDIA_BASE_URL: `http://${host}`, MEDIA_API_KEY: 'mk_canary-7dE2u9'});
  const files = told.map((_, index) => `${index}.png`);
  for (const [index, file] of files.entries()) {
    await writeFile(join(box.directory, file), `${signature}lie ${index}.`.padEnd(57), 'latin1');
  }
  return {told, files, box, calls: () => calls};
}

const noRetries = ['--retries', '0'];
/** Long enough for every answer that comes at once, on a busy machine; the longest answers only four at a time. */
const patient = [...noRetries, '--timeout', '30s', '-c', '4'];
const impatient = [...noRetries, '--timeout', '400ms'];

interface Line {
  file: string;
  status: string;
  error?: {code: string};
}

/** What is wrong with a run through a pipe. */
async function complaintsAboutPipe(
  box: Sandbox,
  files: readonly string[],
  told: readonly Lie[],
  parameters: readonly string[] = patient,
): Promise<{broken: string[]; memory: number}> {
  const {stdout, stderr, exitCode} = await box.run(['upload', '--ndjson', ...parameters, ...files], {
    env: {...box.env, NODE_OPTIONS: tellMemoryHeld},
    ...slowTest,
  });
  const memory = memoryIn(stderr) / 1024;
  const errors = withoutMemory(stderr);
  const broken: string[] = [];
  if (rawControl.test(stdout + errors)) broken.push('a raw control character in the pipe');
  for (const line of notJson(stdout)) broken.push(`no JSON: ${line.slice(0, 80)}`);
  for (const line of runnerCommands(stdout + errors)) broken.push(`a command to CI: ${line.slice(0, 80)}`);
  if (memory > mostMemoryKiB) broken.push(`${memory} KiB of memory`);
  const lines =
    broken.length > 0
      ? []
      : stdout
          .trimEnd()
          .split('\n')
          .map(line => JSON.parse(line) as Line);
  const ends = new Map(lines.map(({file, status, error}) => [file, error?.code ?? status]));
  for (const file of files) {
    const lie = told[Number.parseInt(file, 10)] as Lie;
    if (ends.get(file) !== lie.ends) broken.push(`${lie.name}: ${ends.get(file)}, not ${lie.ends}`);
  }
  const expected = files.map(file => statusOf(told[Number.parseInt(file, 10)] as Lie));
  if (files.length === 1 && exitCode !== expected[0]) broken.push(`status ${exitCode}, not ${expected[0]}`);
  return {broken, memory};
}

function statusOf({ends}: Lie): number {
  return ends === 'uploaded' ? 0 : exitStatusOf[ends];
}

/** What is wrong with a run on a terminal. */
async function complaintsAboutTerminal(
  box: Sandbox,
  files: readonly string[],
  exitStatus: number,
  parameters: readonly string[] = patient,
): Promise<string[]> {
  const {output, exitCode} = await runOnPlainTerminal(box, ['upload', ...parameters, ...files]);
  const found = rawControl.exec(output);
  return [
    ...(exitCode === exitStatus ? [] : [`status ${exitCode} on a terminal, not ${exitStatus}`]),
    ...(found === null
      ? []
      : [
          `raw on the terminal: ${JSON.stringify(output.slice(Math.max(0, found.index - 40), found.index + 20))}`,
        ]),
  ];
}

/** Runs an action on each item, a few at a time. */
async function eachOf<Item>(items: readonly Item[], action: (item: Item) => Promise<void>): Promise<void> {
  const rest = items.values();
  const work = async () => {
    for (const item of rest) await action(item);
  };
  await Promise.all([work(), work(), work()]);
}

experiment('lying servers: each lie told in a run of its own', async ({scale}) => {
  const {told, files, box, calls} = await lyingService();
  const broken: string[] = [];
  let memory = 0;
  // In the short form the others are told in batches only.
  const stands = ({name, alone, isEndless}: Lie) => alone || isEndless || /\d kB|10,000/.test(name);
  const chosen = files.filter((_, index) => scale === 'long' || stands(told[index] as Lie));
  await eachOf(chosen, async file => {
    const lie = told[Number.parseInt(file, 10)] as Lie;
    const patience = lie.isEndless ? impatient : patient;
    const piped = await complaintsAboutPipe(box, [file], told, patience);
    const shown = await complaintsAboutTerminal(box, [file], statusOf(lie), patience);
    memory = Math.max(memory, piped.memory);
    const complaints = [...piped.broken, ...shown];
    if (complaints.length > 0) broken.push(`${lie.name}: ${complaints.join('; ')}`);
  });
  expect(calls()).toBe(0);
  return {
    tried: chosen.length,
    held: chosen.length - broken.length,
    broken,
    note: `at most ${Math.ceil(memory / 1024)} MiB; 0 requests to a second origin`,
  };
});

experiment('lying servers: all lies told in two runs, and in one in every format', async ({scale}) => {
  const {told, files, box, calls} = await lyingService();
  const batch: string[] = [];
  const harmless = told.findIndex(({ends}) => ends === 'uploaded');
  for (const [index, file] of files.entries()) {
    if (told[index]?.alone || told[index]?.isEndless) continue;
    // Several failures without an upload between them are an outage, which the run would wait for.
    const between = [1, 2].map(number => `${harmless}.${number}-after-${file}`);
    for (const name of between)
      await writeFile(join(box.directory, name), `${signature}lie ${harmless}. ${name}`.padEnd(57), 'latin1');
    batch.push(file, ...between);
  }
  const few = ['-c', '3', ...patient];
  const half = 3 * Math.ceil(batch.length / 6);
  const broken: string[] = [];
  let memory = 0;
  for (const part of [batch.slice(0, half), batch.slice(half)]) {
    const piped = await complaintsAboutPipe(box, part, told, few);
    broken.push(...piped.broken);
    memory = Math.max(memory, piped.memory);
  }
  const formats = scale === 'long' ? formatNames : (['table'] as const);
  await eachOf(formats, async format => {
    const complaints = await complaintsAboutTerminal(box, batch, 5, [...optionOf(format), ...few]);
    broken.push(...complaints.map(complaint => `${format}: ${complaint}`));
  });
  expect(batch.length).toBeGreaterThanOrEqual(120);
  expect(calls()).toBe(0);
  return {
    tried: batch.length,
    held: batch.length - broken.length,
    broken,
    note: `${batch.length / 3} lies in two runs: ${Math.ceil(memory / 1024)} MiB`,
  };
});
