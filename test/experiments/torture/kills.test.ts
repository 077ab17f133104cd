import {type ChildProcess, spawn} from 'node:child_process';
import {createHash} from 'node:crypto';
import {once} from 'node:events';
import {mkdir, readdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {png} from '../../embedded/support.ts';
import {sandboxFor} from '../../engine/service/program.ts';
import {startEmbeddedService} from '../../support/embedded-service.ts';
import {experiment} from '../../support/experiment/experiment.ts';
import {pauseBriefly} from '../../support/experiment/fault-proxy.ts';
import {KeepingServer, type Stored} from '../../support/experiment/keeping-server.ts';
import {concurrently} from '../../support/experiment/tally.ts';
import {sha256Of, uniqueBytes} from '../../support/experiment/verdicts.ts';
import {hostIn, openJournal, pathKey} from '../../support/journal.ts';
import {program, Sandbox, temporaryDirectory} from '../../support/media.ts';
import {seededRandom} from '../../support/seeded.ts';

const concurrency = 4;

/** What the program printed of one file, as `--ndjson` has it. */
interface Line {
  file: string;
  status: 'uploaded' | 'skipped' | 'failed' | 'unknown';
  record?: {id: string};
}

/** Files to upload, with the hash of each. */
async function makeFiles(
  directory: string,
  count: number,
  random: () => number,
): Promise<Map<string, string>> {
  await mkdir(directory);
  const files = new Map<string, string>();
  for (let index = 0; index < count; index += 1) {
    const bytes = uniqueBytes(Math.floor(random() < 0.6 ? 5_000 * random() : 600_000 * random()));
    await writeFile(join(directory, `${index}.png`), bytes);
    files.set(`${index}.png`, sha256Of(bytes));
  }
  return files;
}

/** Holds what a run printed against the store; a sentence for everything that is wrong. */
function compareLines(
  stdout: string,
  files: ReadonlyMap<string, string>,
  stored: readonly Stored[],
): {broken: string[]; unknown: string[]} {
  const broken: string[] = [];
  const unknown: string[] = [];
  const lines = stdout
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Line);
  if (lines.length !== files.size) broken.push(`${lines.length} lines for ${files.size} files`);
  for (const [name, sha256] of files) {
    const there = stored.filter(each => each.sha256 === sha256);
    const line = lines.find(({file}) => file.endsWith(`/${name}`));
    const what = `${name}: ${line?.status ?? 'not shown'}, stored ${there.length} times`;
    if (there.length > 1) broken.push(what);
    if (line?.status === 'unknown') unknown.push(name);
    else if (line?.status !== 'uploaded' && line?.status !== 'skipped') broken.push(what);
    else if (there.length === 0 || there[0]?.id !== line.record?.id)
      broken.push(`${what}, shown as ${line.record?.id}`);
  }
  return {broken, unknown};
}

