import {dirname, isAbsolute, join, relative, resolve, sep} from 'node:path';
import {MediaError} from '../../errors.ts';
import {fact, type Hint, hint, option, phrase} from '../../hint.ts';
import type {Host} from '../../host.ts';
import {syncDirectory} from '../../lib/files/durable.ts';
import {toText} from '../../lib/files/typed-path.ts';
import {type Loose, omitUndefined} from '../../lib/object.ts';
import {ignoreMissing, isMissing} from '../../lib/system-code.ts';
import {
  formatHeader,
  formatTransition,
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
  readLookup,
  type UploadLine,
} from '../journal/journal.ts';
import {publicUrl} from '../service/record.ts';
import type {FileStat, OpenSource, Source} from '../sources/open/source.ts';
import {addUnknown, type Manifest, type ManifestEntry} from './manifest-file.ts';
import {manifestPath, readManifest, writeManifest} from './manifest-store.ts';

export interface ManifestOptions {
  /** The service of the run, for a new manifest. */
  service?: string | undefined;
  /** The error for a file that is to be sent, if the run cannot send any. */
  unsendable?: MediaError | undefined;
  /** Whether a file fails with `manifest_outdated` unless the manifest knows it as it is. */
  check?: boolean | undefined;
  /** Whether the entry of a path is removed if its file is gone. */
  prunes?: ((path: string) => boolean) | undefined;
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
  /** The directory of the file itself, and the same as the user names it. */
  readonly #directories: readonly [real: string, named: string];
  #manifest: Manifest;
  readonly #sightings = new Map<string, {content: Content; entry: IndexRow}>();
  /** All keys, by what they are without case and Unicode form. */
  readonly #spellings = new Map<string, string[]>();
  /** The keys of sources that are not files. */
  readonly #streams = new Set<string>();

  private constructor(
    displayPath: string,
    path: string,
    named: string,
    host: Host,
    options: ManifestOptions,
  ) {
    this.displayPath = displayPath;
    this.journalPath = `${resolve(host.cwd(), displayPath) === path ? displayPath : path}.journal`;
    this.#host = host;
    this.#options = options;
    this.#directories = [dirname(path), named];
    this.#manifest = {service: options.service ?? '', files: new Map(), unknown: new Map(), text: ''};
  }

  /** `displayPath`: the path as the user wrote it. */
  static async at(displayPath: string, host: Host, options: ManifestOptions = {}): Promise<RunManifest> {
    const path = await manifestPath(displayPath, host);
    const named = dirname(resolve(host.cwd(), displayPath));
    const real = await host.files.realpath(named).catch(ignoreMissing);
    return new RunManifest(displayPath, path, real === dirname(path) ? named : dirname(path), host, options);
  }

