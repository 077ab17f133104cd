import {MediaError} from '../../errors.ts';
import {type Hint, hint, option} from '../../hint.ts';
import {Stop} from '../../lib/stop.ts';
import type {Uploader} from '../../service/uploader.ts';
import {longTime} from '../attempt/explain.ts';
import {backoffMs, type Sign} from '../attempt/retry.ts';
import type {Gate, WaitOptions} from './gate.ts';

/** How many files in a row must fail as in an outage before it counts as one; fewer if fewer are in progress. */
const mostSuspects = 3;

/** How long a file waits after a probe that was answered, in milliseconds. */
const afterProbeMs = 1_000;

interface OutageOptions extends WaitOptions {
  /** Closed while the service asks to wait. */
  gate: Gate;
  /** The service's host and port, for messages. */
  host: string;
  /** How many files are uploaded at a time. */
  concurrency: {readonly limit: number};
  /** Checks without a file whether the service is available; resolves to the reason, as a sentence, if it is not. */
  probe: Uploader['probeAvailability'];
  /** Called when an outage begins, with the time of its first sign, and with undefined when it is over. */
  onChange: (since: number | undefined) => void;
  /** Called when an outage has lasted too long. */
  onEnd: (error: MediaError) => void;
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
  readonly #over = new Stop();
  /** Ends the scout's wait between two probes. */
  #pause = new Stop();
  #scout: number | undefined;
  #isClosed = false;
  #probes = 0;
  /** When the first suspect failed, on the monotonic clock. */
  #since = 0;
  #end: MediaError | undefined;

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
    if (this.#scout === file || this.#sending.has(file)) this.ended(file, 'neither');
  }

  /** Ends all waiting, since the run ends. If a deadline ends the wait for the service, the error names the service. */
  abandon(why?: MediaError): void {
    if (this.#isClosed && why?.code === 'deadline_exceeded' && !this.#over.aborted)
      this.#end = this.#error(why.message, why.hint);
    this.#over.abort(new Error('The run ends.'));
    this.#pause.abort(undefined);
    this.#wakeAll();
  }

  /** Resolves when the file may be sent or the run ends; to an error if the service was unavailable for too long. */
  async pass(file: number): Promise<MediaError | undefined> {
    try {
      await this.#passed(file);
    } catch (error) {
      if (!this.#over.aborted) throw error;
    }
    return this.#end;
  }

  async #passed(file: number): Promise<void> {
    for (;;) {
      await this.#options.gate.pass(this.#over);
      this.#over.throwIfAborted();
      if (this.#mayGo) break;
      this.#scout ??= file;
      if (this.#scout !== file) await new Promise<void>(wake => this.#waiting.push({file, wake}));
      else if ((await this.#isBack()) && this.#scout === file) break;
    }
    this.#sending.add(file);
  }

  /** Call with the result of an attempt. Returns whether the next one is no retry, since the service is away for all. */
  ended(file: number, sign: Sign, why = ''): boolean {
    const wasAlone = this.#scout === file;
    this.#sending.delete(file);
    if (sign === 'away') this.#suspect(file, wasAlone, why);
    else if (sign === 'stored' ? wasAlone || !this.#isClosed : sign === 'refused' && wasAlone) this.#reopen();
    if (wasAlone) this.#scout = this.#waiting[0]?.file;
    this.#wakeAll();
    return sign === 'away' && this.#isClosed && !wasAlone;
  }

  /** With a suspect, no more files are sent at a time than may become unknown before sending stops. */
  get #mayGo(): boolean {
    if (this.#isClosed) return false;
    const most = Math.max(mostSuspects, this.#options.concurrency.limit);
    return this.#suspects.size === 0 || this.#suspects.size + this.#sending.size < most;
  }

  #suspect(file: number, wasAlone: boolean, why: string): void {
    const {clock, onChange, probe} = this.#options;
    if (probe === undefined) return;
    if (this.#suspects.size === 0) this.#since = clock.monotonic();
    this.#suspects.add(file);
    if (wasAlone) this.#giveUpInTime(why);
    if (this.#isClosed || this.#suspects.size < Math.min(mostSuspects, this.#underWay.size)) return;
    this.#isClosed = true;
    onChange(clock.now() - this.#awayMs);
  }

  #reopen(): void {
    if (this.#isClosed) this.#options.onChange(undefined);
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

  /** Probes the service once, after a wait that grows each time. */
  async #isBack(): Promise<boolean> {
    const {clock, random, retryMaxWaitMs, probe} = this.#options;
    const waitMs = Math.min(backoffMs(this.#probes, random), retryMaxWaitMs - this.#awayMs);
    this.#probes += 1;
    await clock.sleep(Math.max(0, waitMs), this.#pause).catch(() => {});
    this.#over.throwIfAborted();
    if (this.#mayGo) return false;
    const why = await probe?.(this.#over);
    this.#over.throwIfAborted();
    if (why !== undefined) {
      this.#giveUpInTime(why);
      return false;
    }
    // A gateway that limits requests has counted the probe.
    await clock.sleep(afterProbeMs, this.#pause).catch(() => {});
    this.#over.throwIfAborted();
    return true;
  }

  #giveUpInTime(why: string): void {
    if (this.#awayMs < this.#options.retryMaxWaitMs || this.#over.aborted) return;
    const advice = hint`Try again when it is back${hint`, or wait longer for it with ${option('retryMaxWait')}`}.`;
    this.#end = this.#error(why, advice);
    this.#options.onEnd(this.#end);
  }

  #error(why: string, hint: Hint | undefined): MediaError {
    const sentence = `${this.#options.host} was unavailable for ${longTime(this.#awayMs)}.`;
    return new MediaError('outage', `${sentence} ${why}`, {hint});
  }

  #wakeAll(): void {
    for (const {wake} of this.#waiting.splice(0)) wake();
  }
}
