import {dirname} from 'node:path';
import {MediaError} from '../errors.ts';
import type {Host} from '../host.ts';
import {syncDirectory} from '../lib/files/durable.ts';
import {diskKind} from '../lib/files/file-system.ts';
import {type Holder, holderText, stateOf} from '../lib/files/holder.ts';
import {acquireLock, type Lock, LockHeld, type LockOptions, pollMs, staleMs} from '../lib/files/lock.ts';
import {typedPath} from '../lib/files/typed-path.ts';
import {systemCode} from '../lib/system-code.ts';
import {inUse, journalFailed, unusable} from './errors.ts';
import {appendAll, cannotOpen, type JournalHandle, openJournalFile} from './file.ts';
import {formatHeader, formatWriterLine, type Scope} from './line.ts';
import {JournalLog} from './log.ts';
import {JournalReader} from './reader.ts';
import {type Recovery, recover} from './recovery.ts';
import {Journal} from './run-journal.ts';
import {requireSameScope, requireSameService, type ServiceQuestions} from './scope.ts';
import {WriterCheck} from './writer-check.ts';

export interface JournalOptions extends Patience, ServiceQuestions {
  /** The scope of the run, which the journal must have. Without a scope, only an existing journal is opened. */
  scope?: Scope;
  /** Whether to index paths; true by default without a scope. */
  paths?: boolean;
}

interface Opening {
  absolute: string;
  shown: string;
  handle: JournalHandle;
  lock: Lock;
  recovery: Recovery;
}

/**
 * Opens a journal for a run, or creates it, and keeps other runs off it until close(). Rejects before anything is
 * written if another run holds it, or if the file is not a journal, of another version, service or shard, or damaged.
 */
export async function openJournal(path: string, host: Host, options: JournalOptions = {}): Promise<Journal> {
  const absolute = typedPath(host.cwd(), path);
  const lock = await lockJournal(absolute, path, host, options);
  // One call on another thread for each group of lines instead of two. Others than Linux do not flush the disk's own memory then.
  const syncsWrites = host.platform === 'linux';
  let handle: JournalHandle | undefined;
  try {
    const access = options.scope === undefined ? 'write' : 'create';
    handle = await openJournalFile(host.files, absolute, path, access, {syncsWrites, user: host});
    const recovery = await recover(handle, path, {paths: options.paths ?? options.scope === undefined});
    const opening: Opening = {absolute, shown: path, handle, lock, recovery};
    refuseUnfit(recovery, path, options.scope);
    await waitForWriter(opening, host, options);
    await requireSameService(recovery.scope, options, path);
    const check = await enter(opening, host, options.scope);
    const {isRemote, isLocal} = await diskKind(host.files, absolute);
    const log = new JournalLog({
      ...{handle, check, lock, index: recovery.index, shown: path, host, isRemote},
      syncsWrites: syncsWrites && isLocal,
    });
    return new Journal(new JournalReader(path, recovery, handle), log, host);
  } catch (error) {
    await Promise.allSettled([handle?.close(), lock.release()]);
    const isSystems = !(error instanceof MediaError) && systemCode(error) !== undefined;
    throw isSystems ? journalFailed(path, 'written', error) : error;
  }
}

function refuseUnfit({scope: there}: Recovery, shown: string, asked: Scope | undefined): void {
  if (there !== undefined && asked !== undefined) requireSameScope(there, asked, shown);
  if (there === undefined && asked === undefined)
    throw unusable(`The journal ${shown} is empty`, 'Upload with --journal FILE first.');
}

/** Appends the opening line, after which earlier writers send nothing, and reads everything before it. */
async function enter(
  {absolute, shown, handle, lock, recovery}: Opening,
  host: Host,
  asked: Scope | undefined,
): Promise<WriterCheck> {
  const {rest, next, scope} = recovery;
  const isNew = scope === undefined && asked !== undefined;
  const lineBreak = rest === undefined ? '' : '\n';
  const header = isNew ? formatHeader(asked) : '';
  const bytes = Buffer.from(
    `${lineBreak}${header}${formatWriterLine('open', lock.holder, host.clock.now())}`,
  );
  await appendAll(handle, bytes);
  // From now on, this run relies on lines that a killed run may have left in memory only.
  await handle.datasync();
  if (isNew) await syncDirectory(dirname(absolute), host.files);
  const check = new WriterCheck(
    {files: host.files, handle, path: absolute, shown},
    lock.holder.token,
    next.offset + (rest?.bytes.length ?? 0),
  );
  check.look(bytes);
  await recovery.read(handle);
  refuseUnfit(recovery, shown, asked);
  if (recovery.writer?.by !== lock.holder.token) {
    // Two runs began at the same moment, and the other one was last.
    throw inUse(shown, recovery.writer?.holder);
  }
  return check;
}

/** How a run treats a journal that another run may hold. */
interface Patience extends Pick<LockOptions, 'patienceMs' | 'isGone' | 'stop'> {
  /** Receives a note when the run has to wait, and when it has taken a journal over. */
  note?: ((text: string) => void) | undefined;
}

/** Locks a journal; waits until a holder that cannot be judged from here renews its lock, or was silent for 90 s. */
export async function lockJournal(
  absolute: string,
  shown: string,
  host: Host,
  {note = () => {}, ...patience}: Patience = {},
): Promise<Lock> {
  try {
    const onUnknownHolder = (holder: Holder | undefined) => note(waitingText(shown, holder));
    const lock = await acquireLock(`${absolute}.lock`, host, {...patience, onUnknownHolder});
    const {replaced} = lock;
    if (replaced !== undefined && stateOf(replaced, host) === 'unknown') note(takenText(shown, replaced));
    return lock;
  } catch (error) {
    if (error instanceof LockHeld) throw inUse(shown, error.holder);
    throw patience.stop?.aborted ? error : cannotOpen(shown, error);
  }
}

/** Waits until a last writer without a recorded end is certainly gone; rejects if it is alive, or writes meanwhile. */
async function waitForWriter(
  {recovery: {writer}, lock, shown, handle}: Opening,
  host: Host,
  {note = () => {}, isGone, stop}: Patience,
): Promise<void> {
  if (writer === undefined) return;
  const {holder} = writer;
  const state = holder === undefined ? 'unknown' : stateOf(holder, host);
  if (state === 'dead' || lock.replaced?.token === writer.by) return;
  if (state === 'alive') throw inUse(shown, holder);
  const found = await handle.stat();
  const since = host.clock.monotonic();
  let isAnnounced = false;
  // Where the clock was set back since, the age of the file says nothing: then it is waited for as long here.
  while (!isGone && host.clock.monotonic() - since < staleMs) {
    const {size, mtimeMs} = await handle.stat();
    if (size !== found.size) throw inUse(shown, holder);
    // Compares with the time of a file that is written now, so that the clocks of two machines are never compared.
    if ((await lock.touched()) - mtimeMs >= staleMs) break;
    if (!isAnnounced) note(waitingText(shown, holder));
    isAnnounced = true;
    await host.clock.sleep(pollMs, stop);
  }
  note(takenText(shown, holder));
}

function waitingText(shown: string, holder: Holder | undefined): string {
  return `Waiting: the journal ${shown} is held by ${holderText(holder)}, which may still be running. If it shows no activity for 90 s, this run takes the journal over.`;
}

function takenText(shown: string, holder: Holder | undefined): string {
  return `The journal ${shown} was taken over from ${holderText(holder)}.`;
}
