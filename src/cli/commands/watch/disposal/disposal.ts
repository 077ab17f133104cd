import type {BigIntStats} from 'node:fs';
import type {FileHandle} from 'node:fs/promises';
import type {FileStat} from '../../../../engine/sources/open/source.ts';
import {
  comparisonOf,
  type LeftOut,
  type UploadResult,
  unrecordedOf,
} from '../../../../engine/transfer/outcome.ts';
import type {Host, StopSignal} from '../../../../host.ts';
import {constants, type FileSystem} from '../../../../lib/files/file-system.ts';
import {limitConcurrency} from '../../../../lib/limited.ts';
import {systemCode} from '../../../../lib/system-code.ts';
import type {Session} from '../../../session/session.ts';
import {type Placement, place} from './place.ts';
import {hasWriter} from './writers.ts';

/** What is done with a file once its record is confirmed. */
export type Disposal = 'keep' | 'delete' | {moveTo: string};

/** A file that the service has, and its path below the watched directory. */
export interface UploadedFile {
  path: string;
  relative: string;
  /** The state that was uploaded; undefined if it had not settled, so that a later change may not show. */
  stat: FileStat | undefined;
  outcome: UploadResult;
}

/** The result for a file; `kept`: why it stays although it was to go, as a sentence. */
export type DisposalResult = 'stays' | 'deleted' | {movedTo: string} | {kept: string} | LeftReason;

/** Why a file was not disposed of: it is no longer the file that was uploaded, or a program has it open for writing. */
type LeftReason = 'changed' | 'gone' | 'open';

/** The shortest time between the record of a file and its disposal, in ms: programs pause while they write. */
const shortestWaitMs = 10_000;
/** Files that are due in the same second share one look at the processes. */
const tickMs = 1_000;
const mostAtATime = 32;

interface DisposalOptions {
  host: Pick<Host, 'clock' | 'files'>;
  stdout: {hasEnded: boolean};
  settleMs: number;
  stop: StopSignal;
}

/** Moves or deletes files that are certainly stored; the only place that decides about it. */
export class Disposals {
  readonly #disposal: Disposal;
  readonly #options: DisposalOptions;
  readonly #inTurn = limitConcurrency(mostAtATime);
  /** The outcomes from memory whose files the service still has. */
  readonly #confirmed = new WeakSet<UploadResult>();

  constructor(disposal: Disposal, options: DisposalOptions) {
    this.#disposal = disposal;
    this.#options = options;
  }

  get areWanted(): boolean {
    return this.#disposal !== 'keep';
  }

  /** Asks the service whether it still has a file that the journal knows as stored; rejects if it does not say. */
  confirm(outcome: UploadResult | LeftOut, session: Session | undefined): Promise<void> | undefined {
    if (!this.areWanted || session === undefined || outcome.status !== 'skipped') return undefined;
    const {record, size = 0} = outcome;
    return this.#inTurn(async () => {
      const isThere = await session.client.isStored(record, size, this.#options.stop);
      if (isThere) this.#confirmed.add(outcome);
    });
  }

  /** Disposes of a file when nobody has written to it for a while. Calls `onWriter` while a program writes to it. */
  async dispose(file: UploadedFile, onWriter: () => void): Promise<DisposalResult> {
    const {host, settleMs, stop} = this.#options;
    const {clock} = host;
    const journalError = unrecordedOf(file.outcome);
    // Without a line in the journal, another run would not know that the file is stored: it stays.
    if (journalError !== undefined) throw journalError;
    if (!this.areWanted) return 'stays';
    const mismatch = comparisonOf(file.outcome)?.error;
    if (mismatch !== undefined) return {kept: mismatch.message};
    if (file.outcome.status === 'skipped' && !this.#confirmed.has(file.outcome))
      return {kept: 'It was uploaded before, and the service did not confirm that it still has the file.'};
    for (;;) {
      const now = clock.monotonic();
      const due = Math.ceil((now + Math.max(settleMs, shortestWaitMs)) / tickMs) * tickMs;
      await clock.sleep(due - now, stop);
      const disposed = await this.#inTurn(() => this.#attempt(file));
      if (disposed !== 'open') return disposed;
      onWriter();
    }
  }

  /** Disposes of a file that is still as it was uploaded and open in no writer; else resolves to the reason. */
  async #attempt(file: UploadedFile): Promise<DisposalResult> {
    const {files} = this.#options.host;
    if (this.#options.stdout.hasEnded) return {kept: 'Its outcome could not be printed.'};
    // Not through a link, and without waiting for the writer of a FIFO.
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    let handle: FileHandle | undefined;
    try {
      handle = await files.open(file.path, flags);
      if (!isUploaded(await handle.stat({bigint: true}), file)) return 'changed';
      return (await hasWriter(handle.fd, files)) ? 'open' : await this.#dispose(file, handle);
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return 'gone';
      if (systemCode(error) === 'ELOOP') return 'changed';
      throw error;
    } finally {
      await handle?.close();
    }
  }

  /** Deletes a file; to move it, first makes its second name or copy, so that no failure loses the file. */
  async #dispose(file: UploadedFile, handle: FileHandle): Promise<DisposalResult> {
    const disposal = this.#disposal;
    const {files} = this.#options.host;
    let placement: Placement | undefined;
    if (typeof disposal === 'object') {
      placement = await place(file.path, handle, {...disposal, relative: file.relative}, files);
      if (placement === undefined) return {kept: `It is below ${disposal.moveTo} already.`};
    }
    let removal: 'deleted' | LeftReason = 'changed';
    try {
      removal = await remove(file, handle, placement, files);
    } finally {
      // Only a copy is removed again. A second name of the file may be its last one by now, if another process has
      // moved it.
      if (removal !== 'deleted' && placement?.isCopy) await files.unlink(placement.path);
    }
    return removal === 'deleted' && placement !== undefined ? {movedTo: placement.path} : removal;
  }
}

/** Removes a file from its path if that still leads to our descriptor, and its content is the one that was uploaded. */
async function remove(
  file: UploadedFile,
  handle: FileHandle,
  placement: Placement | undefined,
  files: FileSystem,
): Promise<'deleted' | LeftReason> {
  // Copying takes time, in which a program may have opened the file.
  if (placement?.isCopy && (await hasWriter(handle.fd, files))) return 'open';
  const here = await handle.stat({bigint: true});
  // The link that this process made has changed the ctime, so the current one is compared.
  const then = placement?.isCopy === false && file.stat ? {...file.stat, ctimeNs: here.ctimeNs} : file.stat;
  if (!isUploaded(here, {...file, stat: then})) return 'changed';
  const there = await files.lstat(file.path, {bigint: true}).catch(error => {
    if (systemCode(error) !== 'ENOENT' || placement?.isCopy !== false) throw error;
  });
  // The path is gone: another process has moved the file to the same second name, so that name must stay.
  if (there === undefined) return 'deleted';
  if (!isUploaded(there, {...file, stat: here})) return 'changed';
  await files.unlink(file.path).catch(error => {
    // NFS may say that there is no such file although it has just removed it for this process.
    if (systemCode(error) !== 'ENOENT') throw error;
  });
  return 'deleted';
}

/** Whether this is the uploaded file and nobody has written to it since; never if it had not settled. */
function isUploaded(now: BigIntStats, {stat, outcome}: UploadedFile): boolean {
  const isSame = (['dev', 'ino', 'mtimeNs', 'ctimeNs'] as const).every(field => now[field] === stat?.[field]);
  return stat !== undefined && isSame && now.size === BigInt(outcome.size ?? -1);
}