  async load(): Promise<Buffer> {
    const manifest = await readManifest(this.displayPath, this.#host);
    if (manifest === undefined) return Buffer.alloc(0);
    this.#manifest = manifest;
    for (const key of manifest.files.keys()) this.#addSpelling(key);
    return Buffer.from(seedOf(manifest));
  }

  async keyOf({name, nameBytes}: Source, {path, stat}: OpenSource): Promise<string> {
    const {displayPath} = this;
    const refuse = (message: Hint, advice: Hint) => new MediaError('usage', message, {hint: advice});
    if (stat === undefined || path === undefined) {
      if (name === '-') throw refuse('Standard input has no name.', hint`Name it with ${option('name')}.`);
      this.#streams.add(name);
      return name;
    }
    if (nameBytes !== undefined || typeof path !== 'string')
      throw refuse(phrase`${fact('subject', name, 'was')} not sent: its name is not UTF-8.`, 'Rename it.');
    const paths = this.#directories.map(directory => relative(directory, path));
    const [below = ''] = [...paths.filter(one => !one.startsWith('..')), ...paths];
    if (isAbsolute(below))
      throw refuse(
        phrase`${fact('subject', name)} is not on the drive of ${displayPath}.`,
        'Use a manifest on the same drive.',
      );
    return this.#spellingOf(below.split(sep).join('/'), stat);
  }

  /** The key that the file has under another spelling; else its path in NFC, unless that is another file. */
  async #spellingOf(path: string, {dev, ino}: FileStat): Promise<string> {
    const spellings = this.#spellings.get(fold(path)) ?? [];
    const isAt = async (key: string) => {
      const stats = await this.#host.files.stat(this.#pathOf(key), {bigint: true}).catch(() => undefined);
      return stats && stats.dev === dev && stats.ino === ino;
    };
    if (spellings.includes(path)) return path;
    for (const key of spellings) if (await isAt(key)) return key;
    const composed = path.normalize('NFC');
    const key = (await isAt(composed)) === false ? path : composed;
    if (spellings.length > 0)
      this.#options.note?.(
        `Only their spelling differs in ${this.displayPath}: ${[...spellings, key].join(', ')}`,
      );
    this.#addSpelling(key);
    return key;
  }

  #addSpelling(key: string): void {
    this.#spellings.set(fold(key), [...(this.#spellings.get(fold(key)) ?? []), key]);
  }

  #pathOf(key: string): string {
    return join(this.#directories[0], key);
  }

  found(input: InputVariant, sha256: string | undefined, prior: PriorUpload | undefined): void {
    const {size, contentType, transform} = input;
    const key = String(input.path);
    if (this.#options.check) this.#requireKnown(key, sha256, prior);
    if (prior === undefined && this.#options.unsendable !== undefined) throw this.#options.unsendable;
    if (prior?.status !== 'done' || sha256 === undefined) return;
    const content = {sha256, size, contentType, transform, stdin: this.#isStream(key)};
    this.#sightings.set(key, {content, entry: prior.entry});
  }

  #isStream(key: string): true | undefined {
    return this.#streams.has(key) || undefined;
  }

  #requireKnown(key: string, sha256: string | undefined, prior: PriorUpload | undefined): void {
    const known = this.#manifest.files.get(key);
    if (prior?.status === 'done' && known?.sha256 === sha256) return;
    const name = fact('subject', key, 'is');
    const sentence =
      prior?.status === 'unknown'
        ? phrase`${name} unknown: it was sent, and may be stored.`
        : phrase`${name} ${known === undefined ? 'not in' : 'not as in'} ${this.displayPath}.`;
    throw new MediaError('manifest_outdated', sentence);
  }

  async write(reader: JournalReader, isComplete: boolean): Promise<void> {
    const before = this.#manifest;
    const [files, unknown] = [new Map(before.files), new Map(before.unknown)];
    const keep = async (key: string, content: Content, entry: IndexRow) => {
      const old = files.get(key);
      if (old !== undefined && contentText(old) === contentText(content)) return;
      const {record, json} = await reader.recordOf(entry);
      files.set(key, {
        ...omitUndefined({url: publicUrl(record), ...content, others: old?.others}),
        record: json,
      });
    };
    const hashes = new Map<string, string>();
    for (const [key, row, content] of await uploadsIn(reader)) {
      const stdin = this.#isStream(key);
      const entry = reader.index.entry(row);
      hashes.set(key, content.sha256);
      if (entry.state === 'unknown') addUnknown(unknown, key, omitUndefined({...content, stdin}));
      if (entry.state !== 'done') continue;
      await keep(key, {...content, stdin}, entry);
      // Unknown content is sent again only if the user allows it.
      for (const [other, {sha256}] of unknown) if (sha256 === content.sha256) unknown.delete(other);
    }
    for (const [key, {content, entry}] of this.#sightings) {
      hashes.set(key, content.sha256);
      await keep(key, content, entry);
    }
    if (this.#options.prunes !== undefined) await this.#prune(files, this.#options.prunes);
    const {serviceId = before.serviceId} = reader.index;
    const after = {...before, ...omitUndefined({serviceId}), files, unknown};
    this.change = changeText(before.files, files);
    if (files.size + unknown.size > 0 || before.text !== '')
      await writeManifest(this.displayPath, after, this.#host, async key => hashes.get(key));
    if (!isComplete) return;
    await this.#host.files.rm(resolve(this.#host.cwd(), this.journalPath), {force: true});
    // A journal that comes back after a power cut would bring back what was forgotten since.
    await syncDirectory(this.#directories[0], this.#host.files);
  }

  async #prune(files: Map<string, ManifestEntry>, prunes: (path: string) => boolean): Promise<void> {
    const isThere = (path: string) =>
      this.#host.files.lstat(path).then(
        () => true,
        error => !isMissing(error),
      );
    for (const [key, {stdin}] of files) {
      const path = this.#pathOf(key);
      if (!stdin && prunes(path) && !(await isThere(path)) && (await isThere(dirname(path))))
        files.delete(key);
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
  const {service, note} = options;
  const scope = omitUndefined({scope: service === undefined ? undefined : {service}});
  return openJournal(manifest.journalPath, host, {...scope, paths: false, identify, stop, note, manifest});
}

/** Reads a manifest and its journal for a run that sends nothing. */
export async function lookUpInManifest(
  displayPath: string,
  host: Host,
  options: ManifestOptions,
): Promise<JournalLookup | undefined> {
  const manifest = await RunManifest.at(displayPath, host, options);
  const {service} = options;
  return readLookup(manifest.journalPath, host, service === undefined ? undefined : {service}, {manifest});
}

/** What a manifest knows of a file, beside its record. */
type Content = Loose<Omit<ManifestEntry, 'record' | 'url' | 'others'>>;

function contentText({sha256, size, contentType, transform}: Content): string {
  return [sha256, size, contentType, transform].join(' ');
}

function fold(key: string): string {
  return key.normalize('NFC').toLowerCase();
}

/** What a manifest knows, as the lines of a journal. */
function seedOf({service, serviceId, files, unknown}: Manifest): string {
  const lines = new Set([formatHeader({service, ...omitUndefined({serviceId})})]);
  for (const [path, {record, ...entry}] of files) {
    const intent = {key: contentText(entry), ...entry, path: pathKey(path)};
    lines.add(formatTransition({event: 'hashed', ...intent}, 'manifest'));
    lines.add(formatTransition({event: 'done', key: intent.key, recordJson: record}, 'manifest'));
  }
  for (const [path, {contentType = '', ...entry}] of unknown) {
    const commit = {event: 'commit', key: entry.sha256, ...entry, contentType, path: pathKey(path)} as const;
    lines.add(formatTransition(commit, 'manifest'));
  }
  return [...lines, '{"event":"release","by":"manifest"}\n'].join('');
}

/** The uploads in the file of a journal, in the order in which they began: their keys, rows and content. */
async function uploadsIn(reader: JournalReader): Promise<[key: string, row: number, content: Content][]> {
  const uploads = new Map<string, Partial<Omit<UploadLine, 'text'>>>();
  for await (const lines of reader.lines())
    for (const line of lines) uploads.set(line.key, {...uploads.get(line.key), ...line});
  return [...uploads].map(([key, {path = '', sha256 = '', size = 0, contentType = '', transform}]) => [
    toText(path),
    reader.index.rowOf(key),
    {sha256, size, contentType, transform},
  ]);
}

function changeText(
  before: ReadonlyMap<string, ManifestEntry>,
  after: ReadonlyMap<string, ManifestEntry>,
): string {
  const keys = [...after.keys()];
  const added = keys.filter(key => !before.has(key)).length;
  const unchanged = keys.filter(key => before.get(key) === after.get(key)).length;
  const removed = before.size + added - after.size;
  const changed = after.size - added - unchanged;
  return `${added} added, ${changed} changed${removed > 0 ? `, ${removed} removed` : ''}, ${unchanged} unchanged`;
}
