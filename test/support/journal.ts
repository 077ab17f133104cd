import {createHash} from 'node:crypto';
import {constants} from 'node:fs';
import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';
import {
  type InputVariant,
  type Journal,
  type JournalOptions,
  openJournal,
  type Scope,
} from '../../src/engine/journal/journal.ts';
import type {JournalHandle} from '../../src/engine/journal/journal-file.ts';
import {type Host, systemHost} from '../../src/host.ts';
import type {Hashable} from '../../src/lib/files/content-hash.ts';
import {type FileSystem, systemFiles} from '../../src/lib/files/file-system.ts';
import {pollMs, staleMs} from '../../src/lib/files/lock.ts';
import {afterTest} from './after-test.ts';
import {temporaryDirectory} from './media.ts';

export {
  type Journal,
  type JournalOptions,
  openJournal,
  pathFields,
  pathKey,
  readJournal,
  readJournals,
  readLookup,
  type Scope,
  writeMergedJournal,
} from '../../src/engine/journal/journal.ts';
// The format of the file: tests write journals as a crash or another program leaves them.
export {type JournalHandle, openJournalFile, type ReadHandle} from '../../src/engine/journal/journal-file.ts';
export {
  formatHeader,
  formatTransition,
  formatWriterLine,
  parseLine,
  recordIn,
  type Transition,
} from '../../src/engine/journal/line.ts';

export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** A host with this working directory. */
export function hostIn(directory: string, changes: Partial<Host> = {}): Host {
  return {...systemHost(), cwd: () => directory, ...changes};
}

/** The same host, on whose clock 90 s pass while it waits for a holder that it cannot judge. */
export function afterSilence(host: Host): Host {
  const {clock} = host;
  let aheadMs = 0;
  const sleep: Host['clock']['sleep'] = async (ms, signal) => {
    if (ms !== pollMs) return clock.sleep(ms, signal);
    aheadMs += staleMs;
  };
  return {...host, clock: {...clock, monotonic: () => clock.monotonic() + aheadMs, sleep}};
}

/** Wraps an open journal; tests count its calls or make them fail. */
export type Wrap = (handle: JournalHandle) => JournalHandle;

/** A file system on which writes to a journal are not durable by themselves, so that each sync is a call of its own. */
export function wrappedJournals(wrap: Wrap): FileSystem {
  const open = async (...[path, flags, mode]: Parameters<FileSystem['open']>) => {
    if (typeof flags !== 'number') return systemFiles.open(path, flags, mode);
    return wrap(await systemFiles.open(path, flags & ~constants.O_DSYNC, mode));
  };
  const statfs = () => Promise.reject(new Error('not known'));
  return {...systemFiles, open, statfs} as FileSystem;
}

/** The same open file with some methods replaced. */
export function changedHandle(handle: JournalHandle, changes: Partial<JournalHandle>): JournalHandle {
  return {
    fd: handle.fd,
    read: (...parameters) => handle.read(...parameters),
    write: (...parameters) => handle.write(...parameters),
    stat: () => handle.stat(),
    datasync: () => handle.datasync(),
    close: () => handle.close(),
    ...changes,
  };
}

/** The service that the journals of tests belong to. */
export const scope: Scope = {service: 'https://media.example'};

/** The first line of such a journal. */
export const header = '{"journal":"media","version":2,"service":"https://media.example"}';

export interface BenchOptions extends JournalOptions {
  wrap?: Wrap;
}

/** A journal in its own directory. */
export class Bench {
  readonly directory: string;
  readonly host: Host;
  readonly path: string;

  constructor(directory: string) {
    this.directory = directory;
    this.host = hostIn(directory);
    this.path = join(directory, 'uploads.ndjson');
  }

