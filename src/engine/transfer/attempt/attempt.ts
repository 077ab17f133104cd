import {brokenRequestError, MediaError} from '../../../errors.ts';
import type {StopSignal} from '../../../host.ts';
import {Stop} from '../../../lib/stop.ts';
import type {Wire} from '../../http/http.ts';
import type {Stored, Uploader, UploadRequest, UploadResponse} from '../../service/uploader.ts';
import {type BodyOptions, type BodyWatcher, needsHash, openBody} from './body.ts';
import type {Failure, Phase} from './judge.ts';

export interface AttemptOptions extends BodyOptions, Pick<UploadRequest, 'contentType' | 'idempotencyKey'> {
  uploader: Uploader;
  /** How long to wait for progress while sending, and for a response after the last byte, in milliseconds. */
  timeoutMs?: number | undefined;
  /** Aborted when the run should end. */
  stop: StopSignal<MediaError>;
  /** Aborted when the batch has ended, so that no request is made any more: with a bad key, even one is too many. */
  batchAbort: StopSignal<MediaError>;
  /** Called with the number of bytes of this attempt that have been sent. */
  onProgress: (sentBytes: number) => void;
}

export interface FailedAttempt {
  kind: 'failed';
  /** How far the attempt got. */
  phase: Phase;
  failure: Failure;
  /** When the request was made, on the monotonic clock. */
  sentAt: number;
}

/** Nothing was released: only a hash, which was not computed, could show whether the source has changed. */
type UnsureAttempt = {kind: 'unsure'};

/** How long to wait for progress while sending, by default, in milliseconds. */
const defaultStallMs = 60_000;
/** The default wait for a response after the last byte, in ms: the service may process the file first. */
const defaultResponseMs = 600_000;

/** How long it takes to read a response that arrived before a timeout. */
const lateReadMs = 100;

/** How long a released upload may still wait for its response after the run should end. */
const graceMs = 5_000;

/** Why a body is not read on once its attempt has ended; never shown. */
const attemptEnd = new MediaError('interrupted', 'The attempt was ended.');

/** One attempt at an upload. Before the phase `released` the request cannot have taken effect. */
export class Attempt implements BodyWatcher {
  readonly #options: AttemptOptions;
  readonly signal = new Stop<MediaError>();
  #phase: Phase = 'connecting';
  #failure: Failure | undefined;
  #sentAt = 0;
  /** What the body failed with that is no MediaError: `needsHash`, or a bug. */
  #bodyError: unknown;
  #cancelTimer = () => {};
  #wire: Wire | undefined;

  constructor(options: AttemptOptions) {
    this.#options = options;
  }

  /** Makes the attempt; rejects only for a bug. `unsure`: only a hash could show whether the source has changed. */
  async run(): Promise<Stored | FailedAttempt | UnsureAttempt> {
    const {stop, batchAbort, uploader, clock, contentType, idempotencyKey} = this.#options;
    const {signal} = this;
    const onStop = () => this.#stop();
    stop.addEventListener('abort', onStop, {once: true});
    onStop();
    try {
      const body = await openBody(this.#options, this);
      const {reason: cause} = batchAbort;
      if (cause !== undefined) {
        const sentence = `The file was not tried again: the run had ended (${cause.code}).`;
        throw new MediaError('not_tried', sentence, {cause});
      }
      this.#sentAt = clock.monotonic();
      return this.#resultOf(await uploader.upload({contentType, idempotencyKey, body, signal}));
    } catch (error) {
      if (this.#bodyError !== undefined && this.#bodyError !== needsHash) throw this.#bodyError;
      if (this.#bodyError === needsHash && this.#failure === undefined) return {kind: 'unsure'};
      const broken = brokenRequestError(error, '');
      const isOurs = error instanceof MediaError || broken.code === 'local_failure';
      const failure: Failure = isOurs ? {kind: 'error', error: broken} : {kind: 'connection', cause: error};
      return this.#failedAttempt(this.#failure ?? failure);
    } finally {
      signal.abort(attemptEnd);
      this.#cancelTimer();
      stop.removeEventListener('abort', onStop);
    }
  }

  /** What a response makes of the attempt: a refusal always counts, a success only after the release. */
  #resultOf(response: UploadResponse): Stored | FailedAttempt {
    // A refusal counts even if the run was stopped or the source failed in the meantime.
    if (response.kind === 'refused') return this.#failedAttempt(response);
    if (this.#phase === 'released')
      return response.kind === 'stored' ? response : this.#failedAttempt(this.#failure ?? response);
    // Even if the rest of the response never came: it must not look like a stall, which is retried.
    const known = this.#failure;
    if (known !== undefined && !/stall$/.test(known.kind)) return this.#failedAttempt(known);
    const status = response.kind === 'stored' ? 200 : response.status;
    return this.#failedAttempt({kind: 'premature', status});
  }

  #failedAttempt(failure: Failure): FailedAttempt {
    return {kind: 'failed', phase: this.#phase, failure, sentAt: this.#sentAt};
  }

  /** Restarts the timeout for this step; a wait for the rate limit has none. */
  onStep(step: 'reading' | 'sending' | 'waiting'): void {
    this.#phase = 'sending';
    if (step === 'waiting') this.#cancelTimer();
    else this.#watchFor(step === 'reading' ? 'read-stall' : 'stall', defaultStallMs);
  }

  /** Reports the progress, and restarts the timeout: the next bytes are being read now. */
  onSent(bytes: number): void {
    this.#options.onProgress(bytes);
    if (this.#phase === 'sending') this.onStep('reading');
  }

  /** The last bytes leave: from now on the file may be stored, and the service has its own time to respond. */
  onRelease(wire: Wire): void {
    this.#phase = 'released';
    this.#wire = wire;
    this.#watchFor('response-timeout', defaultResponseMs);
  }

  /** Whether all of the body has left the process, so that its memory may be used again. Ask after a response. */
  get hasLeft(): boolean {
    return this.#wire?.unsentBytes === 0;
  }

  /** Keeps why a body failed, since the request itself only reports that it ended. */
  onFailure(error: unknown): void {
    if (error instanceof MediaError) this.#failure ??= {kind: 'error', error};
    else this.#bodyError ??= error;
  }

  /** Ends the attempt. Only its first failure counts: the later ones follow from it. */
  #end(failure: Failure): void {
    this.#failure ??= failure;
    this.signal.abort(attemptEnd);
  }

  /** If the run is to end, ends the attempt: at once before the release, 5 s later after it. */
  #stop(): void {
    const {reason: error} = this.#options.stop;
    if (error === undefined) return;
    const failure: Failure = {kind: 'stopped', error};
    if (this.#phase !== 'released') this.#end(failure);
    else this.#after(graceMs, () => this.#end(failure));
  }

  /** Sets the only timer of the attempt, in place of the last one; does nothing once the attempt has ended. */
  #after(ms: number, action: () => void): void {
    this.#cancelTimer();
    if (!this.signal.aborted) this.#cancelTimer = this.#options.clock.after(ms, action);
  }

  /** Ends the attempt with a failure of this kind after the timeout, unless progress restarts the timer before. */
  #watchFor(kind: 'read-stall' | 'stall' | 'response-timeout', defaultMs: number): void {
    const {timeoutMs: afterMs = defaultMs} = this.#options;
    // A process that was stopped (SIGSTOP, a laptop that slept) first reads what has arrived meanwhile.
    this.#after(afterMs, () => this.#after(lateReadMs, () => this.#end({kind, afterMs})));
  }
}
