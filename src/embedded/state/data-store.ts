import {access, constants, readdir, rename, rm, stat, statfs, unlink} from 'node:fs/promises';
import {join} from 'node:path';
import type {Clock} from '../../host.ts';
import {
  makeDirectory,
  openDirectory,
  renameDurably,
  syncDirectory,
  writeDurably,
} from '../../lib/files/durable.ts';
import {systemFiles} from '../../lib/files/file-system.ts';
import {oneOf} from '../../lib/json.ts';
import {ignoreMissing} from '../../lib/system-code.ts';
import {Refusal} from '../exchange/refusal.ts';
import {type LeftBehind, moveOrphans, removeTemporary, temporaryNames} from './clean-up.ts';
import {ignoreDamage, readStored, readsAtOnce} from './kept-file.ts';
import {ensureIdentity, identityIn} from './store-identity.ts';
import {isRecordId, recordIds, recordShape, type StoredRecord} from './stored-record.ts';

/** The directories for what an upload or an idempotency key has, with the ends of the names in them. */
const suffixes = {files: '', thumbnails: '.webp', streams: '', records: '.json', idempotency: '.json'};

/**
 * The data directory: bytes are in `files/<id>`, thumbnails in `thumbnails/<id>.webp`, records in `records/<id>.json`,
 * uncommitted files in `temporary/`. What is kept in memory is checked against the directory, since two processes may
 * share one.
 */
export class Store {
  readonly dataDirectory: string;
  readonly #clock: Clock;
  readonly #names = temporaryNames();
  readonly newId: () => string;
  readonly quota: ReturnType<typeof quotaOf>;
  /** Identifies this data directory; known when it is prepared. */
  identity = '';
  /** The file that was last read for it. */
  #seenIdentity: string | undefined;
  #idCache: {ids: readonly string[]; changedAt: bigint} | undefined;

  /** `quota`: how many bytes all uploads together may have. */
  constructor(dataDirectory: string, clock: Clock, quota = Number.POSITIVE_INFINITY) {
    this.dataDirectory = dataDirectory;
    this.#clock = clock;
    this.newId = recordIds(clock);
    this.quota = quotaOf(quota);
  }