  async open({wrap, ...options}: BenchOptions = {}, path = this.path): Promise<Journal> {
    const journal = await openJournal(path, this.#host(wrap), {scope, paths: true, ...options});
    afterTest(() => journal.close().catch(() => {}));
    return journal;
  }

  /** Opens the journal as a run does, calls the action, and closes it. */
  async run<T>(
    action: (journal: Journal) => Promise<T>,
    path = this.path,
    {wrap, ...options}: BenchOptions = {},
  ): Promise<T> {
    const journal = await openJournal(path, this.#host(wrap), {scope, paths: true, ...options});
    return action(journal).finally(() => journal.close());
  }

  #host(wrap: Wrap | undefined): Host {
    return wrap === undefined ? this.host : {...this.host, files: wrappedJournals(wrap)};
  }

  text(path = this.path): Promise<string> {
    return readFile(path, 'utf8');
  }

  /** The lines of the journal about uploads. */
  async lines(path = this.path): Promise<Record<string, unknown>[]> {
    const lines = (await this.text(path)).split('\n').slice(1, -1);
    const all = lines.map(line => JSON.parse(line) as Record<string, unknown>);
    return all.filter(({event}) => !['open', 'release', 'alive', 'close'].includes(String(event)));
  }

  write(bytes: string | Uint8Array, path = this.path): Promise<void> {
    return writeFile(path, bytes);
  }
}

export async function bench(): Promise<Bench> {
  return new Bench(await temporaryDirectory());
}

/** Options without syncing to disk, for tests that open journals by the thousand. */
export const withoutSync: BenchOptions = {wrap: handle => changedHandle(handle, {datasync: async () => {}})};

export type TestInput = InputVariant & {content: string};

/** An input with this content, as a file that has not changed since. */
export function inputOf(
  path: string | Uint8Array,
  content = `content of ${path}`,
  mtimeNs = 1_700_000_000_123_456_789n,
): TestInput {
  const stat = {mtimeNs, ctimeNs: mtimeNs, dev: 1n, ino: 2n};
  const size = Buffer.byteLength(content);
  return {path, size, stat, typeRule: 'extension', contentType: 'image/png', content};
}

/** The content of an input, for hashing. */
export function sourceOf({content}: TestInput): Hashable {
  const bytes = Buffer.from(content);
  return {
    size: bytes.length,
    read: async (position, length) => bytes.subarray(position, position + length),
    small: async () => ({bytes, verify: () => {}}),
  };
}

/** The same for a large file, which is read only as far as requested. */
export function largeSourceOf(input: TestInput): Hashable {
  const {size, read} = sourceOf(input);
  return {size, read};
}

/** Content that must not be read. */
export const unread: Hashable = {
  size: 0,
  read: () => Promise.reject(new Error('the content was asked for')),
};

/** Every unknown upload may be sent again. */
const always = {resendSince: Number.NEGATIVE_INFINITY};

/** Begins an upload that the journal does not contain yet. */
export async function begin(journal: Journal, input: TestInput, source = sourceOf(input)) {
  const admission = await journal.beginUpload(input, source, always);
  if (admission.status !== 'new') throw new Error(`${input.path} is ${admission.status}`);
  return admission.log;
}

/** Takes an input through an upload up to a given step; resolves to its idempotency key. */
export async function upload(
  journal: Journal,
  input: TestInput,
  end: 'intent' | 'commit' | 'done' | 'failed',
  id = 'med_1',
): Promise<string> {
  const entry = await begin(journal, input);
  if (end === 'commit' || end === 'done') await entry.commit(sha256(input.content));
  if (end === 'done') await entry.recordStored(JSON.stringify({id}));
  if (end === 'failed') await entry.recordFailure({code: 'rejected', message: 'the service refused it'});
  entry.end();
  return entry.idempotencyKey;
}

/** What the journal says about an input; an upload that is begun by this goes no further. */
export async function lookup(journal: Journal, input: TestInput, mayResend = false) {
  const options = mayResend ? always : undefined;
  const recalled = await journal.lookUpUnchanged(input, options?.resendSince);
  const found = recalled ?? (await journal.beginUpload(input, sourceOf(input), options));
  if (found.status !== 'new') return found;
  found.log.end();
  return {status: found.status};
}

/** The modules that journals need, compiled to JavaScript for separate processes; resolves to their directory. */
export async function compiledModules(): Promise<string> {
  const source = fileURLToPath(new URL('../../src', import.meta.url));
  const target = await temporaryDirectory();
  await writeFile(join(target, 'package.json'), '{"type":"module"}');
  await build({
    entryPoints: [join(source, 'host.ts'), join(source, 'engine/journal/open.ts')],
    outbase: source,
    outdir: target,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
  return target;
}