/** Kills one batch again and again until it comes to its end, then settles what is unknown and finishes it. */
async function killClient(random: () => number, honoursKeys: boolean, most: number) {
  let moments = 0;
  let fatal: (() => void) | undefined;
  const server = await KeepingServer.start({
    honoursKeys,
    at: () => {
      moments -= 1;
      if (moments <= 0) fatal?.();
    },
  });
  const machine = await sandboxFor(server.url);
  const files = await makeFiles(join(machine.directory, 'files'), 20, random);
  const journal = join(machine.directory, 'batch.journal');
  const command = ['upload', '-r', 'files', '--journal', journal, '--ndjson', '-c', String(concurrency)];
  if (honoursKeys) command.push('--on-unknown', 'retry');
  const broken: string[] = [];
  let kills = 0;
  let unknownBefore = 0;
  for (;;) {
    const child = machine.start(command);
    moments = 1 + Math.floor(random() * 12);
    fatal = () => {
      fatal = undefined;
      void pauseBriefly(random() * 8).then(() => child.kill('SIGKILL'));
    };
    if (kills >= most) fatal = undefined;
    const {signal, stdout, stderr, exitCode} = await child;
    fatal = undefined;
    await server.idle();
    const unknownNow = (await unknownIn(journal, machine, files)).length;
    if (!honoursKeys && unknownNow - unknownBefore > concurrency)
      broken.push(`${unknownNow - unknownBefore} files unknown after a kill with ${concurrency} in flight`);
    unknownBefore = unknownNow;
    if (signal === 'SIGKILL') {
      kills += 1;
      continue;
    }
    const compared = compareLines(stdout, files, server.stored);
    broken.push(...compared.broken);
    const expected = compared.unknown.length === 0 ? 0 : 5;
    if (exitCode !== expected) broken.push(`exit status ${exitCode}, ${stderr}`);
    if (honoursKeys && compared.unknown.length > 0) broken.push('unknown although keys are honoured');
    await settle(journal, machine, files, server);
    const last = await machine.run(command);
    broken.push(...compareLines(last.stdout, files, server.stored).broken);
    if (last.exitCode !== 0) broken.push(`exit status ${last.exitCode} when all was settled, ${last.stderr}`);
    const stored = (await server.close()).length;
    if (stored !== files.size) broken.push(`${stored} records of ${files.size} files`);
    return {kills, broken, unknown: compared.unknown.length, files: files.size};
  }
}

async function unknownIn(
  path: string,
  machine: Sandbox,
  files: ReadonlyMap<string, string>,
): Promise<string[]> {
  // Killed before it had made one.
  if ((await readFile(path).catch(() => undefined)) === undefined) return [];
  const journal = await openJournal(path, hostIn(machine.directory));
  try {
    return [...files.keys()].filter(name => journal.reader.entriesOf(pathKey(name), 'unknown').length > 0);
  } finally {
    await journal.close();
  }
}

/** Does what a person would: looks into the store, and tells the journal. */
async function settle(
  path: string,
  machine: Sandbox,
  files: ReadonlyMap<string, string>,
  server: KeepingServer,
) {
  const journal = await openJournal(path, hostIn(machine.directory));
  for (const [name, sha256] of files) {
    for (const entry of journal.reader.entriesOf(pathKey(name), 'unknown')) {
      const found = server.stored.find(each => each.sha256 === sha256);
      await journal.settle(entry, found && {id: found.id});
    }
  }
  await journal.close();
}

for (const honoursKeys of [false, true]) {
  const keys = honoursKeys ? 'a service that honours keys' : 'a service without keys';
  experiment(`kill -9 of the client, ${keys}`, async ({scale, random}) => {
    const wanted = scale === 'long' ? 101 : 5;
    let kills = 0;
    let unknown = 0;
    let files = 0;
    const broken: string[] = [];
    let held = 0;
    await concurrently([1, 2], 2, async () => {
      while (kills < wanted) {
        const batch = await killClient(seededRandom(random() * 2 ** 31), honoursKeys, wanted - kills);
        kills += batch.kills;
        unknown += batch.unknown;
        files += batch.files;
        broken.push(...batch.broken);
        if (batch.broken.length === 0) held += batch.kills;
      }
    });
    return {tried: kills, held, broken, note: `${files} files, ${unknown} unknown after the kills`};
  });
}

/** Kills the process that it is loaded into: so many requests from its start, and a moment later. */
function doom(requests: number, delayMs: number): string {
  return `--import=data:text/javascript,${encodeURIComponent(`
    import {subscribe} from 'node:diagnostics_channel';
    let left = ${requests};
    subscribe('http.server.request.start', () => {
      left -= 1;
      if (left === 0) setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${delayMs});
    });
  `)}`;
}

experiment(
  'kill -9 of the embedded service: store, thumbnails and records agree',
  async ({scale, random}) => {
    const wanted = scale === 'long' ? 200 : 4;
    let kills = 0;
    let held = 0;
    const broken: string[] = [];
    await concurrently([1, 2], 2, async () => {
      while (kills < wanted) {
        const batch = await killService(seededRandom(random() * 2 ** 31), wanted - kills);
        kills += batch.kills;
        broken.push(...batch.broken);
        if (batch.broken.length === 0) held += batch.kills;
      }
    });
    return {tried: kills, held, broken};
  },
);

