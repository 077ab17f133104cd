import {spawnSync} from 'node:child_process';
import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {inject} from 'vitest';
import {sandboxFor} from '../../../engine/service/program.ts';
import {sinkServer, writeSparsePng} from '../../../engine/service/support.ts';
import {experiment, onlyTorture} from '../../../support/experiment/experiment.ts';
import {KeepingServer} from '../../../support/experiment/keeping-server.ts';
import {cannotMount, smallDisk} from '../../../support/experiment/small-disk.ts';
import {sha256Of, uniqueBytes} from '../../../support/experiment/verdicts.ts';
import {mediaCommand, type Sandbox, temporaryDirectory} from '../../../support/media.ts';
import {memoryIn, tellMemory} from '../../../support/memory.ts';
import {patienceMs, slowTest} from '../../../support/patience.ts';
import {someOf} from '../../../support/seeded.ts';

interface Line {
  file: string;
  status: string;
  record?: {id: string};
  error?: {code: string};
}

/** Runs the program in a shell that first sets limits. A write past the limit of a file's size fails as on a full disk. */
function runLimited(machine: Sandbox, limits: string, parameters: readonly string[], input?: Buffer) {
  return execa('sh', ['-c', `trap '' XFSZ; ${limits}; exec "$0" "$@"`, ...mediaCommand, ...parameters], {
    cwd: machine.directory,
    env: machine.env,
    extendEnv: false,
    reject: false,
    stripFinalNewline: false,
    timeout: patienceMs,
    ...(input === undefined ? {stdin: 'ignore'} : {input}),
  });
}

async function makeFiles(directory: string, count: number): Promise<Map<string, string>> {
  await mkdir(directory);
  const files = new Map<string, string>();
  for (let index = 0; index < count; index += 1) {
    const bytes = uniqueBytes(2_000 + 3_000 * index);
    await writeFile(join(directory, `${index}.png`), bytes);
    files.set(`${index}.png`, sha256Of(bytes));
  }
  return files;
}

/** What is wrong with what was printed of the files: uploaded means stored once, failed means not stored. */
function compareLines(stdout: string, files: ReadonlyMap<string, string>, server: KeepingServer): string[] {
  const lines = stdout
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Line);
  return [...files].flatMap(([name, sha256]) => {
    const line = lines.find(({file}) => file.endsWith(`/${name}`));
    const count = server.countOf(sha256);
    const status = line?.status ?? 'not shown';
    const fits =
      status === 'failed'
        ? count === 0
        : status === 'unknown'
          ? count <= 1
          : status !== 'not shown' && count === 1;
    return fits ? [] : [`${name}: ${status} ${line?.error?.code ?? ''}, stored ${count} times`];
  });
}

const windows = process.platform === 'win32' ? 'no limits of a shell on Windows' : undefined;
const concurrency = 3;

/** A batch whose journal meets its limit, then the same command without one; resolves to all that went wrong. */
async function fillJournal(limits: string, directory?: string, free: () => Promise<void> = async () => {}) {
  const server = await KeepingServer.start();
  const machine = await sandboxFor(server.url);
  const files = await makeFiles(join(machine.directory, 'files'), 12);
  const journal = join(directory ?? machine.directory, 'batch.journal');
  const command = ['upload', '-r', 'files', '--journal', journal, '--ndjson', '-c', String(concurrency)];
  const broken: string[] = [];
  const full = await runLimited(machine, limits, command);
  if (full.stdout !== '')
    broken.push(...compareLines(full.stdout, files, server).map(line => `full: ${line}`));
  else if (server.stored.length > 0)
    broken.push(`full: ${server.stored.length} records, and nothing printed`);
  if (![0, 1, 3, 5].includes(full.exitCode ?? -1))
    broken.push(`full: exit status ${full.exitCode}, ${full.stderr}`);
  await free();
  const resumed = await runLimited(machine, ':', command);
  broken.push(...compareLines(resumed.stdout, files, server).map(line => `resumed: ${line}`));
  const unknown = resumed.stdout.split('\n').filter(line => line.includes('"status":"unknown"')).length;
  if (unknown > concurrency) broken.push(`${unknown} unknown with ${concurrency} in flight`);
  if (resumed.exitCode !== (unknown > 0 ? 5 : 0))
    broken.push(`resumed: exit status ${resumed.exitCode}, ${resumed.stderr}`);
  await server.close();
  return {broken, unknown, isFull: full.exitCode !== 0};
}

experiment(
  'a journal that may grow no further: nothing lost, nothing twice',
  async ({scale, random}) => {
    // In blocks of 512 bytes; a whole journal of the batch has fewer than 20.
    const all = Array.from({length: 19}, (_, index) => index + 1);
    const blocks = scale === 'long' ? all : someOf(all, 4, random);
    const broken: string[] = [];
    let held = 0;
    let unknown = 0;
    for (const block of blocks) {
      const found = await fillJournal(`ulimit -f ${block}`);
      if (found.broken.length === 0) held += 1;
      unknown += found.unknown;
      broken.push(...found.broken.map(line => `${block} blocks: ${line}`));
    }
    return {tried: blocks.length, held, broken, note: `of 12 files each, ${unknown} unknown in all`};
  },
  onlyTorture('test/simulation') ?? windows,
);

