import {dirname, join} from 'node:path';
import type {Host, StopSignal} from '../../host.ts';
import {hasShape, parseObject} from '../json.ts';
import {systemCode} from '../system-code.ts';
import {isWithoutHardLinks} from './durable.ts';
import {constants, type FileSystem} from './file-system.ts';
import {type Holder, holderHere, holderShape, stateOf} from './holder.ts';

/** Thrown when another process keeps a lock; `holder` is undefined if the lock could not be read. */
export class LockHeld extends Error {
  readonly holder: Holder | undefined;

  constructor(path: string, holder: Holder | undefined) {
    super(`${path} is held by another process.`);
    this.holder = holder;
  }
}

/** A holder on another machine, or in another container, is gone after this many milliseconds without a renewal. */
export const staleMs = 90_000;

const breakerPatienceMs = 2_000;

/** How often to check a lock whose holder cannot be judged from here, in milliseconds. */
export const pollMs = 250;

export interface LockOptions {
  /** How long to wait for one living holder, in milliseconds; it is waited for anew when the lock has changed hands. */
  patienceMs?: number;
  /** Waits for a holder that cannot be judged from here, until it renews its lock or the lock is stale. Called once. */
  onUnknownHolder?: (holder: Holder | undefined) => void;
  /** Judges by other means a holder that cannot be judged from here by its process id. */
  stateOfUnknown?: (holder: Holder) => Promise<LockFile['state']>;
  stop?: StopSignal | undefined;
}

/** Takes a lock: from a dead holder at once, from a silent one elsewhere after 90 s; else rejects with LockHeld. */
export async function acquireLock(path: string, host: Host, options: LockOptions = {}): Promise<Lock> {
  return new Lock(path, host, options).take();
}

/** Runs `action` while no other process runs one under this lock; waits for each holder up to `patienceMs`. */
export async function withLock<T>(
  path: string,
  host: Host,
  action: () => Promise<T>,
  patienceMs = 10_000,
): Promise<T> {
  const lock = await acquireLock(path, host, {patienceMs});
  return action().finally(() => lock.release());
}

interface LockFile {
  holder: Holder | undefined;
  state: 'alive' | 'dead' | 'unknown';
  renewedAt: bigint;
  ageMs: number;
}

/** A lock that this process takes, holds and releases. */
export class Lock {
  readonly holder: Holder;
  /** The previous holder, if it had not released the lock. */
  replaced: Holder | undefined;
  readonly path: string;
  /** A file beside the lock that becomes it. */
  readonly #candidate: string;
  readonly #host: Host;
  readonly #options: LockOptions;
  /** Whether nobody can tell from here if another process is removing the lock of a dead holder. */
  #isBreakerUnknown = false;
  /** The first state that was found of a holder that cannot be judged from here, and when. */
  #first: {lockFile: LockFile; at: number} | undefined;

  constructor(path: string, host: Host, options: LockOptions) {
    this.holder = holderHere(host);
    this.path = path;
    // The name of the lock may be nearly as long as names can be.
    this.#candidate = join(dirname(path), `.media-${this.holder.token}`);
    this.#host = host;
    this.#options = options;
  }

