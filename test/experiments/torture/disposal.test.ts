import {appendFile, mkdir, open, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {sandboxFor} from '../../engine/service/program.ts';
import {eventually} from '../../support/eventually.ts';
import {type Findings, onlyLong, type Trial, waitingExperiment} from '../../support/experiment/experiment.ts';
import {pause} from '../../support/experiment/fault-proxy.ts';
import {concurrently} from '../../support/experiment/tally.ts';
import {fixture, type Sandbox} from '../../support/media.ts';
import {RecordStore, type StoreAnswer} from '../../support/record-store.ts';
import {Watching} from '../../support/watching.ts';
import {filesIn, findingsOf} from './watched.ts';

const picture = await readFile(fixture('photo.png'));

/** Tries the same with both disposals at once. */
async function both(run: (disposal: string[]) => Promise<Findings>): Promise<Findings> {
  const found = await Promise.all([['--delete'], ['--move-to', 'done']].map(run));
  const wrong = found.flatMap(({broken = []}) => broken);
  const tried = found.reduce((sum, each) => sum + each.tried, 0);
  return findingsOf(wrong, tried, found.map(({note}) => note).join('; '));
}

interface Machine {
  box: Sandbox;
  store: RecordStore;
  directory: string;
}

async function machine(): Promise<Machine> {
  const store = await RecordStore.start();
  const box = await sandboxFor(store.url);
  const directory = join(box.directory, 'in');
  await mkdir(directory);
  return {box, store, directory};
}

/** A picture of a size of its own. */
function pictureOf(size: number): Buffer {
  return Buffer.concat([picture, Buffer.alloc(size, `${size} `)]);
}

/** What a record may say that is not so. */
const recordLies: StoreAnswer[] = [
  {record: {size: 0}},
  {record: {size: 1993}},
  {record: {size: -1}},
  {record: {width: 1, height: 1}},
  {record: {width: 400, height: 641}},
  {record: {type: 'VIDEO'}},
];

/** What may be answered of a file that was uploaded before, other than that it is there. */
const headLies: StoreAnswer[] = [
  {head: {status: 404}},
  {head: {status: 403}},
  {head: {status: 204}},
  {head: {status: 301, headers: {location: '/files/0?v=1'}}},
  {head: {headers: {'content-length': '1'}}},
  {head: {headers: {'transfer-encoding': 'chunked'}}},
  {record: {fileUrl: 'http://127.0.0.2:1/x'}},
  {record: {fileUrl: undefined}},
];

/** Files whose records or URLs say at random what is so, and what is not. */
async function lies({scale, random}: Trial, disposal: string[], isFromMemory: boolean): Promise<Findings> {
  const {box, store, directory} = await machine();
  const wrongAnswers = isFromMemory ? headLies : recordLies;
  const count = scale === 'long' ? 1_000 : 40;
  const mustStay = new Set<string>();
  await concurrently(Array(count).keys(), 20, async at => {
    const bytes = pictureOf(1 + at);
    const lie = wrongAnswers[Math.floor(2 * random() * wrongAnswers.length)];
    store.answers.set(bytes.length, lie ?? {record: {width: 640, height: 400}});
    if (lie !== undefined) mustStay.add(`${at}.png`);
    await writeFile(join(directory, `${at}.png`), bytes);
  });
  if (isFromMemory) await box.run(['upload', '--once', '-r', 'in']);
  const watching = new Watching(box, ['in', '--ndjson', ...disposal]);
  const kept = () => watching.lines().filter(({event}) => event === 'kept');
  await eventually(
    async () => (await filesIn(directory)).length <= mustStay.size && kept().length >= mustStay.size,
  );
  const left = await filesIn(directory);
  const wrong = [...mustStay].filter(name => !left.includes(name)).map(name => `${name}: gone`);
  if (kept().length !== mustStay.size) wrong.push(`${kept().length} kept of ${mustStay.size}`);
  return findingsOf(wrong, count, `${mustStay.size} had to stay`);
}

for (const [isFromMemory, what] of [
  [false, 'records that differ from the files'],
  [true, 'records of earlier runs, whose files are gone or changed at the service'],
] as const)
  waitingExperiment(`media watch --delete and --move-to, ${what}: these files stay, the others go`, trial =>
    both(disposal => lies(trial, disposal, isFromMemory)),
  );

/** Programs that write files with long pauses: with the file open all the time, or opening it again, then after less than 10 s. */
async function pausingWriters({scale, random}: Trial, disposal: string[]): Promise<Findings> {
  const {box, store, directory} = await machine();
  const count = scale === 'long' ? 100 : 12;
  const watching = new Watching(box, ['in', '--ndjson', ...disposal]);
  await watching.line({event: 'watching'});
  const whole = await Promise.all(
    Array.from({length: count}, async (_, at) => {
      const path = join(directory, `${at}.png`);
      const parts = Array.from({length: 2}, (_, part) => Buffer.alloc(50_000, `${at} ${part} `));
      const isHeld = random() < 0.5;
      const pauses = parts.map(() => (isHeld ? 13_000 : 5_000) * random());
      const handle = await open(path, 'a');
      await handle.write(picture);
      if (!isHeld) await handle.close();
      for (const [number, part] of parts.entries()) {
        await pause(pauses[number] ?? 0);
        await (isHeld ? handle.write(part) : appendFile(path, part));
      }
      if (isHeld) await handle.close();
      return Buffer.concat([picture, ...parts]);
    }),
  );
  await eventually(async () => (await filesIn(directory)).length === 0);
  const wrong = whole.flatMap((bytes, at) => {
    const times = store.bodies.filter(body => body.equals(bytes)).length;
    return times === 1 ? [] : [`${at}.png: stored whole ${times} times`];
  });
  const done = join(box.directory, 'done');
  for (const name of await filesIn(done)) {
    const bytes = await readFile(join(done, name));
    if (!whole.some(content => content.equals(bytes))) wrong.push(`${name}: moved before it was whole`);
  }
  return findingsOf(wrong, count, `${store.bodies.length - count} uploads of unfinished files`);
}

waitingExperiment(
  'media watch --delete and --move-to, writers that pause, for up to 13 s with the file open and up to 5 s without: each file stored whole, none lost',
  trial => both(disposal => pausingWriters(trial, disposal)),
  onlyLong() ?? (process.platform === 'linux' ? undefined : 'only Linux shows who writes to a file'),
);
