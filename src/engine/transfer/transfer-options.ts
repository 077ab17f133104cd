// The comments of TransferObserver are user documentation: the declarations of the library have them.
import type {MediaError} from '../../errors.ts';
import type {Clock, StopSignal} from '../../host.ts';
import {adaptiveConcurrency} from '../../lib/value-kinds.ts';
import type {JournalLookup} from '../journal/journal.ts';
import type {MediaRecord} from '../service/record.ts';
import type {Uploader} from '../service/uploader.ts';
import type {OpenSource, Source} from '../sources/open/source.ts';
import type {ConcurrencyOption} from './concurrency.ts';

/** Receives what happens between outcomes; `position` is the position of the input among all inputs. */
export interface TransferObserver {
  /** A file was opened, and is about to be sent. */
  started(position: number, name: string, size: number): void;
  /** How many bytes of the current attempt have been sent. */
  progress(position: number, sentBytes: number): void;
  /** An attempt failed, and another follows, after `waitMs` if that is known. */
  retrying(position: number, name: string, error: MediaError, waitMs: number | undefined): void;
  /** The service has been unavailable since this time (in milliseconds, as in `Date`), or is back (undefined). */
  unavailable(since: number | undefined): void;
  /** The result of a file is known. Not called for files that are left out. */
  finished(position: number): void;
  /** Something about the file that is no failure. `ofSeveral`: what several files do, after their number. */
  warning(name: string, message: string, ofSeveral?: string): void;
}

/** A size in pixels, without any rotation; empty if it is not known. */
export type Dimensions = Pick<MediaRecord, 'width' | 'height'>;

export interface TransferOptions {
  clock: Clock;
  random: () => number;
  uuid: () => string;
  /** Aborted when the run should end. */
  stop: StopSignal<MediaError>;
  observer: TransferObserver;
  /** Decides the content type, or rejects with a MediaError. */
  contentType: (source: Source, opened: OpenSource) => Promise<{contentType: string; warning?: string}>;
  /** What decides the content type, as the journal records it: a rule, or the type that was given for all files. */
  typeRule: string;
  /** Whether a record that differs from its file is a warning or a failure, and how to measure what it shows. */
  verify?: {
    mode: 'warn' | 'strict';
    dimensions: (opened: OpenSource, contentType: string) => Promise<Dimensions>;
  };
  /** Whether a file's location is warned of, or blanked in what is sent; undefined: it is not searched for. */
  geotags?: 'warn' | 'strip' | undefined;
  /** Records what was sent, so that another run can continue; in a dry run, only tells what was. */
  journal?: JournalLookup | undefined;
  dryRun: boolean;
  /** Receives up to `concurrency` uploads at a time. */
  uploader: Uploader;
  /** The service's host and port, for messages. */
  host: string;
  concurrency: ConcurrencyOption;
  /** Bytes per second for all files together; unlimited if undefined. */
  limitRate?: number | undefined;
  /** The longest time without progress (1 minute by default), and until the response (10), in milliseconds. */
  timeoutMs?: number | undefined;
  /** Attempts after the first. */
  retries: number;
  /** Whether there may be more than one file. If so, the batch waits while the service is unavailable. */
  several: boolean;
  /** Whether a network whose proxy responds with a page is waited for, as for a service; otherwise the batch ends. */
  waitsForNetwork?: boolean;
  /** The longest Retry-After or outage to wait for, in milliseconds. */
  retryMaxWaitMs: number;
  /** Whether unknown uploads are sent again; `honoured`: for 12 hours; `declared`: if the service honours keys. */
  onUnknown: 'hold' | 'retry' | 'honoured' | 'declared';
}

/** What the journal calls the removal of a location; a later version that changes other bytes gets another name. */
export const geotagTransform = 'geotags/2';

/** What `media upload` and the library do unless told otherwise; times in milliseconds. */
export const transferDefaults = {
  concurrency: adaptiveConcurrency,
  retries: 5,
  retryMaxWaitMs: 300_000,
} as const;
