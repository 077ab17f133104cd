import {mkdir, readdir, readFile, utimes, writeFile} from 'node:fs/promises';
import {basename, join, relative} from 'node:path';
import {type Clock, type Host, systemClock, systemHost} from '../../../src/host.ts';
import {replaceContent} from '../../../src/lib/files/durable.ts';
import {type FileSystem, systemFiles} from '../../../src/lib/files/file-system.ts';
import {
  inputOf,
  openJournal,
  readJournals,
  scope,
  upload,
  writeMergedJournal,
} from '../../support/journal.ts';
import {temporaryDirectory} from '../../support/media.ts';
import {type Image, Recorder} from './recorder.ts';
import type {CrashState} from './states.ts';
import type {Story} from './story.ts';

/** A story that is told in a directory of this machine. */
interface DirectoryStory {
  name: string;
  prepare(host: Host): Promise<void>;
  /** Calls `tell` with what is told as done. */
  act(host: Host, tell: (what: string) => void): Promise<void>;
  /** Resolves to what is broken, if `told` was told before the power cut. */
  check(host: Host, told: readonly string[]): Promise<string[]>;
}

/** A clock on which waiting takes no time. */
function hurried(): Clock {
  let now = 0;
  return {
    ...systemClock,
    monotonic: () => now,
    async sleep(ms) {
      now += ms;
    },
  };
}

/** A host in this directory, on a machine that was started so often. */
function hostOf(directory: string, boot: number, files: FileSystem = systemFiles): Host {
  const system = systemHost();
  return {
    ...system,
    ...{files, cwd: () => directory},
    ...{clock: hurried(), bootId: () => `boot ${boot}`},
  };
}

async function imageOf(directory: string): Promise<Image> {
  const directories = new Set<string>();
  for (let path = directory; !directories.has(path); path = join(path, '..')) directories.add(path);
  const names = new Map<string, number>();
  const contents = new Map<number, Buffer>();
  for (const entry of await readdir(directory, {withFileTypes: true, recursive: true})) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) directories.add(path);
    else {
      names.set(path, names.size + 1);
      contents.set(names.size, await readFile(path));
    }
  }
  return {directories, names, contents};
}

async function restored(state: CrashState, from: string): Promise<string> {
  const directory = await temporaryDirectory();
  const there = (path: string) => join(directory, relative(from, path));
  const below = [...state.directories].filter(path => path.startsWith(`${from}/`)).sort();
  for (const path of below) await mkdir(there(path), {mode: 0o700});
  for (const [path, file] of state.names) {
    await writeFile(there(path), state.contents.get(file) ?? '', {mode: 0o600});
    // Two minutes later: whose lock it was is not waited for any more.
    const time = Date.now() / 1000 - 120;
    await utimes(there(path), time, time);
  }
  return directory;
}

function inDirectory(story: DirectoryStory): Story {
  let from = '';
  return {
    name: story.name,
    async record() {
      from = await temporaryDirectory();
      await story.prepare(hostOf(from, 1));
      const start = await imageOf(from);
      const recorder = new Recorder(systemFiles, start, true);
      await story.act(hostOf(from, 1, recorder.files), what => recorder.event(what));
      return {start, changes: recorder.changes};
    },
    async check(state) {
      return story.check(hostOf(await restored(state, from), 2), state.events);
    },
  };
}

/** What `action` rejects with, as a list. */
async function failureOf(what: string, action: () => Promise<unknown>): Promise<string[]> {
  return action().then(
    () => [],
    error => [`${what}: ${error}`],
  );
}

const before = Buffer.from(`![a](a.png)\n${'text '.repeat(300)}\n`);
const after = Buffer.from(`![a](https://media.example/a.png)\n${'text '.repeat(300)}\n`);

const rewrite = inDirectory({
  name: '`media rewrite` with `--write`',
  prepare: host => writeFile(join(host.cwd(), 'a.md'), before),
  async act(host, tell) {
    await replaceContent(join(host.cwd(), 'a.md'), before, after, host);
    tell('written');
  },
  async check(host, told) {
    const path = join(host.cwd(), 'a.md');
    const there = await readFile(path).catch(() => Buffer.from('nothing'));
    if (![after, ...(told.length === 0 ? [before] : [])].some(one => one.equals(there)))
      return [`the document is ${there.length} bytes: ${there.subarray(0, 40)}`];
    return failureOf('not writable', () => replaceContent(path, there, after, host));
  },
});

const inputs = ['one', 'two'];

async function merge(host: Host): Promise<void> {
  const readers = await readJournals(inputs, host);
  await writeMergedJournal('merged', readers, host);
}

async function storedIn(host: Host, path: string): Promise<string[]> {
  const readers = await readJournals([path], host);
  const ids: string[] = [];
  for (const reader of readers)
    for await (const batch of reader.lines())
      for (const {text} of batch) ids.push(...[...text.matchAll(/"id":"(\w+)"/g)].map(([, id]) => `${id}`));
  return ids.sort();
}

async function uploaded(host: Host, path: string, input: string): Promise<void> {
  const journal = await openJournal(path, host, {scope, paths: true});
  await upload(journal, inputOf(`${input}.png`), 'done');
  await journal.close();
}

const merging = inDirectory({
  name: '`media journal merge`, over an older one',
  async prepare(host) {
    for (const path of inputs) await uploaded(host, path, path);
    await writeMergedJournal('merged', await readJournals(['one'], host), host);
  },
  async act(host, tell) {
    await merge(host);
    tell('merged');
  },
  async check(host, told) {
    const whole = (await Promise.all(inputs.map(path => storedIn(host, path)))).flat();
    const failures = await failureOf('not readable', () => storedIn(host, 'merged'));
    if (failures.length > 0) return failures;
    const there = await storedIn(host, 'merged');
    const isWhole = there.join() === whole.sort().join();
    if (!isWhole && (told.length > 0 || there.length !== 1)) return [`merged has ${there.join()}`];
    return failureOf(`not to be merged again (${basename(host.cwd())})`, () => merge(host));
  },
});

export const directoryStories: readonly Story[] = [rewrite, merging];
