import {basename, dirname, isAbsolute, join, relative, resolve, sep} from 'node:path';
import {MediaError, throwAs} from '../../errors.ts';
import {fact, type Hint, hint, type Message, option, phrase} from '../../hint.ts';
import type {Host} from '../../host.ts';
import {syncDirectory} from '../../lib/files/durable.ts';
import type {User} from '../../lib/files/ownership.ts';
import {isWithin, toText} from '../../lib/files/typed-path.ts';
import {type Loose, memoize, omitUndefined} from '../../lib/object.ts';
import {isMissing} from '../../lib/system-code.ts';
import {
  type Content,
  contentKey,
  type IndexRow,
  type InputVariant,
  type Journal,
  type JournalLookup,
  type JournalManifest,
  type JournalOptions,
  type JournalReader,
  openJournal,
  type PriorUpload,
  pathKey,
  readJournal,
  readLookup,
  type Scope,
  type Seed,
  seedWriter,
  type UploadLine,
} from '../journal/journal.ts';
import {publicUrl, type ReceivedRecord} from '../service/record.ts';
import type {InputRequest} from '../sources/find/expand.ts';
import type {FileStat, OpenSource, Source} from '../sources/open/source.ts';
import {
  addUnknown,
  fileKeyOf,
  type Manifest,
  type ManifestEntry,
  type UnknownEntry,
} from './manifest-file.ts';
import {hashesIn, isManifest, manifestPath, readManifest, writeManifest} from './manifest-store.ts';

export interface ManifestOptions {
  /** The service of the run, for a new manifest. */
  service?: string | undefined;
  /** The error for a file that is to be sent, if the run cannot send any. */
  unsendable?: MediaError | undefined;
  /** Whether a file fails with `manifest_outdated` unless the manifest knows it as it is. */
  check?: boolean | undefined;
  /** Among these inputs, the entries of files that are gone are removed. */
  prunes?: Partial<InputRequest> | undefined;
  /** Whether the run has a part of the inputs: its manifest is written even if it has no entry. */
  isPart?: boolean | undefined;
  /** Receives a sentence for the user. */
  note?: ((text: string) => void) | undefined;
}

/** The manifest of a run: it is the beginning of the run's journal, and is written from that journal at the end. */
export class RunManifest implements JournalManifest {
  readonly displayPath: string;
  /** The journal beside the file itself. */
  readonly journalPath: string;
  /** What the run has changed, as a phrase; undefined before the manifest is written. */
  change: string | undefined;
  readonly #host: Host;
  readonly #options: ManifestOptions;
  /** The directory of the file itself, as the user names it, if that leads there. */
  readonly #directory: string;
  readonly #realDirectory: string;
  /** The manifest as it was read; its `text` is empty if there was none. */
  #manifest: Manifest;
  /** The entries as they are to be written. */
  #files = new Map<string, ManifestEntry>();
  #unknown = new Map<string, UnknownEntry>();
  /** The stored content of each file, beside that of the journal. */
  readonly #sightings: StoredFile[] = [];
  /** All keys, by what they are without case and Unicode form. */
  readonly #spellings = new Map<string, string[]>();
  #mayPrune = false;
  /** The keys of sources that are not files. */
  readonly #streams = new Set<string>();

  private constructor(
    displayPath: string,
    place: {path: string; directory: string},
    host: Host,
    options: ManifestOptions,
  ) {
    this.displayPath = displayPath;
    // Messages show it, so it is as the user writes the manifest, unless that is a link.
    this.journalPath = `${resolve(host.cwd(), displayPath) === place.path ? displayPath : place.path}.journal`;
    this.#host = host;
    this.#options = options;
    this.#directory = place.directory;
    this.#realDirectory = dirname(place.path);
    this.#manifest = {service: options.service ?? '', files: new Map(), unknown: new Map(), text: ''};
  }

