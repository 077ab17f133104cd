import {MediaError} from '../../errors.ts';
import {type Hint, hint, option} from '../../hint.ts';
import type {StopSignal} from '../../host.ts';
import {Stop} from '../../lib/stop.ts';
import type {Uploader} from '../service/uploader.ts';
import {describeFailure, longTime} from './attempt/explain.ts';
import {type Availability, backoffMs, type Failure} from './attempt/judge.ts';
import type {Concurrency} from './concurrency.ts';
import type {TransferObserver, TransferOptions} from './transfer-options.ts';

/** How many files in a row must fail as in an outage before it counts as one; fewer if fewer are in progress. */
const mostSuspects = 3;

/** How long a file waits after a probe that got a response, in milliseconds. */
const afterProbeMs = 1_000;

export interface OutageOptions
  extends Pick<TransferOptions, 'clock' | 'random' | 'retryMaxWaitMs' | 'host' | 'several'> {
  uploader: Pick<Uploader, 'probeAvailability'>;
  observer: Pick<TransferObserver, 'unavailable'>;
  concurrency: Pick<Concurrency, 'limit'>;
  /** Resolves when the service does not ask to wait. */
  pause: (signal: StopSignal) => Promise<void>;
  /** Aborted when an outage has lasted too long. */
  abort: Stop<MediaError>;
}

/**
 * Detects that the service is unavailable, and keeps all workers from sending until it is back. Otherwise a gateway
 * could return 502 for each file after it was sent, which would make each of them unknown. During an outage, one file
 * at a time, the scout, probes the service without being sent, and is sent alone once there is a response; the others
 * follow when it is stored or plainly refused.
 */
export class Outage {
  readonly #options: OutageOptions;
  /** Files that have failed as in an outage since the last one that was stored. */
  readonly #suspects = new Set<number>();
  readonly #underWay = new Set<number>();
  /** The files with an attempt in progress. */
  readonly #sending = new Set<number>();
  readonly #waiting: {file: number; wake: () => void}[] = [];
  readonly #runStop = new Stop();
  /** Ends the scout's wait between two probes. */
  #pause = new Stop();
  #scout: number | undefined;
  #isClosed = false;
  #probes = 0;
  /** When the first suspect failed, on the monotonic clock. */
  #since = 0;
  #endError: MediaError | undefined;

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  /** Call before a file is sent, in one or more attempts. */
  begin(file: number): void {
    this.#underWay.add(file);
  }

  /** Call when nothing more is sent for a file. */
  finish(file: number): void {
    this.#underWay.delete(file);
    if (this.#scout === file || this.#sending.has(file)) this.report(file, 'neither');
  }

  /** Ends all waiting, since the run ends. If a deadline ends the wait for the service, the error names the service. */
  abandon(why?: MediaError): void {
    if (this.#isClosed && why?.code === 'deadline_exceeded' && !this.#runStop.aborted)
      this.#endError = this.#error(why.message, why.hint);
    this.#runStop.abort(new Error('The run ends.'));
    this.#pause.abort(undefined);
    this.#wakeAll();
  }

  /** Resolves when the file may be sent or the run ends; to an error after too long an outage. The scout probes. */
  async pass(file: number): Promise<MediaError | undefined> {
    try {
      for (;;) {
        await this.#options.pause(this.#runStop);
        this.#runStop.throwIfAborted();
        if (this.#maySend) break;
        this.#scout ??= file;
        if (this.#scout !== file) await new Promise<void>(wake => this.#waiting.push({file, wake}));
        else if ((await this.#isBack()) && this.#scout === file) break;
      }
      this.#sending.add(file);
    } catch (error) {
      if (!this.#runStop.aborted) throw error;
    }
    return this.#endError;
  }

  /** Call with the result of an attempt. Returns whether the next attempt is no retry: the service is away for all. */
  report(file: number, availability: Availability, failure?: Failure): boolean {
    const wasAlone = this.#scout === file;
    this.#sending.delete(file);
    if (availability === 'away') this.#suspect(file, wasAlone, failure);
    else if (availability === 'stored' ? wasAlone || !this.#isClosed : availability === 'refused' && wasAlone)
      this.#reopen();
    if (wasAlone) this.#scout = this.#waiting[0]?.file;
    this.#wakeAll();
    return availability === 'away' && this.#isClosed && !wasAlone;
  }

  /** Whether a file may be sent. With a suspect, only as many at a time as may become unknown before sending stops. */
  get #maySend(): boolean {
    if (this.#isClosed) return false;
    const most = Math.max(mostSuspects, this.#options.concurrency.limit);
    return this.#suspects.size === 0 || this.#suspects.size + this.#sending.size < most;
  }

  /** Counts a file that failed as in an outage; enough of them in a row begin it. `wasAlone`: it was the scout. */
  #suspect(file: number, wasAlone: boolean, failure?: Failure): void {
    const {clock, observer, uploader, several, host} = this.#options;
    // A single file relies on its retries.
    if (!several || uploader.probeAvailability === undefined) return;
    if (this.#suspects.size === 0) this.#since = clock.monotonic();
    this.#suspects.add(file);
    if (wasAlone && failure) this.#giveUpInTime(describeFailure(failure, host).messageToKeep);
    if (this.#isClosed || this.#suspects.size < Math.min(mostSuspects, this.#underWay.size)) return;
    this.#isClosed = true;
    observer.unavailable(clock.now() - this.#awayMs);
  }

  /** Forgets all suspects, and ends the outage, if there is one, and the scout's wait. */
  #reopen(): void {
    if (this.#isClosed) this.#options.observer.unavailable(undefined);
    this.#isClosed = false;
    this.#suspects.clear();
    this.#scout = undefined;
    this.#probes = 0;
    this.#pause.abort(undefined);
    this.#pause = new Stop();
  }

  get #awayMs(): number {
    return this.#options.clock.monotonic() - this.#since;
  }

  /** Whether the service responds to a probe, after a wait that grows each time; false if the outage has ended. */
  async #isBack(): Promise<boolean> {
    const {clock, random, retryMaxWaitMs, uploader} = this.#options;
    const waitMs = Math.min(backoffMs(this.#probes, random), retryMaxWaitMs - this.#awayMs);
    this.#probes += 1;
    await clock.sleep(Math.max(0, waitMs), this.#pause).catch(() => {});
    this.#runStop.throwIfAborted();
    if (this.#maySend) return false;
    const why = await uploader.probeAvailability?.(this.#runStop);
    this.#runStop.throwIfAborted();
    if (why !== undefined) {
      this.#giveUpInTime(why);
      return false;
    }
    // A gateway that limits requests has counted the probe.
    await clock.sleep(afterProbeMs, this.#pause).catch(() => {});
    this.#runStop.throwIfAborted();
    return true;
  }

  /** Ends the batch with an error if the service has been away for `retryMaxWaitMs` or longer. */
  #giveUpInTime(why: string): void {
    if (this.#awayMs < this.#options.retryMaxWaitMs || this.#runStop.aborted) return;
    const advice = hint`Try again when it is back${hint`, or wait longer for it with ${option('retryMaxWait')}`}.`;
    this.#endError = this.#error(why, advice);
    this.#options.abort.abort(this.#endError);
  }

  /** The error for files that are not sent; `why`: what the service last did, as a sentence. */
  #error(why: string, hint: Hint | undefined): MediaError {
    const sentence = `${this.#options.host} was unavailable for ${longTime(this.#awayMs)}.`;
    return new MediaError('outage', `${sentence} ${why}`, {hint});
  }

  #wakeAll(): void {
    for (const {wake} of this.#waiting.splice(0)) wake();
  }
}
