import type {MediaError} from '../errors.ts';
import type {Host} from '../host.ts';
import {JournalEntry} from './entry.ts';
import {journalFailed} from './errors.ts';
import {type JournalHandle, writeAll} from './file.ts';
import {GroupSync} from './group-sync.ts';
import type {Entry} from './index.ts';
import {formatTransition, parseLine, pathKey, type Transition} from './lines.ts';
import type {JournalReader} from './reader.ts';
import {Turns} from './turns.ts';

/** What tells one input's content from another, as far as it is known without reading it. */
export interface JournalInput {
  /** Relative to the input's root: text, or bytes where it is not UTF-8. */
  path: string | Uint8Array;
  /** Bytes. */
  size: number;
  mtimeNs: bigint;
}

/** The SHA-256 of an input's content, in hex; asked for only when size and mtime do not decide. */
export type ContentHash = () => Promise<string>;

/** What a journal knows of an input. */
export type Lookup =
  | {status: 'new'}
  /** Uploaded before, with the same content; the record's JSON is as the service sent it. */
  | {status: 'done'; recordJson: string; entry: Entry}
  /** Released before without a recorded end. */
  | {status: 'unknown'; idempotencyKey: string};

/** How a person settles an upload of unknown outcome. */
export type Settlement = {uploaded: string} | 'resend';

const ways = {
  intent: {durable: false, revocable: true},
  commit: {durable: true, revocable: true},
  done: {durable: true, revocable: false},
  failed: {durable: false, revocable: false},
  resolved: {durable: true, revocable: false},
} as const;

/** What an opened journal is made of. */
export interface JournalParts {
  reader: JournalReader;
  handle: JournalHandle;
  length: number;
  host: Host;
  release: () => Promise<void>;
}

/** A run's memory: what earlier runs did with each input, and where this run writes what it does. */
export class Journal {
  readonly reader: JournalReader;
  readonly #host: Host;
  readonly #log: GroupSync;
  readonly #release: () => Promise<void>;
  readonly #turns = new Turns<string>();
  #failure: MediaError | undefined;

  constructor({reader, handle, length, host, release}: JournalParts) {
    this.reader = reader;
    this.#host = host;
    this.#release = release;
    const target = {
      write: (bytes: Uint8Array, position: number) => writeAll(handle, bytes, position),
      sync: () => handle.datasync(),
      truncate: (to: number) => handle.truncate(to),
    };
    this.#log = new GroupSync(target, length);
  }

  /**
   * Resolves when no other input of that path is at work, to the function that ends the turn. Files of several roots
   * may have one path: what becomes of the first decides whether the second is to be sent at all.
   */
  turn({path}: JournalInput): Promise<() => void> {
    return this.#turns.take(pathKey(path));
  }

  /**
   * Says what became of an input in earlier runs. Done is what agrees in path, size and content, where an equal mtime
   * spares the reading. An unknown outcome blocks its path whatever its content is now; where it may be sent again, what
   * is done stays done beside it.
   */
  async lookup(input: JournalInput, hash: ContentHash, mayResend = false): Promise<Lookup> {
    const entries = this.#entriesOf(input);
    const unknown = entries.find(entry => entry.state === 'unknown');
    const blocked: Lookup | undefined = unknown && {status: 'unknown', idempotencyKey: unknown.key};
    if (blocked !== undefined && !mayResend) return blocked;
    // Two roots may have files of the same path, and of the same mtime where a script made them: only the first to come
    // is recognised without being read, and only where no other is known.
    const met = entries.some(entry => entry.met);
    for (const entry of entries) entry.met = true;
    const sameSize = entries.filter(({size}) => size === input.size);
    const sameTime = sameSize.filter(({mtimeNs}) => mtimeNs === input.mtimeNs);
    const isPlain = !met && unknown === undefined && sameTime.length === 1 && sameTime[0]?.state === 'done';
    const done = sameSize.filter(({state}) => state === 'done');
    const entry = isPlain ? sameTime[0] : await this.#sameContent(done, hash);
    if (entry === undefined) return blocked ?? {status: 'new'};
    return {status: 'done', recordJson: await this.reader.recordOf(entry), entry};
  }

