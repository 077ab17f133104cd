import {join, relative, sep} from 'node:path';
import {Disk} from '../../../engine/sources/open/disk.ts';
import {sourceAt} from '../../../engine/sources/open/file-source.ts';
import type {FileStat} from '../../../engine/sources/open/source.ts';
import type {LeftOut, UploadResult} from '../../../engine/transfer/outcome.ts';
import {MediaError, systemError} from '../../../errors.ts';
import {countText} from '../../../lib/units.ts';
import {isNamedMedia} from '../../../media/type/decide.ts';
import type {Invocation} from '../../session/invocation.ts';
import {type QueueOptions, UploadQueue} from '../upload/upload-queue.ts';
import type {WatchedPlace} from './directory-watch.ts';
import type {DisposalResult, Disposals, UploadedFile} from './disposal/disposal.ts';
import type {WatchPrinter} from './event-printer.ts';
import type {FailedOutcome, FileWork, UploadEnd} from './feed.ts';
import {stateKey, type WatchedState} from './settler.ts';

/** The longest outage that a file waits for in one go; later it is tried again. */
const longestOutageMs = 24 * 3_600_000;

/** Uploads the files of the watched directories, and reports their results. */
export class Uploads implements FileWork {
  readonly #invocation: Invocation;
  readonly #places: readonly WatchedPlace[];
  readonly #printer: WatchPrinter;
  readonly #disposals: Disposals;
  readonly #queue: UploadQueue;
  readonly #disk: Disk;
  /** The media IDs, by path, of uploads that were printed although their files are to be disposed of again. */
  readonly #printedIds = new Map<string, string | null | undefined>();
  /** Why files are kept that were to be moved or deleted, by path. */
  readonly #keepReasons = new Map<string, string>();
  /** Set from the beginning of an outage until the service is back. */
  #cancelReminder: (() => void) | undefined;
  /** How many files are waiting or being uploaded; set when the feed is made, which needs this object. */
  waiting: () => number = () => 0;

  constructor(
    invocation: Invocation,
    places: readonly WatchedPlace[],
    printer: WatchPrinter,
    {disposals, flags}: {disposals: Disposals; flags: QueueOptions['flags']},
  ) {
    this.#invocation = invocation;
    this.#places = places;
    this.#printer = printer;
    this.#disposals = disposals;
    this.#disk = new Disk(invocation.host.files);
    this.#queue = new UploadQueue(invocation, {
      flags: {retryMaxWait: longestOutageMs, ...flags},
      beforeEnd: (outcome, session) => disposals.confirm(outcome, session),
      onUnavailable: since => this.#reportOutage(since !== undefined),
    });
  }

  /** See FileWork.take(). The outcome is printed after the disposal, so that its line can say where the file went. */
  async take(path: string, state: WatchedState): Promise<UploadEnd | FailedOutcome | LeftOut> {
    const place = this.#places.find(({path: directory}) => path.startsWith(`${directory}${sep}`));
    const below = place === undefined ? path : relative(place.path, path);
    const displayPath = place === undefined ? path : join(place.displayPath, below);
    const file = sourceAt(this.#disk, displayPath, path, false);
    let stat: FileStat | undefined;
    const outcome = await this.#queue.add({
      ...file,
      relativePath: below,
      found: {isHidden: false, isNamedMedia: () => isNamedMedia(displayPath)},
      open: async signal => {
        const openFile = await file.open(signal);
        // One that was changed just now may be changed again within the unit of its times, which would not show.
        const isSettled = openFile.stat !== undefined && stateKey(openFile.size, openFile.stat) === state.key;
        stat = isSettled ? openFile.stat : undefined;
        return openFile;
      },
    });
    if (outcome.status === 'left out' || 'error' in outcome) return outcome;
    return this.#finish({path, relative: below, stat, outcome});
  }

  /** Disposes of a file and prints its outcome. */
  async #finish(file: UploadedFile): Promise<UploadEnd> {
    const {path, outcome} = file;
    const keep = (reason: string) => this.#keep(path, outcome, reason);
    let disposed: DisposalResult;
    try {
      disposed = await this.#disposals.dispose(file, () => void keep('A program has it open for writing.'));
    } catch (cause) {
      await this.#printOnce(path, outcome);
      if (cause instanceof MediaError) throw cause;
      throw systemError('local_failure', `${outcome.file} was uploaded, but stays where it is`, cause);
    }
    if (typeof disposed === 'object' && 'kept' in disposed) {
      await keep(disposed.kept);
      return 'asked again';
    }
    if (disposed === 'changed') await keep('It has changed since it was uploaded.');
    else {
      await this.#printer.outcome(outcome, path, disposed);
      this.#keepReasons.delete(path);
    }
    this.#printedIds.delete(path);
    return disposed === 'stays' ? 'stays' : 'left';
  }

  /** Prints the outcome of a file that stays, and why it stays: each once, although the file is tried again. */
  async #keep(path: string, outcome: UploadResult, reason: string): Promise<void> {
    const isReported = this.#keepReasons.get(path) === reason;
    this.#keepReasons.set(path, reason);
    await this.#printOnce(path, outcome);
    if (!isReported) await this.#printer.event({event: 'kept', file: outcome.file, reason});
  }

  /** Prints an outcome, unless this upload was printed before and its file is only tried again. */
  async #printOnce(path: string, outcome: UploadResult): Promise<void> {
    const id = 'record' in outcome ? outcome.record.id : undefined;
    if (this.#printedIds.has(path) && this.#printedIds.get(path) === id) return;
    this.#printedIds.set(path, id);
    await this.#printer.outcome(outcome, path);
  }

  /** See FileWork.reportFailure(). A file that is stored with another record stays, though it was to go. */
  async reportFailure(path: string, outcome: FailedOutcome): Promise<void> {
    this.#printedIds.delete(path);
    const {file: name, status, error} = outcome;
    this.#invocation.report.failure(error, name, true);
    await this.#printer.outcome(outcome, path);
    if (status === 'mismatched' && this.#disposals.areWanted)
      await this.#printer.event({event: 'kept', file: name, reason: error.message});
  }

  reportDelay(error: MediaError, files: number): void {
    void this.#printer.printDelay(error, files);
  }

  /** Ends the uploads; resolves when nothing is in progress. */
  async stop(why: MediaError): Promise<void> {
    this.#cancelReminder?.();
    await this.#queue.stop(why);
  }

  /** Reports at once that the service is unavailable, then every minute, and that it is back. */
  #reportOutage(isAway: boolean, minutes = 0): void {
    this.#cancelReminder?.();
    if (!isAway) {
      if (this.#cancelReminder !== undefined) void this.#printer.event({event: 'available'});
      this.#cancelReminder = undefined;
      return;
    }
    const duration = countText(minutes, 'minute');
    const message =
      minutes === 0 ? 'The service is unavailable.' : `The service has been unavailable for ${duration}.`;
    void this.#printer.event({event: 'unavailable', waiting: this.waiting(), message});
    const {clock} = this.#invocation.host;
    this.#cancelReminder = clock.after(60_000, () => {
      // Without a file that waits for it, nobody knows.
      if (this.waiting() > 0) this.#reportOutage(true, minutes + 1);
    });
  }
}
