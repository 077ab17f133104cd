import {dirname} from 'node:path';
import {MediaError} from '../../errors.ts';
import {command, hint} from '../../hint.ts';
import type {Host} from '../../host.ts';
import {syncDirectory} from '../../lib/files/durable.ts';
import {diskKind} from '../../lib/files/file-system.ts';
import {type Holder, holderText, stateOf} from '../../lib/files/holder.ts';
import {acquireLock, type Lock, LockHeld, type LockOptions, pollMs, staleMs} from '../../lib/files/lock.ts';
import {resolveUserPath} from '../../lib/files/typed-path.ts';
import {systemCode} from '../../lib/system-code.ts';
import {journalAccessError, journalInUseError, unusableJournalError} from './journal-errors.ts';
import {
  appendAll,
  emptyHandle,
  type JournalHandle,
  openError,
  openJournalFile,
  undefinedIfMissing,
} from './journal-file.ts';
import type {JournalManifest} from './journal-memory.ts';
import {formatHeader, formatWriterLine, type Scope} from './line.ts';
import {JournalLog} from './log.ts';
import {JournalReader} from './reader.ts';
import {type Recovery, recover} from './recovery.ts';
import {Journal} from './run-journal.ts';
import {requireSameScope, requireSameService, type ServiceQuestions} from './scope.ts';
import {WriterCheck} from './writer-check.ts';

export interface JournalOptions extends WaitOptions, ServiceQuestions {
  /** The scope of the run; the journal must have the same. Without a scope, the journal must exist. */
  scope?: Scope | undefined;
  /** Whether to index paths; by default only without a scope. */
  paths?: boolean;
  /** The manifest that the journal belongs to. If so, the first upload creates the journal, and close() removes it. */
  manifest?: JournalManifest | undefined;
}

interface Opening {
  absolute: string;
  displayPath: string;
  host: Host;
  options: JournalOptions;
  lock: Lock;
  recovery: Recovery;
}

/**
 * Opens or creates a journal for a run, and locks other runs out until close(). Rejects, with the file unchanged, if
 * another run uses the journal, or if it is damaged, not a journal, or of another version, service or shard.
 */
export async function openJournal(path: string, host: Host, options: JournalOptions = {}): Promise<Journal> {
  const absolute = resolveUserPath(host.cwd(), path);
  const lock = await lockJournal(absolute, path, host, options);
  // One call on another thread per group of lines instead of two. Only Linux flushes the disk's cache with O_DSYNC.
  const syncsWrites = host.platform === 'linux';
  const {scope, manifest} = options;
  const user = manifest === undefined ? host : undefined;
  const openFile = (access: 'write' | 'create') =>
    openJournalFile(host.files, absolute, path, access, {syncsWrites, user});
  let handle: JournalHandle | undefined;
  try {
    const seed = await manifest?.load();
    handle = await (seed === undefined
      ? openFile(scope === undefined ? 'write' : 'create')
      : openFile('write').catch(undefinedIfMissing));
    const recovery = await recover(handle ?? emptyHandle, path, {
      paths: options.paths ?? scope === undefined,
      seed,
    });
    const opening: Opening = {absolute, displayPath: path, host, options, lock, recovery};
    requireUsable(opening);
    if (handle !== undefined) await waitForWriter(opening, handle);
    await requireSameService(recovery.scope, options, manifest?.displayPath ?? path, manifest && 'manifest');
    /** Becomes the writer of the open file. */
    const startWriting = async (opened: JournalHandle) => {
      const check = await becomeWriter(opening, opened);
      const {isRemote, isLocal} = await diskKind(host.files, absolute);
      return {handle: opened, check, isRemote, syncsWrites: syncsWrites && isLocal};
    };
    /** Creates the file when the first line is to be written. */
    const create = async () => {
      reader.handle = handle = await openFile('create');
      return startWriting(handle).catch(async error => {
        await handle?.close();
        throw error;
      });
    };
    const file = handle === undefined ? create : await startWriting(handle);
    const reader = new JournalReader(path, recovery, handle ?? emptyHandle);
    const log = new JournalLog({file, lock, index: recovery.index, displayPath: path, host});
    return new Journal(reader, log, host, manifest);
  } catch (error) {
    await Promise.allSettled([handle?.close(), lock.release()]);
    const isSystemError = !(error instanceof MediaError) && systemCode(error) !== undefined;
    throw isSystemError ? journalAccessError(path, 'written', error) : error;
  }
}