  /**
   * Writes that an upload is about to begin. Its idempotency key is the one that this content had before if that
   * upload never ended, else a new one. An unknown of this content stays unknown until it is done, as no refusal of
   * another try tells what became of the first; one of other content counts as resolved.
   */
  async begin(input: JournalInput & {contentType: string}, hash: ContentHash): Promise<JournalEntry> {
    const entries = this.#entriesOf(input);
    const doubtful = await this.#sameContent(
      entries.filter(({state, inDoubt}) => state === 'unknown' || (state === 'pending' && inDoubt)),
      hash,
    );
    if (doubtful !== undefined) doubtful.live = true;
    await this.#resend(entries);
    const reused = doubtful ?? (await this.#reusable(entries, input, hash));
    const isFree = reused !== undefined && (reused === doubtful || !reused.live);
    const key = isFree ? reused.key : this.#host.uuid();
    // At once, so that another input of the same path leaves it alone.
    if (isFree) reused.live = true;
    const {size, mtimeNs, contentType} = input;
    this.#intend({event: 'intent', key, path: pathKey(input.path), size, mtimeNs, contentType});
    const entry = this.reader.index.get(key) as Entry;
    entry.live = true;
    entry.met = true;
    return new JournalEntry(entry, doubtful !== undefined, transition => this.#append(transition));
  }

  /** The uploads of a path whose outcome is unknown, the latest first. */
  unknownsOf(path: string | Uint8Array): Entry[] {
    return [...this.reader.index.entriesOf(pathKey(path))].filter(
      ({state, live}) => state === 'unknown' && !live,
    );
  }

  /** Records how an upload of unknown outcome was settled. */
  async settle(entry: Entry, settlement: Settlement, byRun = false): Promise<void> {
    const {key} = entry;
    const sha256 = (await this.reader.hashOf(entry)) ?? '';
    await this.#append(
      settlement === 'resend'
        ? {event: 'resolved', key, as: 'resend', sha256, ...(byRun ? {byRun: true} : {})}
        : {
            event: 'resolved',
            key,
            as: 'uploaded',
            sha256,
            recordJson: JSON.stringify({id: settlement.uploaded}),
          },
    );
  }

  /** Makes everything durable and lets other runs have the file; rejects when the former failed. */
  async close(): Promise<void> {
    try {
      await this.#log.end();
    } catch (error) {
      throw this.#failed(error);
    } finally {
      await this.reader.close().finally(this.#release);
    }
  }

  async #resend(entries: readonly Entry[]): Promise<void> {
    for (const entry of entries) {
      if (entry.state !== 'unknown' || entry.live) continue;
      entry.live = true;
      await this.settle(entry, 'resend', true);
      entry.live = false;
    }
  }

  #entriesOf({path}: JournalInput): Entry[] {
    return [...this.reader.index.entriesOf(pathKey(path))].filter(entry => !entry.live);
  }

  async #sameContent(entries: readonly Entry[], hash: ContentHash): Promise<Entry | undefined> {
    if (entries.length === 0) return undefined;
    const sha256 = await hash();
    for (const entry of entries) if ((await this.reader.hashOf(entry)) === sha256) return entry;
    return undefined;
  }

  /**
   * What was released must be sent under the same key, and only with the same content: the service may answer with
   * the record it has. What was not is known to nobody, so that size and mtime suffice.
   */
  async #reusable(
    entries: readonly Entry[],
    {size, mtimeNs}: JournalInput,
    hash: ContentHash,
  ): Promise<Entry | undefined> {
    const pending = entries.filter(entry => entry.state === 'pending' && entry.size === size);
    const released = pending.filter(entry => entry.released);
    return (
      (await this.#sameContent(released, hash)) ??
      pending.find(entry => !entry.released && entry.mtimeNs === mtimeNs)
    );
  }

  /** Not waited for: no commit is durable before the lines in front of it, and where one fails all after it do. */
  #intend(transition: Transition & {event: 'intent'}): void {
    if (this.#failure !== undefined) throw this.#failure;
    const {place, appended} = this.#log.append(this.#line(transition), ways.intent);
    appended.catch(error => this.#failed(error));
    this.reader.index.apply(transition, place.offset, place.length);
  }

  async #append(transition: Transition): Promise<void> {
    const {place, appended} = this.#log.append(this.#line(transition), ways[transition.event]);
    try {
      await appended;
    } catch (error) {
      throw this.#failed(error);
    }
    this.reader.index.apply(transition, place.offset, place.length);
  }

  /** A record is the only part of a line that somebody else has written. */
  #line(transition: Transition): string {
    const line = formatTransition(transition, this.#host.clock.now());
    if ('recordJson' in transition && parseLine(line) === undefined)
      throw new Error(`no line of a journal: ${line}`);
    return line;
  }

  #failed(error: unknown): MediaError {
    this.#failure ??= journalFailed(this.reader.shown, 'written', error);
    return this.#failure;
  }
}