  /** Creates the directories (0700), removes stale temporary files, and if `exclusive` moves orphans to `lost/`. */
  async prepare(exclusive: boolean): Promise<LeftBehind> {
    for (const name of [...Object.keys(suffixes), 'temporary'])
      await makeDirectory(join(this.dataDirectory, name), systemFiles, 0o700);
    const temporary = await removeTemporary(this.#directory('temporary'), this.#names, this.#clock);
    const lost = exclusive ? await moveOrphans(this.dataDirectory) : [];
    await this.quota.prepare(this.#directory('files'));
    this.identity = await ensureIdentity(this.dataDirectory, this.temporaryPath());
    return {temporary, lost};
  }

  #directory(name: keyof typeof suffixes | 'temporary'): string {
    return join(this.dataDirectory, name);
  }

  /** Whether the data directory is still the same: it may have been moved away, or another one mounted in its place. */
  async isInPlace(): Promise<boolean> {
    const file = await stat(join(this.dataDirectory, 'identity.json'), {bigint: true}).catch(() => undefined);
    if (file === undefined) return false;
    // The same directory, mounted again, may be another device.
    const version = `${file.dev} ${file.ino} ${file.ctimeNs}`;
    if (version === this.#seenIdentity) return true;
    const identity = await identityIn(this.dataDirectory).catch(ignoreDamage);
    if (identity !== this.identity) return false;
    this.#seenIdentity = version;
    return true;
  }

  temporaryPath(): string {
    return join(this.#directory('temporary'), this.#names.next());
  }

  /** The path of what has this ID, or of the entry of this name. */
  path(kind: keyof typeof suffixes, id: string): string {
    return join(this.#directory(kind), `${id}${suffixes[kind]}`);
  }

  /** Whether the file system has room for this many bytes; true if it does not report that. */
  async hasSpaceFor(bytes: number): Promise<boolean> {
    const {bavail, blocks, bsize} = await statfs(this.#directory('temporary'));
    return blocks === 0 || bavail * bsize >= bytes;
  }

  /** Whether an upload could be stored now: its directory is writable, and the disk has space. */
  canStore(): Promise<boolean> {
    const writing = access(this.#directory('temporary'), constants.W_OK);
    return writing.then(() => this.hasSpaceFor(1)).catch(() => false);
  }

  /** The record of an ID; undefined if there is none or the ID is invalid. Rejects if it is damaged. */
  async find(id: string): Promise<StoredRecord | undefined> {
    if (!isRecordId(id)) return undefined;
    const hint =
      'Restore it from a backup, or move it away: its upload then counts as not stored, and the next start moves its file to lost/.';
    return readStored({path: this.path('records', id), hint}, {...recordShape, id: oneOf(id)});
  }

  /**
   * The record of an ID whose file has the recorded size; undefined without either, and then a reset of the seed and a
   * repeated Idempotency-Key store the file again. Rejects if the record is damaged.
   */
  async findComplete(id: string): Promise<StoredRecord | undefined> {
    const record = await this.find(id);
    const file = await stat(this.path('files', id)).catch(ignoreMissing);
    return file?.size === record?.size ? record : undefined;
  }

  /** The IDs of all records, oldest first. */
  async ids(): Promise<string[]> {
    const {mtimeNs} = await stat(this.#directory('records'), {bigint: true});
    if (this.#idCache?.changedAt === mtimeNs) return [...this.#idCache.ids];
    // File systems may give the same time to two changes of a directory within two seconds.
    const isOld = this.#clock.now() - Number(mtimeNs / 1_000_000n) > 2_000;
    const names = await readsAtOnce(() => readdir(this.#directory('records')));
    const ids = names
      .map(name => /^(.*)\.json$/.exec(name)?.[1])
      .filter(isRecordId)
      .sort();
    this.#idCache = isOld ? {ids, changedAt: mtimeNs} : undefined;
    return [...ids];
  }

  /** Commits an upload: its bytes, its previews and `lastCheck`, last its record. A rejection leaves nothing. */
  async commit(
    record: StoredRecord,
    paths: {file: string; thumbnail?: string; stream?: string},
    lastCheck: () => void,
  ): Promise<void> {
    const recordDraft = `${this.temporaryPath()}.${record.id}`;
    // After the commit, the upload must not be refused for lack of a file descriptor.
    const records = await openDirectory(this.#directory('records'), systemFiles);
    try {
      await writeDurably(recordDraft, `${JSON.stringify(record)}\n`, systemFiles);
      await renameDurably(paths.file, this.path('files', record.id), systemFiles);
      if (paths.thumbnail !== undefined)
        await renameDurably(paths.thumbnail, this.path('thumbnails', record.id), systemFiles);
      if (paths.stream !== undefined) {
        await rm(this.path('streams', record.id), {recursive: true, force: true});
        await renameDurably(paths.stream, this.path('streams', record.id), systemFiles);
      }
      lastCheck();
      await rename(recordDraft, this.path('records', record.id));
      this.quota.set(paths.file, 0);
      this.quota.set(record.id, record.size);
      await records.sync();
    } catch (error) {
      await rm(recordDraft, {force: true});
      // The record may be there, also by another process from the same idempotency entry; then the bytes belong to it.
      if ((await this.find(record.id)) === undefined) await this.#removeFiles(record.id);
      throw error;
    } finally {
      await records.close();
    }
  }

  /** Stores a thumbnail that was made after the commit; resolves to false if its upload was deleted meanwhile. */
  async placeThumbnail(id: string, draft: string): Promise<boolean> {
    await renameDurably(draft, this.path('thumbnails', id), systemFiles);
    // Asked last: a deletion removes the record first, then what it finds.
    if ((await stat(this.path('records', id)).catch(ignoreMissing)) !== undefined) return true;
    await rm(this.path('thumbnails', id), {force: true});
    return false;
  }

  /** Deletes uploads: their records first, since without a record a file is not an upload. */
  async remove(ids: readonly string[]): Promise<void> {
    const removedIds: string[] = [];
    for (const id of ids) {
      // The files of what another caller deletes at the same time are left to that one.
      if (await unlink(this.path('records', id)).then(() => true, ignoreMissing)) removedIds.push(id);
    }
    await syncDirectory(this.#directory('records'), systemFiles);
    for (const id of removedIds) {
      await this.#removeFiles(id);
      this.quota.set(id, 0);
    }
  }

  /** Removes the file and its previews; call it only when there is no record of the ID. */
  async #removeFiles(id: string): Promise<void> {
    for (const kind of ['files', 'thumbnails', 'streams'] as const)
      await rm(this.path(kind, id), {recursive: true, force: true});
  }
}

/** Counts the bytes of all uploads of a data directory, up to `most`; without a limit, counts nothing. */
function quotaOf(most: number) {
  const isLimited = Number.isFinite(most);
  /** By the names of the files. */
  const sizes = new Map<string, number>();
  let storedBytes = 0;
  /** Counts a file that was stored, in place of an earlier one of its name; 0 bytes if it was deleted. */
  const set = (name: string, bytes: number) => {
    if (!isLimited) return;
    storedBytes += bytes - (sizes.get(name) ?? 0);
    if (bytes === 0) sizes.delete(name);
    else sizes.set(name, bytes);
  };
  return {
    isLimited,
    set,

    /** Counts what is stored, if there is a limit at all. */
    async prepare(filesDirectory: string): Promise<void> {
      if (!isLimited) return;
      // Adds the size of a stored file.
      const count = async (name: string) => {
        // Another process may delete it at the same time.
        const file = await stat(join(filesDirectory, name)).catch(ignoreMissing);
        set(name, file?.size ?? 0);
      };
      await Promise.all((await readdir(filesDirectory)).map(name => readsAtOnce(() => count(name))));
    },

    /** Counts an upload that is about to be received into a file; throws a 507 if there are too few bytes left. */
    reserve(name: string, bytes: number): void {
      if (storedBytes + bytes > most)
        throw new Refusal(507, `This service stores at most ${most} bytes, and ${storedBytes} are used.`);
      set(name, bytes);
    },
  };
}