/** Throws if the scopes of journal and run differ, or if a run without a scope finds an empty journal. */
function requireUsable({recovery: {scope}, displayPath, options}: Opening): void {
  const {scope: runScope, manifest} = options;
  if (scope !== undefined && runScope !== undefined)
    requireSameScope(scope, runScope, manifest?.displayPath ?? displayPath, manifest && 'manifest');
  if (scope === undefined && runScope === undefined && manifest === undefined)
    throw unusableJournalError(`The journal ${displayPath} is empty`, hint`${command('uploadWithJournal')}`);
}

/** Appends the `open` line, after which earlier writers send nothing, then reads all lines before it. */
async function becomeWriter(opening: Opening, handle: JournalHandle): Promise<WriterCheck> {
  const {absolute, displayPath, host, options, lock, recovery} = opening;
  const {unfinishedLine, next} = recovery;
  // The header of a seed is not in the file.
  const scope = next.offset === 0 && unfinishedLine === undefined ? undefined : recovery.scope;
  const runScope = options.scope && {...options.scope, ...recovery.scope};
  const isNew = scope === undefined && runScope !== undefined;
  const lineBreak = unfinishedLine === undefined ? '' : '\n';
  const header = isNew ? formatHeader(runScope) : '';
  const bytes = Buffer.from(
    `${lineBreak}${header}${formatWriterLine('open', lock.holder, host.clock.now())}`,
  );
  await appendAll(handle, bytes);
  // This run relies on lines that a killed run may have written but not synced.
  await handle.datasync();
  if (isNew) await syncDirectory(dirname(absolute), host.files);
  const check = new WriterCheck(
    {files: host.files, handle, path: absolute, displayPath},
    lock.holder.token,
    next.offset + (unfinishedLine?.bytes.length ?? 0),
  );
  check.verifyAppend(bytes);
  await recovery.read(handle);
  requireUsable(opening);
  if (recovery.writer?.by !== lock.holder.token) {
    // Two runs opened the journal at the same moment, and the other run was last.
    throw journalInUseError(displayPath, recovery.writer?.holder);
  }
  return check;
}

/** How a run waits for a journal that another run may use. */
interface WaitOptions extends Pick<LockOptions, 'patienceMs' | 'stop'> {
  /** Receives a sentence for the user when the run waits, and when it has taken the journal over. */
  note?: ((text: string) => void) | undefined;
}

/** Locks a journal. For a holder on another machine, waits until it renews its lock, or was silent for 90 s. */
export async function lockJournal(
  absolute: string,
  displayPath: string,
  host: Host,
  {note = () => {}, ...patience}: WaitOptions = {},
): Promise<Lock> {
  try {
    const onUnknownHolder = (holder: Holder | undefined) => note(waitingNote(displayPath, holder));
    const lock = await acquireLock(`${absolute}.lock`, host, {...patience, onUnknownHolder});
    const {replaced} = lock;
    if (replaced !== undefined && stateOf(replaced, host) === 'unknown')
      note(takeoverNote(displayPath, replaced));
    return lock;
  } catch (error) {
    if (error instanceof LockHeld) throw journalInUseError(displayPath, error.holder);
    throw patience.stop?.aborted ? error : openError(displayPath, error);
  }
}

/** If the last writer has not recorded its end, waits until it is certainly gone; rejects if it is alive or writes. */
async function waitForWriter(opening: Opening, handle: JournalHandle): Promise<void> {
  const {displayPath, host, lock, recovery} = opening;
  const {writer} = recovery;
  const {note = () => {}, stop} = opening.options;
  if (writer === undefined) return;
  const {holder} = writer;
  const state = holder === undefined ? 'unknown' : stateOf(holder, host);
  if (state === 'dead' || lock.replaced?.token === writer.by) return;
  if (state === 'alive') throw journalInUseError(displayPath, holder);
  const statsBefore = await handle.stat();
  const start = host.clock.monotonic();
  let isAnnounced = false;
  // Waits this long at most: if the clock was set back, the age of the file means nothing.
  while (host.clock.monotonic() - start < staleMs) {
    const {size, mtimeMs} = await handle.stat();
    if (size !== statsBefore.size) throw journalInUseError(displayPath, holder);
    // Compares two times of one file server, never the clocks of two machines.
    if ((await lock.touchedAt()) - mtimeMs >= staleMs) break;
    if (!isAnnounced) note(waitingNote(displayPath, holder));
    isAnnounced = true;
    await host.clock.sleep(pollMs, stop);
  }
  note(takeoverNote(displayPath, holder));
}

function waitingNote(displayPath: string, holder: Holder | undefined): string {
  return `Waiting: the journal ${displayPath} is held by ${holderText(holder)}, which may still be running. If it shows no activity for 90 s, this run takes the journal over.`;
}

function takeoverNote(displayPath: string, holder: Holder | undefined): string {
  return `The journal ${displayPath} was taken over from ${holderText(holder)}.`;
}
