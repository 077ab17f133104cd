import {join, relative, sep} from 'node:path';
import {withRunOptions} from '../../cli/hint-commands.ts';
import type {Invocation} from '../../cli/invocation.ts';
import {MediaError} from '../../errors.ts';
import {shellWord} from '../../lib/shell.ts';
import {systemReason} from '../../lib/system-code.ts';
import {hintOptions} from '../../settings/hint-options.ts';
import {isNamedMedia} from '../../sources/media-type/decide.ts';
import {Disk} from '../../sources/open/disk.ts';
import {sourceAt} from '../../sources/open/file.ts';
import type {FileStat, Source} from '../../sources/open/source.ts';
import {type LeftOut, type Outcome, unrecordedOf} from '../../transfer/outcome.ts';
import {UploadQueue} from '../upload/upload-queue.ts';
import type {Disposed, UploadedFile} from './disposal.ts';
import type {FailedOutcome} from './feed.ts';
import type {WatchedPlace} from './places.ts';
import type {WatchPrinter} from './printer.ts';

/** How often it is said that the service is still unavailable, in milliseconds. */
const reminderMs = 60_000;
/** The longest outage that a file waits for in one go; later it is tried again. */
const longestOutageMs = 24 * 3_600_000;

/** Uploads the files of the watched directories, and reports what becomes of them. */
export class Uploads {
  readonly #invocation: Invocation;
  readonly #places: readonly WatchedPlace[];
  readonly #printer: WatchPrinter;
  readonly #queue: UploadQueue;
  readonly #disk = new Disk();
  /** The state in which each file was opened for its upload. */
  readonly #opened = new Map<string, FileStat | undefined>();
  /** Uploaded files that could not be recorded, moved or deleted. */
  readonly #unfinished = new Set<string>();
  #cancelReminder = () => {};
  /** How many files are waiting or being uploaded. */
  waiting: () => number = () => 0;

  constructor(invocation: Invocation, places: readonly WatchedPlace[], printer: WatchPrinter) {
    this.#invocation = invocation;
    this.#places = places;
    this.#printer = printer;
    this.#queue = new UploadQueue(invocation, {
      flags: {retryMaxWait: longestOutageMs},
      waitsForService: true,
      onUnavailable: since => this.#tellOutage(since),
    });
  }

  async upload(path: string): Promise<Outcome | LeftOut> {
    let isUploaded = false;
    try {
      const outcome = await this.#queue.add(this.#sourceOf(path));
      isUploaded = 'received' in outcome;
      return outcome;
    } finally {
      if (!isUploaded) this.#opened.delete(path);
    }
  }

  /** Disposes of a file and prints its outcome; whether it stays there, as it was when it was opened. */
  async finish(
    path: string,
    outcome: Outcome,
    disposeOf: (file: UploadedFile) => Promise<Disposed>,
  ): Promise<boolean> {
    const stat = this.#opened.get(path);
    this.#opened.delete(path);
    let disposed: Disposed;
    try {
      const unrecorded = unrecordedOf(outcome);
      // Without a line in the journal, another run would not know that the file is stored: it stays.
      if (unrecorded !== undefined) throw unrecorded;
      disposed = await disposeOf({path, relative: this.#namesOf(path).below, stat});
    } catch (cause) {
      // The outcome is printed once, although the file is tried again.
      if (!this.#unfinished.has(path)) await this.#printer.outcome(outcome, path);
      this.#unfinished.add(path);
      if (cause instanceof MediaError) throw cause;
      const sentence = `${outcome.name} was uploaded, but stays where it is: ${systemReason(cause)}.`;
      throw new MediaError('local_failure', sentence, {cause});
    }
    this.#unfinished.delete(path);
    await this.#printer.outcome(outcome, path, disposed);
    return disposed === 'kept';
  }

  async failed(path: string, outcome: FailedOutcome): Promise<void> {
    this.#unfinished.delete(path);
    const {host, globals, report} = this.#invocation;
    const again = `media upload --once --on-unknown retry ${shellWord(outcome.name)}`;
    const hint = `Check whether the service has it. To send it again: ${again}`;
    const error =
      outcome.status === 'unknown'
        ? withRunOptions(outcome.error.reworded({hint}), hintOptions(host, globals))
        : outcome.error;
    report.failure(error, outcome.name, true);
    await this.#printer.outcome({...outcome, error}, path);
  }

  /** Ends the uploads; resolves when nothing is in progress. */
  async stop(why: MediaError): Promise<void> {
    this.#cancelReminder();
    await this.#queue.stop(why);
  }

  #sourceOf(path: string): Source {
    const {shown, below} = this.#namesOf(path);
    const source = sourceAt(this.#disk, shown, path, false);
    return {
      ...source,
      relativePath: below,
      found: {isHidden: false, isNamedMedia: () => isNamedMedia(shown)},
      open: async signal => {
        const opened = await source.open(signal);
        this.#opened.set(path, opened.stat);
        return opened;
      },
    };
  }

  /** The name of a file as the user would write it, and its path below the watched directory. */
  #namesOf(path: string): {shown: string; below: string} {
    const place = this.#places.find(({path: directory}) => path.startsWith(`${directory}${sep}`));
    if (place === undefined) return {shown: path, below: path};
    const below = relative(place.path, path);
    return {shown: join(place.shown, below), below};
  }

  /** Says at once that the service is unavailable, then every minute until it is back. */
  #tellOutage(since: number | undefined): void {
    const {clock} = this.#invocation.host;
    this.#cancelReminder();
    if (since === undefined) {
      void this.#printer.event({event: 'available'});
      return;
    }
    const minutes = Math.round((clock.now() - since) / 60_000);
    const duration = minutes === 1 ? '1 minute' : `${minutes} minutes`;
    const message =
      minutes === 0 ? 'The service is unavailable.' : `The service has been unavailable for ${duration}.`;
    void this.#printer.event({event: 'unavailable', waiting: this.waiting(), message});
    this.#cancelReminder = clock.after(reminderMs, () => this.#tellOutage(since));
  }
}
