import type {MediaError} from '../errors.ts';
import type {Clock, StopSignal} from '../host.ts';
import type {JournalMemory, RunJournal} from '../journal/journal.ts';
import type {Uploader} from '../service/uploader.ts';
import type {OpenSource, Source} from '../sources/open/source.ts';

/** Is told what happens between outcomes; `position` is the position of the input among all inputs. */
export interface TransferObserver {
  started(position: number, name: string, size: number): void;
  /** How many bytes of the current attempt have been sent. */
  progress(position: number, sentBytes: number): void;
  /** `waitMs`: how long until the next try; undefined while it is the service that is waited for. */
  retrying(position: number, name: string, error: MediaError, waitMs: number | undefined): void;
  /** The service has been unavailable since this time (milliseconds since the Unix epoch), or is back (undefined). */
  unavailable(since: number | undefined): void;
  /** A file found by a walk is an image or a video only by its bytes, so that it was not counted before. */
  recognized(size: number): void;
  /** Not called for files that are left out. */
  finished(position: number): void;
  warning(name: string, message: string): void;
}

export interface TransferOptions {
  /** Receives up to `concurrency` uploads at a time. */
  uploader: Uploader;
  /** The service's host and port, for messages. */
  host: string;
  clock: Clock;
  random: () => number;
  uuid: () => string;
  /** Decides the content type, or rejects with a MediaError. */
  contentType: (source: Source, opened: OpenSource) => Promise<{contentType: string; warning?: string}>;
  /** What decides it, as a journal notes it: a rule, or the type that was given for all. */
  typeRule: string;
  /** How many files are uploaded at a time. */
  concurrency: number;
  /** Attempts after the first. */
  retries: number;
  /** Whether there may be more than one file: then the batch waits for a service that is away. */
  several: boolean;
  /** The longest Retry-After or outage that is waited for, in milliseconds; 5 minutes by default. */
  retryMaxWaitMs?: number;
  stallTimeoutMs: number;
  answerTimeoutMs: number;
  /** Bytes per second for all files together; unlimited if undefined. */
  limitRate?: number | undefined;
  /**
   * Whether to send an upload with an unknown outcome again; `honoured`: since the service knows its idempotency key, which
   * it may forget after 12 hours.
   */
  onUnknown: 'hold' | 'retry' | 'honoured';
  /** Records what was sent, so that another run can continue. */
  journal?: RunJournal | undefined;
  /** What a dry run looks up, of the journal that it would go on with. */
  memory?: JournalMemory | undefined;
  dryRun: boolean;
  /** Whether the first failure ends the batch. */
  failFast: boolean;
  /** Aborted when the run should end. */
  stop: StopSignal<MediaError>;
  observer: TransferObserver;
}