  /** Waits for the lock and takes it. A hard link appears complete or not at all: no process can read half a lock. */
  async take(): Promise<this> {
    const {files} = this.#host;
    try {
      await files.writeFile(this.#candidate, JSON.stringify(this.holder), {mode: 0o600, flag: 'wx'});
      await this.#linkInTurn();
      return this;
    } finally {
      await files.rm(this.#candidate, {force: true});
    }
  }

  /** Whether this process still holds the lock. */
  async isOurs(): Promise<boolean> {
    return (await holderOf(this.#host.files, this.path))?.token === this.holder.token;
  }

  /** Renews the lock, if this process still holds it: the file's time shows others that the process is alive. */
  async renew(): Promise<void> {
    const handle = await this.#host.files.open(this.path, 'r+').catch(() => undefined);
    try {
      // The check and the write use one descriptor, so that a file that replaced it is never written to.
      if (handle === undefined) return;
      const content = parseObject(await handle.readFile('utf8'));
      if (content?.['token'] === this.holder.token) await handle.write(JSON.stringify(this.holder), 0);
    } finally {
      await handle?.close();
    }
  }

  /** Renews the lock; resolves to the time, in milliseconds, that its file system gives to the write. */
  async touchedAt(): Promise<number> {
    await this.renew();
    return (await this.#host.files.stat(this.path)).mtimeMs;
  }

  /** Releases the lock, if this process still holds it. */
  async release(): Promise<void> {
    if (await this.isOurs()) await this.#host.files.rm(this.path, {force: true});
  }

  /** Tries until the lock is taken; throws LockHeld when the patience for its present holder has passed. */
  async #linkInTurn(): Promise<void> {
    const {clock, random} = this.#host;
    let since = clock.monotonic();
    let state: string | undefined;
    while (!(await this.#tryLink(this.path))) {
      const lockFile = await this.#readLock(this.path);
      if (lockFile === undefined) continue;
      const isGone = this.#isGone(lockFile);
      // Counted anew for each holder, and from when it is known to be gone.
      if (state !== `${isGone} ${lockFile.holder?.token}`) since = clock.monotonic();
      state = `${isGone} ${lockFile.holder?.token}`;
      if (isGone && (await this.#remove(lockFile))) {
        this.replaced = lockFile.holder;
        continue;
      }
      // Other processes may be removing a dead lock, which takes them very little time.
      const patience = Math.max(this.#options.patienceMs ?? 0, isGone ? breakerPatienceMs : 0);
      const isWaiting = isGone
        ? this.#isBreakerUnknown && clock.monotonic() - since < staleMs + breakerPatienceMs
        : lockFile.state === 'unknown' && this.#waitsFor(lockFile);
      if (!isWaiting && clock.monotonic() - since >= patience) throw new LockHeld(this.path, lockFile.holder);
      await clock.sleep(isWaiting ? pollMs : 5 + 20 * random(), this.#options.stop);
    }
  }

  /** Whether the holder may be replaced: it is dead, or it cannot be judged and was silent for 90 s. */
  #isGone(lockFile: LockFile): boolean {
    const {state, ageMs} = lockFile;
    return state === 'unknown'
      ? Math.max(ageMs, this.#msWithoutRenewal(lockFile)) >= staleMs
      : state === 'dead';
  }

  /** Whether to keep waiting for this holder: until it renews its lock, which shows that it is alive. */
  #waitsFor(lockFile: LockFile): boolean {
    const {onUnknownHolder} = this.#options;
    if (onUnknownHolder === undefined) return false;
    if (this.#first === undefined) onUnknownHolder(lockFile.holder);
    this.#first ??= {lockFile, at: this.#host.clock.monotonic()};
    return this.#first.lockFile.renewedAt === lockFile.renewedAt;
  }

  /** How long this process has waited without a renewal: if the clock was set back, the file's age means nothing. */
  #msWithoutRenewal({renewedAt}: LockFile): number {
    const first = this.#first;
    return first?.lockFile.renewedAt === renewedAt ? this.#host.clock.monotonic() - first.at : 0;
  }

  /** The lock file at a path; undefined if it is gone. The age is measured only where the holder is `unknown`. */
  async #readLock(path: string): Promise<LockFile | undefined> {
    // Not stat: a link that leads nowhere has to be waited for, too.
    const there = await this.#host.files.lstat(path, {bigint: true}).catch(() => undefined);
    if (there === undefined) return undefined;
    const holder = await holderOf(this.#host.files, path);
    let state = holder === undefined ? 'unknown' : stateOf(holder, this.#host);
    if (holder !== undefined && state === 'unknown')
      state = (await this.#options.stateOfUnknown?.(holder)) ?? state;
    if (state !== 'unknown') return {holder, state, renewedAt: there.mtimeNs, ageMs: 0};
    // Compares with a file that was written just now on the same file system, so that the clocks of two machines are
    // never compared.
    await this.#host.files.writeFile(this.#candidate, await this.#host.files.readFile(this.#candidate));
    const now = await this.#host.files.stat(this.#candidate, {bigint: true});
    return {holder, state, renewedAt: there.mtimeNs, ageMs: Number(now.mtimeNs - there.mtimeNs) / 1e6};
  }

  /** Removes a dead lock under the breaker lock, so that no new lock is removed. A dead breaker is replaced too. */
  async #remove(lockFile: LockFile): Promise<boolean> {
    const breaker = `${this.path}.breaker`;
    if (!(await this.#tryLink(breaker))) {
      const other = await this.#readLock(breaker);
      if (other !== undefined && this.#isGone(other)) await this.#host.files.rm(breaker, {force: true});
      // A power cut may have left half of it.
      this.#isBreakerUnknown = other?.state === 'unknown' && this.#options.onUnknownHolder !== undefined;
      return false;
    }
    try {
      const now = await this.#readLock(this.path);
      const isSame = now?.holder?.token === lockFile.holder?.token && now?.renewedAt === lockFile.renewedAt;
      if (isSame) await this.#host.files.rm(this.path, {force: true});
      return isSame;
    } finally {
      await this.#host.files.rm(breaker, {force: true});
    }
  }

  /** Creates the file at this path from the candidate; false if the path is taken. */
  async #tryLink(path: string): Promise<boolean> {
    try {
      await this.#host.files.link(this.#candidate, path).catch(error => {
        if (!isWithoutHardLinks(error)) throw error;
        // A copy is as exclusive. A process that reads it half-written does not take it for dead.
        return this.#host.files.copyFile(this.#candidate, path, constants.COPYFILE_EXCL);
      });
      return true;
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error;
      return false;
    }
  }
}

/** The holder in a lock file; undefined if the file is missing, half-written or damaged. */
async function holderOf(files: FileSystem, path: string): Promise<Holder | undefined> {
  const holder = parseObject(await files.readFile(path, 'utf8').catch(() => ''));
  return holder !== undefined && hasShape(holder, holderShape) ? holder : undefined;
}