/** Kills a service under one batch, at most so many times. */
async function killService(random: () => number, most: number) {
  const dataDirectory = await temporaryDirectory();
  const first = await startEmbeddedService({dataDirectory});
  const key = await first.createKey();
  const {url} = first;
  await first.close();
  const machine = new Sandbox(await temporaryDirectory(), {MEDIA_BASE_URL: url, MEDIA_API_KEY: key});
  const files = await makeFiles(join(machine.directory, 'files'), 20, random);
  for (let index = 0; index < 10; index += 1) {
    // Thumbnails are made of these.
    const bytes = png(100 + index, 1 + Math.floor(random() * 1000));
    await writeFile(join(machine.directory, 'files', `image-${index}.png`), bytes);
    files.set(`image-${index}.png`, sha256Of(bytes));
  }
  let kills = 0;
  let over = false;
  let running: ChildProcess | undefined;
  const serve = () => {
    // In the end one that is left alone.
    const requests = kills < most ? 1 + Math.floor(random() * 8) : 0;
    const command = ['serve', '--port', new URL(url).port, '--data-dir', dataDirectory];
    running = spawn(process.execPath, [program, ...command], {
      stdio: 'ignore',
      env: {...machine.env, NODE_OPTIONS: doom(requests, random() * 40)},
    });
    running.on('exit', () => {
      if (over) return;
      kills += 1;
      serve();
    });
  };
  serve();
  const command = [
    'upload',
    '-r',
    'files',
    '--journal',
    'batch.journal',
    '--ndjson',
    '-c',
    String(concurrency),
    '--retries',
    '8',
    '--on-unknown',
    'retry',
  ];
  let result = await machine.run(command);
  for (let runs = 1; result.exitCode !== 0 && runs < 20; runs += 1) result = await machine.run(command);
  over = true;
  running?.kill('SIGKILL');
  if (running?.exitCode === null && running.signalCode === null) await once(running, 'exit');
  const after = await startEmbeddedService({dataDirectory, exclusive: true});
  const stored = (await after.records()).map(({record, sha256, path}) => ({
    id: record.id ?? '',
    sha256,
    path,
  }));
  await after.close();
  const {broken} = compareLines(result.stdout, files, stored);
  if (result.exitCode !== 0) broken.push(`exit status ${result.exitCode}: ${result.stderr}`);
  if (stored.length !== files.size) broken.push(`${stored.length} records of ${files.size} files`);
  for (const {id, sha256, path} of stored) {
    const kept = createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
    if (kept !== sha256) broken.push(`the bytes of ${id} are not those of its record`);
  }
  broken.push(...(await disagreements(dataDirectory)));
  return {kills, broken};
}

/** A sentence for each file, thumbnail or stream without a record, each that a record promises, and each temporary file. */
async function disagreements(dataDirectory: string): Promise<string[]> {
  const namesIn = (folder: string) => readdir(join(dataDirectory, folder)).catch(() => []);
  const records = new Map<string, StoredFields>();
  for (const name of await namesIn('records')) {
    const text = await readFile(join(dataDirectory, 'records', name), 'utf8');
    records.set(name.replace('.json', ''), JSON.parse(text) as StoredFields);
  }
  const wrong = (await namesIn('temporary')).map(name => `temporary/${name} is left`);
  for (const [folder, isPromised] of [
    ['files', () => true],
    ['thumbnails', ({thumbnail}: StoredFields) => thumbnail === true],
    ['streams', ({stream}: StoredFields) => stream === true],
  ] as const) {
    const there = new Set((await namesIn(folder)).map(name => name.replace('.webp', '')));
    for (const id of there)
      if (!records.has(id)) wrong.push(`${folder} has ${id}, of which there is no record`);
    for (const [id, record] of records)
      if (isPromised(record) && !there.has(id))
        wrong.push(`${folder} lacks ${id}, which its record promises`);
  }
  return wrong;
}

interface StoredFields {
  thumbnail?: true;
  stream?: true;
}