  /** `displayPath`: the path as the user wrote it. */
  static async at(displayPath: string, host: Host, options: ManifestOptions = {}): Promise<RunManifest> {
    const path = await manifestPath(displayPath, host);
    const named = dirname(resolve(host.cwd(), displayPath));
    const target = await host.files.realpath(named).catch(() => undefined);
    const directory = target === dirname(path) ? named : dirname(path);
    return new RunManifest(displayPath, {path, directory}, host, options);
  }

  /** Reads the manifest; resolves to what it knows. */
  async load(): Promise<Seed> {
    if (this.#options.prunes !== undefined)
      for (const directory of [this.#directory, this.#realDirectory])
        await refuseSparseCheckout(directory, this.#host);
    const manifest = await readManifest(this.displayPath, this.#host);
    if (manifest === undefined) return {lines: []};
    this.#manifest = manifest;
    this.#files = new Map(manifest.files);
    this.#unknown = new Map(manifest.unknown);
    for (const key of manifest.files.keys()) this.#addSpelling(key);
    return seedOf(manifest);
  }

  /** The key of a file, which is its path from the directory of the manifest, or the name of a stream. */
  async keyOf({name, nameBytes}: Source, {path, stat}: OpenSource): Promise<string> {
    const refuse = (message: Message, advice: Hint) => new MediaError('usage', message, {hint: advice});
    if (stat === undefined || path === undefined) {
      if (name === '-') throw refuse('Standard input has no name.', hint`Name it with ${option('name')}.`);
      this.#streams.add(name);
      return name;
    }
    if (nameBytes !== undefined || typeof path !== 'string')
      throw refuse(phrase`${fact('subject', name, 'was')} not sent: its name is not UTF-8.`, 'Rename it.');
    const below = join(await this.#placeOf(dirname(path)), basename(path));
    const subject = fact('subject', name, 'is');
    if (isAbsolute(below))
      throw refuse(
        phrase`${subject} not on the drive of ${this.displayPath}.`,
        'Use a manifest on its drive.',
      );
    return this.#spellingOf(below.split(sep).join('/'), stat);
  }

  /** The path of a directory from that of the manifest: as it is named, if that is right, and below if it can be. */
  readonly #placeOf = memoize(async (directory: string): Promise<string> => {
    const top = this.#directory;
    const named = resolve(directory);
    const asNamed = relative(top, named);
    if (named === directory && isWithin(named, top)) return asNamed;
    const realPath = (path: string) => this.#host.files.realpath(path).catch(() => path);
    const [real, realTop] = [await realPath(directory), this.#realDirectory];
    // After a link, `..` leads elsewhere.
    const isRight = (await realPath(named)) === real;
    return isRight && (isWithin(named, top) || !isWithin(real, realTop)) ? asNamed : relative(realTop, real);
  });

  /** The key that the file has under another spelling; else its path in NFC, unless that is another file. */
  async #spellingOf(path: string, {dev, ino}: FileStat): Promise<string> {
    const {files} = this.#host;
    const spellings = this.#spellings.get(fold(path)) ?? [];
    const isAt = async (key: string) => {
      const stats = await files.stat(join(this.#directory, key), {bigint: true}).catch(() => undefined);
      return stats && stats.dev === dev && stats.ino === ino;
    };
    if (spellings.includes(path)) return path;
    for (const key of spellings) if (await isAt(key)) return key;
    const composed = path.normalize('NFC');
    const key = (await isAt(composed)) === false ? path : composed;
    const others = spellings.filter(spelling => spelling !== key).join(', ');
    if (others !== '')
      this.#options.note?.(`${this.displayPath} has ${others} and ${key}: only the spelling differs.`);
    this.#addSpelling(key);
    return key;
  }

  #addSpelling(key: string): void {
    this.#spellings.set(fold(key), [...(this.#spellings.get(fold(key)) ?? []), key]);
  }

  /** Notes a file whose content is stored; throws for one that must not be sent. `sha256`: if its content was read. */
  found(
    {path, size, contentType, transform}: InputVariant,
    sha256: string | undefined,
    prior: PriorUpload | undefined,
  ) {
    const key = String(path);
    const content = {sha256: sha256 ?? '', size, contentType, transform};
    if (this.#options.check) this.#requireKnown(key, content, prior);
    if (prior === undefined && this.#options.unsendable !== undefined) throw this.#options.unsendable;
    if (prior?.status === 'done' && sha256 !== undefined)
      this.#sightings.push({key, content, entry: prior.entry});
  }

  /** For `--check`: throws `manifest_outdated` unless the manifest has this content under this key, sent like this. */
  #requireKnown(key: string, content: ContentVariant, prior: PriorUpload | undefined): void {
    const known = this.#manifest.files.get(key);
    if (prior?.status === 'done' && known !== undefined && variantText(known) === variantText(content))
      return;
    const how = known === undefined ? 'not in' : 'not as in';
    const isUnknown = prior?.status === 'unknown';
    const what = isUnknown ? 'unknown: it was sent, and may be stored' : `${how} ${this.displayPath}`;
    throw new MediaError('manifest_outdated', phrase`${fact('subject', key, 'is')} ${what}.`);
  }

  /**
   * Moves unknown content to the files, with this record; without one, forgets it. A file that has the content that is
   * stored under its key keeps that. `write` stores the change.
   */
  async settle(content: Content | undefined, record: ReceivedRecord['record'] | undefined): Promise<void> {
    const settled = [...this.#unknown].filter(([, {sha256, size}]) => contentKey(sha256, size) === content);
    const [vague] = settled.filter(([, {contentType}]) => record !== undefined && contentType === undefined);
    if (vague !== undefined)
      throw new MediaError(
        'journal_unusable',
        `${this.displayPath} does not say with which content type ${vague[0]} was sent.`,
        {hint: `Add it to the line of ${vague[0]}, as in: "contentType": "image/png"`},
      );
    const hashOf = hashesIn(this.#directory, this.#host.files);
    for (const [unknownKey, entry] of settled) {
      const {contentType} = entry;
      this.#unknown.delete(unknownKey);
      if (record === undefined || contentType === undefined) continue;
      const key = fileKeyOf(unknownKey, entry);
      const old = this.#files.get(key);
      if (old !== undefined && old.sha256 === (await hashOf(key))) continue;
      this.#list(key, {record, json: JSON.stringify(record)}, {...entry, contentType});
    }
  }

  /** Lists a file as stored. What others have added to its entry stays. */
  #list(key: string, received: ReceivedRecord, content: Omit<ManifestEntry, 'received'>): void {
    const {others} = this.#files.get(key) ?? {};
    const url = publicUrl(received.record);
    this.#files.set(key, {...omitUndefined({url, others}), ...content, received});
  }

  /** Removes stored content under all its keys. */
  forget(content: Content | undefined): void {
    for (const [key, {sha256, size}] of this.#files)
      if (contentKey(sha256, size) === content) this.#files.delete(key);
  }

  /** Writes what the run has changed. `isComplete`: the journal has no line that it lacks, so it is removed. */
  async write(reader: JournalReader, isComplete: boolean): Promise<void> {
    const [before, files, unknown] = [this.#manifest, this.#files, this.#unknown];
    const hashes = new Map<string, string>();
    for (const {key, content, entry} of [...(await uploadsIn(reader)), ...this.#sightings]) {
      const old = files.get(key);
      const isStream = this.#streams.has(key);
      const known = () => omitUndefined({...content, stdin: isStream || undefined});
      hashes.set(key, content.sha256);
      if (entry.state === 'unknown') addUnknown(unknown, key, known());
      if (entry.state !== 'done') continue;
      const isFileNow = old?.stdin === true && !isStream;
      if (old === undefined || isFileNow || variantText(old) !== variantText(content))
        this.#list(key, await reader.recordOf(entry), known());
      // What is unknown in the manifest is sent again only if the user allows it.
      const isNew = entry.offset >= 0;
      for (const [other, one] of unknown) {
        const {contentType = content.contentType} = one;
        if (isNew && variantText({...one, contentType}) === variantText(content)) unknown.delete(other);
      }
    }
    for await (const key of this.stale()) files.delete(key);
    const {serviceId = before.serviceId} = reader.index;
    const after = {...before, ...omitUndefined({serviceId}), files, unknown};
    const isUnchanged = isSame(before.files, files) && isSame(before.unknown, unknown);
    const isNewPart = this.#options.isPart && before.text === '' && before.service !== '';
    if (!isUnchanged || serviceId !== before.serviceId || isNewPart)
      await writeManifest(this.displayPath, before, after, this.#host, async key => hashes.get(key));
    this.change = changeText(before.files, files);
    if (isComplete) await this.#removeJournal();
  }

  /** Removes it durably: if it came back after a power cut, it would bring back what was forgotten since. */
  async #removeJournal(): Promise<void> {
    const {cwd, files} = this.#host;
    const path = resolve(cwd(), this.journalPath);
    const removal = files.rm(path, {force: true}).then(() => syncDirectory(dirname(path), files));
    await removal.catch(throwAs('journal_failed', `The journal ${this.journalPath} could not be removed`));
  }

  allowPruning(): void {
    this.#mayPrune = true;
  }

  /** The keys of files that are gone, if their directory is still there: a whole tree may be elsewhere. */
  async *stale(): AsyncGenerator<string> {
    const {prunes} = this.#options;
    if (prunes === undefined || !this.#mayPrune) return;
    const {inputCoverage} = await import('../sources/find/expand.ts');
    const covers = inputCoverage(prunes, this.#host.cwd());
    const {lstat, readdir} = this.#host.files;
    const directories = [this.#directory, this.#realDirectory];
    const isMissingAt = (path: string) => lstat(path).then(() => false, isMissing);
    // The disk may spell a name in another Unicode form than its key.
    const composedNames = memoize(async (directory: string) => {
      const names = await readdir(directory).catch(() => []);
      return new Set(names.map(name => name.normalize()));
    });
    const isSpelled = async (path: string) => (await composedNames(dirname(path))).has(basename(path));
    const isGone = async (path: string) => (await isMissingAt(path)) && !(await isSpelled(path));
    for (const [key, {stdin}] of this.#files) {
      const path = join(this.#directory, key);
      const isCovered = !stdin && directories.some(directory => covers(join(directory, key)));
      if (isCovered && (await isGone(path)) && !(await isGone(dirname(path)))) yield key;
    }
  }
}

/** Opens the journal of a run with a manifest, which closing it writes. */
export async function openManifest(
  displayPath: string,
  host: Host,
  {identify, stop, ...options}: ManifestOptions & Pick<JournalOptions, 'identify' | 'stop'>,
): Promise<Journal> {
  const manifest = await RunManifest.at(displayPath, host, options);
  const {note} = options;
  return openJournal(manifest.journalPath, host, {scope: scopeOf(options), identify, stop, note, manifest});
}

/** The scope of a run; undefined if the run does not know its service, as one that settles uploads or only checks. */
function scopeOf({service}: ManifestOptions): Scope | undefined {
  return service === undefined ? undefined : {service};
}

/** Reads a journal, or a manifest and the journal beside it, with the paths. */
export async function readMemory(path: string, host: Host, user?: User): Promise<JournalReader> {
  if (!(await isManifest(path, host))) return readJournal(path, host, {user, paths: true});
  const manifest = await RunManifest.at(path, host);
  const seed = await manifest.load();
  return readJournal(manifest.journalPath, host, {paths: true, seed, displayPath: path});
}

/** Reads a manifest and its journal for a run that sends nothing. */
export async function lookUpInManifest(
  displayPath: string,
  host: Host,
  options: ManifestOptions,
): Promise<JournalLookup | undefined> {
  const manifest = await RunManifest.at(displayPath, host, options);
  return readLookup(manifest.journalPath, host, scopeOf(options), {manifest});
}

/** The content of a file, and how it was sent. */
type ContentVariant = Loose<Pick<ManifestEntry, 'sha256' | 'size' | 'contentType' | 'transform'>>;

/** A file of a run: its content, and the upload that has stored it, or may have. */
interface StoredFile {
  key: string;
  content: ContentVariant;
  entry: IndexRow;
}

/** Content and how it was sent, as a key of the journal. */
function variantText({sha256, size, contentType, transform}: ContentVariant): string {
  return [sha256, size, contentType, transform].join(' ');
}

/** A key without case and Unicode form: equal for names that some file systems take for one. */
function fold(key: string): string {
  return key.normalize('NFC').toLowerCase();
}

/** What a manifest knows, as a journal of it would begin. */
function seedOf({service, serviceId, files, unknown}: Manifest): Seed {
  const members = (name: string, {sha256, size, contentType = '', transform}: UnknownEntry) => {
    return {by: seedWriter, path: pathKey(name), sha256, size, contentType, transform};
  };
  const stored = [...files].map(([name, entry]) => {
    const {received} = entry;
    return {event: 'done', key: variantText(entry), received, ...members(name, entry)} as const;
  });
  const sent = [...unknown].map(([name, entry]) => {
    return {event: 'commit', key: entry.sha256, ...members(name, entry)} as const;
  });
  return {scope: {service, ...omitUndefined({serviceId})}, lines: [...stored, ...sent]};
}

/** The uploads in the file of a journal, in the order in which they began. */
async function uploadsIn(reader: JournalReader): Promise<StoredFile[]> {
  const uploads = new Map<string, Partial<UploadLine>>();
  for await (const lines of reader.lines())
    for (const {text, ...line} of lines) uploads.set(line.key, {...uploads.get(line.key), ...line});
  return [...uploads].map(([id, {path = '', sha256 = '', size = 0, contentType = '', transform}]) => ({
    key: toText(path),
    content: {sha256, size, contentType, transform},
    entry: reader.index.entry(reader.index.rowOf(id)),
  }));
}

/** Whether no entry was added, replaced or removed. */
function isSame<Entry>(before: ReadonlyMap<string, Entry>, after: ReadonlyMap<string, Entry>): boolean {
  return before.size === after.size && [...after].every(([key, entry]) => before.get(key) === entry);
}

type Entries = ReadonlyMap<string, ManifestEntry>;

/** What has changed between two states of a manifest, for the summary of the run. */
function changeText(before: Entries, after: Entries): string {
  const keys = [...after.keys()];
  const added = keys.filter(key => !before.has(key)).length;
  const unchanged = keys.filter(key => before.get(key) === after.get(key)).length;
  const removed = before.size + added - after.size;
  const changed = after.size - added - unchanged;
  return `${added} added, ${changed} changed${removed > 0 ? `, ${removed} removed` : ''}, ${unchanged} unchanged`;
}

/** Throws a usage error if git has checked out only some of the files there: the others are not gone. */
async function refuseSparseCheckout(directory: string, {files}: Host): Promise<void> {
  const read = (path: string) => files.readFile(path, 'utf8').catch(() => '');
  for (let at = directory; ; at = dirname(at)) {
    // In another work tree, .git is a file that leads to its settings.
    const git = resolve(at, /^gitdir: (.+)/.exec(await read(join(at, '.git')))?.[1] ?? '.git');
    const common = resolve(git, (await read(join(git, 'commondir'))).trim());
    const settings = (await read(join(git, 'config.worktree'))) + (await read(join(common, 'config')));
    if (/^\s*sparseCheckout\s*=\s*true/im.test(settings))
      throw new MediaError('usage', 'Nothing is pruned in a sparse checkout, where most files are missing.', {
        hint: 'Prune where all files are checked out.',
      });
    if (settings !== '' || dirname(at) === at) return;
  }
}
