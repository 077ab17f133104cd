import type {MediaError} from '../errors.ts';
import type {Clock, StopSignal} from '../host.ts';
import type {Journal} from '../journal/journal.ts';
import type {Uploader} from '../service/uploader.ts';
import type {OpenSource, Source} from '../sources/open/source.ts';

/** Told what happens between outcomes; `position` is the input's place among the inputs. */
export interface TransferObserver {
  started(position: number, name: string, size: number): void;
  /** How many bytes of the present attempt have been handed to the connection. */
  progress(position: number, sentBytes: number): void;
  retrying(position: number, name: string, error: MediaError, waitMs: number): void;
  /** A file that a walk found is an image or a video by its bytes alone, so that nobody could count it beforehand. */
  recognized(size: number): void;
  /** Not told of what is left out. */
  finished(position: number): void;
  warning(name: string, message: string): void;
}

export interface TransferOptions {
  /** Takes up to `concurrency` uploads at a time. */
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
  /** Files that are worked on at a time. */
  concurrency: number;
  /** Attempts after the first. */
  retries: number;
  stallTimeoutMs: number;
  answerTimeoutMs: number;
  /** Bytes a second for all files together; unlimited without it. */
  limitRate?: number | undefined;
  /** What to do with an upload whose outcome is unknown: leave it, or send it again. */
  onUnknown: 'hold' | 'retry';
  /** Remembers what was sent, so that another run can go on. */
  journal?: Journal | undefined;
  dryRun: boolean;
  /** Whether the first failure ends the batch. */
  failFast: boolean;
  /** Aborted when the run is to end. */
  stop: StopSignal<MediaError>;
  observer: TransferObserver;
}
