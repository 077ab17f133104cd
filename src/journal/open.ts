import {dirname} from 'node:path';
import {MediaError} from '../errors.ts';
import type {Host} from '../host.ts';
import {syncDirectory} from '../lib/files/durable.ts';
import {diskKind} from '../lib/files/file-system.ts';
import type {Lock} from '../lib/files/lock.ts';
import {typedPath} from '../lib/files/typed-path.ts';
import {systemCode} from '../lib/system-code.ts';
import {inUse, journalCodes, journalFailed, unusable} from './file/errors.ts';
import {Fence} from './file/fence.ts';
import {appendAll, type JournalHandle, openJournalFile} from './file/file.ts';
import {formatHeader, formatWriterLine, type Scope} from './file/lines.ts';
import {type Identify, refuseOtherScope, refuseOtherStore} from './file/scope.ts';
import {lockJournal, type Patience, waitForWriter} from './file/takeover.ts';
import {JournalLog} from './log.ts';
import {JournalReader} from './reading/reader.ts';
import {type Recovery, recover} from './reading/recovery.ts';
import {Journal} from './run-journal.ts';
import {type RunJournal, SharedJournal} from './shared.ts';

export interface JournalOptions extends Patience {
  /** The scope of the run, which the journal must have. Without a scope, only an existing journal is opened. */
  scope?: Scope;
  /** Asks which service is there. A journal that knows its own is refused if it is another one, or if it does not say. */
  identify?: Identify | undefined;
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
    handle = await openJournalFile(host.files, absolute, path, access, {syncsWrites});
    const recovery = await recover(handle, path, {paths: options.paths ?? options.scope === undefined});
    const opening: Opening = {absolute, shown: path, handle, lock, recovery};
    refuseUnfit(recovery, path, options.scope);
    const {writer} = recovery;
    if (writer !== undefined) await waitForWriter({handle, lock, shown: path, writer}, host, options);
    await refuseOtherStore(recovery.scope, options.identify, path);
    const fence = await enter(opening, host, options.scope);
    const {isRemote, isLocal} = await diskKind(host.files, absolute);
    const log = new JournalLog({
      ...{handle, fence, lock, index: recovery.index, shown: path, host, isRemote},
      syncsWrites: syncsWrites && isLocal,
    });
    return new Journal({reader: new JournalReader(path, recovery, handle), log, lock, host});
  } catch (error) {
    await Promise.allSettled([handle?.close(), lock.release()]);
    const isSystems = !(error instanceof MediaError) && systemCode(error) !== undefined;
    throw isSystems ? journalFailed(path, 'written', error) : error;
  }
}

/**
 * Opens a journal that is held only while it is used: after 2 s without use, other runs may have it. `inUseHint`: what
 * to do while another run has it.
 */
export async function openSharedJournal(
  path: string,
  host: Host,
  {inUseHint, identify, ...options}: JournalOptions & {inUseHint: string},
): Promise<RunJournal> {
  const open = (asking: {identify?: Identify | undefined} = {}) =>
    openJournal(path, host, {...options, ...asking}).catch(error => {
      const isInUse = error instanceof MediaError && error.code === journalCodes.inUse;
      throw isInUse ? error.reworded({hint: inUseHint}) : error;
    });
  return new SharedJournal(() => open(), await open({identify}), host.clock);
}

function refuseUnfit({scope: there}: Recovery, shown: string, asked: Scope | undefined): void {
  if (there !== undefined && asked !== undefined) refuseOtherScope(there, asked, shown);
  if (there === undefined && asked === undefined)
    throw unusable(`The journal ${shown} is empty`, 'Upload with --journal FILE first.');
}

/**
 * Appends the opening line of this writer, then reads everything before it: earlier writers cannot send anything after
 * that line.
 */
async function enter(
  {absolute, shown, handle, lock, recovery}: Opening,
  host: Host,
  asked: Scope | undefined,
): Promise<Fence> {
  const {rest, next, scope} = recovery;
  const isNew = scope === undefined && asked !== undefined;
  const lineBreak = rest === undefined ? '' : '\n';
  const header = isNew ? `${formatHeader(asked)}\n` : '';
  const bytes = Buffer.from(
    `${lineBreak}${header}${formatWriterLine('open', lock.holder, host.clock.now())}`,
  );
  try {
    await appendAll(handle, bytes);
    // From now on, this run relies on lines that a killed run may have left in memory only.
    await handle.datasync();
    if (isNew) await syncDirectory(dirname(absolute), host.files);
  } catch (error) {
    throw journalFailed(shown, 'written', error);
  }
  const fence = new Fence(
    {files: host.files, handle, path: absolute, shown},
    lock.holder.token,
    next.offset + (rest?.bytes.length ?? 0),
  );
  fence.look(bytes);
  await recovery.read(handle);
  refuseUnfit(recovery, shown, asked);
  if (recovery.writer?.by !== lock.holder.token) throw takenAtOnce(recovery, shown);
  return fence;
}

/** Two runs began at the same moment, and the other one was last. */
function takenAtOnce({writer}: Recovery, shown: string): MediaError {
  return inUse(shown, writer?.holder);
}
