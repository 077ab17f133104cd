import {constants} from 'node:fs';
import {copyFile, link, readFile, rm, writeFile} from 'node:fs/promises';
import {MediaError, systemCode} from '../errors.ts';
import type {Host} from '../host.ts';
import {parseObject} from './json.ts';
import {hasShape, isString, optional, type Shape} from './shape.ts';

/** The process that a lock belongs to. */
export interface Holder {
  pid: number;
  hostName: string;
  /** Tells it from an earlier process of the same id. */
  token?: string;
}

const holderShape: Shape<Holder> = {
  pid: (value): value is number => Number.isInteger(value),
  hostName: isString,
  token: optional(isString),
};

/** Thrown when a lock stays with another process; `holder` is unknown where the lock could not be read. */
export class LockHeld extends Error {
  readonly holder: Holder | undefined;

  constructor(path: string, holder: Holder | undefined) {
    super(`${path} is held by another process.`);
    this.holder = holder;
  }
}

const waitMs = 10_000;

/** What FAT and some network shares say. */
const noHardLinks = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

const breakerPatienceMs = 2_000;

/**
 * Runs `action` while no other process runs one under the same lock file. A holder that died on this machine is
 * replaced at once; a living one is waited for, up to 10 s.
 */
export async function withLock<T>(path: string, host: Host, action: () => Promise<T>): Promise<T> {
  const release = await acquireLock(path, host, waitMs).catch(error => {
    if (!(error instanceof LockHeld)) throw error;
    throw new MediaError('config_unusable', error.message, {
      hint: 'Wait until the other media command has ended, then try again; if there is none, remove that file.',
    });
  });
  try {
    return await action();
  } finally {
    await release();
  }
}

/**
 * Takes a lock and resolves to the function that gives it back. A holder that died on this machine is replaced at
 * once; a living one is waited for up to `patienceMs` milliseconds, then rejects with LockHeld.
 */
export async function acquireLock(path: string, host: Host, patienceMs = 0): Promise<() => Promise<void>> {
  const candidate = `${path}.${host.uuid()}`;
  const holder: Holder = {pid: host.processId(), hostName: host.hostName(), token: host.processToken()};
  try {
    await writeFile(candidate, JSON.stringify(holder), {mode: 0o600, flag: 'wx'});
    await acquire(candidate, path, host, patienceMs);
  } finally {
    await rm(candidate, {force: true});
  }
  return () => rm(path, {force: true});
}

/** A hard link appears whole or not at all, so no process ever reads half a lock. */
async function acquire(candidate: string, path: string, host: Host, patienceMs: number): Promise<void> {
  const start = host.clock.monotonic();
  while (!(await linked(candidate, path))) {
    const found = await removeIfDead(candidate, path, host);
    if (found === 'removed') continue;
    // Others may be at work on a dead lock; that takes them no time that anybody would notice.
    const patience = found === 'dead' ? Math.max(patienceMs, breakerPatienceMs) : patienceMs;
    if (host.clock.monotonic() - start >= patience) throw new LockHeld(path, await holderOf(path));
    await host.clock.sleep(5 + 20 * host.random());
  }
}

async function linked(candidate: string, path: string): Promise<boolean> {
  try {
    await link(candidate, path);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    if (!noHardLinks.has(systemCode(error) ?? '')) throw error;
  }
  return copied(candidate, path);
}

/** Where there are no hard links: as exclusive, but a lock may be read before its content is there, and is not dead then. */
async function copied(candidate: string, path: string): Promise<boolean> {
  try {
    await copyFile(candidate, path, constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    return false;
  }
}

/**
 * Only who holds the breaker removes a lock, so that a lock found dead is still that dead one when it goes. A process
 * that died with the breaker in hand is found dead in turn.
 */
async function removeIfDead(
  candidate: string,
  path: string,
  host: Host,
): Promise<'alive' | 'dead' | 'removed'> {
  if (!(await isDead(path, host))) return 'alive';
  const breaker = `${path}.breaker`;
  if (!(await linked(candidate, breaker))) {
    if (await isDead(breaker, host)) await rm(breaker, {force: true});
    return 'dead';
  }
  try {
    if (await isDead(path, host)) await rm(path, {force: true});
  } finally {
    await rm(breaker, {force: true});
  }
  return 'removed';
}

async function isDead(path: string, host: Host): Promise<boolean> {
  const holder = await holderOf(path);
  if (holder === undefined || holder.hostName !== host.hostName()) return false;
  // Pids are few in containers: a restarted one finds its own in the lock of the process before it.
  if (holder.pid === host.processId()) return holder.token !== host.processToken();
  return !host.isProcessAlive(holder.pid);
}

async function holderOf(path: string): Promise<Holder | undefined> {
  const holder = parseObject(await readFile(path, 'utf8').catch(() => ''));
  return holder !== undefined && hasShape(holder, holderShape) ? holder : undefined;
}