experiment(
  'a full disk under the journal and the spool',
  async ({scale}) => {
    const broken: string[] = [];
    let tried = 0;
    let held = 0;
    const count = (what: string, lines: string[]) => {
      tried += 1;
      if (lines.length === 0) held += 1;
      broken.push(...lines.map(line => `${what}: ${line}`));
    };
    // Pages of 4 KiB, of which one is the lock's.
    for (const kibibytes of scale === 'long' ? [4, 8, 12, 16] : [8]) {
      const disk = await smallDisk(kibibytes);
      const free = async () => void spawnSync('mount', ['-o', 'remount,size=1m', disk]);
      const found = await fillJournal(':', disk, free);
      count(`journal on ${kibibytes} KiB`, found.broken);
    }
    const server = await KeepingServer.start();
    const machine = await sandboxFor(server.url, {TMPDIR: await smallDisk(1024)});
    const spooled = await runLimited(machine, ':', ['upload', '-', '--json'], uniqueBytes(3_000_000));
    const isRight =
      spooled.exitCode === 1 && spooled.stderr.includes('"local_failure"') && spooled.stdout === '';
    count(
      'standard input',
      isRight && (await server.close()).length === 0 ? [] : [`${spooled.exitCode} ${spooled.stderr}`],
    );
    return {tried, held, broken};
  },
  cannotMount(),
);

experiment(
  'too few file descriptors: every file is stored once, or said to have failed',
  async ({scale}) => {
    const broken: string[] = [];
    const limits = scale === 'long' ? [36, 38, 40, 44, 48, 56, 64, 80] : [40];
    let held = 0;
    let uploaded = 0;
    for (const limit of limits) {
      const server = await KeepingServer.start();
      const machine = await sandboxFor(server.url);
      const files = await makeFiles(join(machine.directory, 'files'), 40);
      const command = ['upload', '-r', 'files', '--ndjson', '-c', '32'];
      const {stdout, stderr, exitCode} = await runLimited(machine, `ulimit -n ${limit}`, command);
      const wrong = stdout === '' ? [] : compareLines(stdout, files, server);
      uploaded += (await server.close()).length;
      if (stdout === '' && server.stored.length > 0) wrong.push('nothing printed');
      if (![0, 1, 3].includes(exitCode ?? -1)) wrong.push(`exit status ${exitCode}, ${stderr}`);
      if (wrong.length === 0) held += 1;
      broken.push(...wrong.map(line => `${limit} descriptors: ${line}`));
    }
    return {tried: limits.length, held, broken, note: `${uploaded} of ${limits.length * 40} files uploaded`};
  },
  windows,
);

experiment(
  '5 GiB of a sparse file: every byte is sent, in flat memory',
  async () => {
    const gibibyte = 1024 ** 3;
    const sink = await sinkServer();
    const machine = await sandboxFor(sink.url, {NODE_OPTIONS: tellMemory});
    const measure = async (size: number) => {
      const path = await writeSparsePng(await temporaryDirectory(), 'big.png', size);
      const command = ['upload', path, '--template', '{id}\\n', '--journal', `${size}.journal`];
      const {stderr, exitCode} = await machine.run(command, slowTest);
      return {exitCode, mebibytes: Math.round(memoryIn(stderr) / 2 ** 20)};
    };
    const small = await measure(gibibyte / 16);
    const large = await measure(5 * gibibyte);
    const sent = sink.requests.map(({bodyBytes}) => bodyBytes).join(', ');
    const broken: string[] = [];
    if (small.exitCode !== 0 || large.exitCode !== 0) broken.push(`exit status ${large.exitCode}`);
    if (sent !== `${gibibyte / 16}, ${5 * gibibyte}`) broken.push(`sent ${sent} bytes`);
    if (!(large.mebibytes > 10 && large.mebibytes < Math.min(150, small.mebibytes + 32)))
      broken.push(`${large.mebibytes} MiB, and ${small.mebibytes} MiB for a small file`);
    return {tried: 1, held: broken.length === 0 ? 1 : 0, broken, note: `${large.mebibytes} MiB of memory`};
  },
  inject('scale') === 'long' ? undefined : 'only in the long form',
);

experiment(
  'output on a full disk: the sentence that all uploads succeeded, only where it is true',
  async ({scale, random}) => {
    const server = await KeepingServer.start();
    const machine = await sandboxFor(server.url);
    const formats = ['--json', '--ndjson', '--format=markdown', '--format=table', '--template={url}'];
    const broken: string[] = [];
    const tried = scale === 'long' ? 60 : 6;
    for (let trial = 0; trial < tried; trial += 1) {
      const files = await makeFiles(join(machine.directory, String(trial)), 1 + Math.floor(3 * random()));
      const names = [...files.keys()].map(name => join(String(trial), name));
      const options = [formats[trial % formats.length] ?? '', ...(random() < 0.3 ? ['--dry-run'] : [])];
      if (random() < 0.5) names.push(join(String(trial), 'missing.png'));
      const before = server.stored.length;
      const script = 'exec "$0" "$@" >/dev/full';
      const parameters = ['-c', script, ...mediaCommand, 'upload', ...options, ...names];
      const {exitCode, stderr} = await execa('sh', parameters, {
        cwd: machine.directory,
        env: machine.env,
        extendEnv: false,
        reject: false,
      });
      const isTrue = server.stored.length - before === names.length;
      const isRight = stderr.includes('uploads themselves succeeded') === isTrue && exitCode !== 7;
      if (!isRight) broken.push(`${options.join(' ')} ${names.join(' ')}: ${exitCode}, ${stderr}`);
    }
    await server.close();
    return {tried, held: tried - broken.length, broken};
  },
  process.platform === 'linux' ? undefined : 'no /dev/full',
);
