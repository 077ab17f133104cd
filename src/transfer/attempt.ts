import {MediaError} from '../errors.ts';
import type {Clock, StopSignal} from '../host.ts';
import {Stop} from '../lib/stop.ts';
import type {Stored, UploadAnswer, Uploader} from '../service/uploader.ts';
import type {OpenSource} from '../sources/open/source.ts';
import {type BodyOptions, type BodyWatcher, openBody} from './body.ts';
import type {Failure, Phase} from './retry.ts';

export interface AttemptOptions extends Pick<BodyOptions, 'rateLimit' | 'sha256' | 'commit'> {
  source: OpenSource;
  contentType: string;
  /** A UUID, the same for every attempt at this content. */
  idempotencyKey: string;
  uploader: Uploader;
  clock: Clock;
  /** How long sending may make no progress, in milliseconds. */
  stallTimeoutMs: number;
  /** How long the service may take to answer after the last byte, in milliseconds. */
  answerTimeoutMs: number;
  /** Aborted when the run is to end. */
  stop: StopSignal<MediaError>;
  /** Told how many bytes of this attempt have been handed to the connection. */
  onProgress: (sentBytes: number) => void;
}

/** `phase`: how far the attempt had come. */
export interface FailedAttempt {
  kind: 'failed';
  phase: Phase;
  failure: Failure;
}

/** How long a released upload may still be answered after the run was told to end. */
const graceMs = 5_000;

/**
 * Makes one attempt at one file: connect, send all but the last chunk, check the source, release, read the answer.
 * Rejects for a bug only; the phase says how far it came, and before `released` the request cannot have taken effect.
 */
export function attemptUpload(options: AttemptOptions): Promise<Stored | FailedAttempt> {
  return new Attempt(options).run();
}

class Attempt implements BodyWatcher {
  readonly #options: AttemptOptions;
  readonly #abort = new Stop();
  #phase: Phase = 'connecting';
  #failure: Failure | undefined;
  #bug: unknown;
  #ended = false;
  #cancelTimer = () => {};

  constructor(options: AttemptOptions) {
    this.#options = options;
  }

  async run(): Promise<Stored | FailedAttempt> {
    const {stop, uploader, contentType, idempotencyKey} = this.#options;
    const onStop = () => this.#stop();
    stop.addEventListener('abort', onStop, {once: true});
    onStop();
    try {
      const body = await openBody({...this.#options, signal: this.#abort}, this);
      return this.#judge(await uploader.upload({contentType, idempotencyKey, body, signal: this.#abort}));
    } catch (error) {
      if (this.#bug !== undefined) throw this.#bug;
      return this.#failed(this.#failure ?? asFailure(error));
    } finally {
      // The body may still be running, on a connection that is gone.
      this.#ended = true;
      this.#cancelTimer();
      stop.removeEventListener('abort', onStop);
    }
  }

  #judge(answer: UploadAnswer): Stored | FailedAttempt {
    // An answer is still an answer when the run was told to end or the source failed meanwhile, unless it claims success.
    if (answer.kind === 'refused') return this.#failed(answer);
    if (this.#phase !== 'released') {
      // Also when the rest of that answer never came, which must not look like a stall that is worth another try.
      const premature: Failure = {kind: 'premature', status: answer.kind === 'stored' ? 200 : answer.status};
      return this.#failed(
        this.#failure === undefined || this.#failure.kind === 'stall' ? premature : this.#failure,
      );
    }
    return answer.kind === 'stored' ? answer : this.#failed(this.#failure ?? answer);
  }

  #failed(failure: Failure): FailedAttempt {
    return {kind: 'failed', phase: this.#phase, failure};
  }

  sending(): void {
    this.#phase = 'held';
    this.#watchForStall();
  }

  waiting(): void {
    this.#setTimer(() => () => {});
  }

  sent(bytes: number): void {
    this.#options.onProgress(bytes);
    if (this.#phase === 'held') this.#watchForStall();
  }

  released(): void {
    this.#phase = 'released';
    this.#watchForAnswer();
  }

  /** What ended a body is kept: whoever made the request is told only that it ended. */
  failed(error: unknown): void {
    if (error instanceof MediaError) this.#failure ??= {kind: 'error', error};
    else this.#bug ??= error;
  }

  /** Ends the attempt with a failure; the first one counts. */
  #end(failure: Failure): void {
    this.#failure ??= failure;
    this.#abort.abort(new MediaError('interrupted', 'The attempt was ended.'));
  }

  #stop(): void {
    const {stop, clock} = this.#options;
    const {reason: error} = stop;
    if (error === undefined) return;
    const failure: Failure = {kind: 'stopped', error};
    if (this.#phase !== 'released') this.#end(failure);
    else this.#setTimer(() => clock.after(graceMs, () => this.#end(failure)));
  }

  #setTimer(start: () => () => void): void {
    this.#cancelTimer();
    if (!this.#ended) this.#cancelTimer = start();
  }

  /** Every sign of progress puts the stall off. */
  #watchForStall(): void {
    const {clock, stallTimeoutMs} = this.#options;
    this.#setTimer(() =>
      clock.after(stallTimeoutMs, () => this.#end({kind: 'stall', afterMs: stallTimeoutMs})),
    );
  }

  #watchForAnswer(): void {
    const {clock, answerTimeoutMs} = this.#options;
    this.#setTimer(() =>
      clock.after(answerTimeoutMs, () => this.#end({kind: 'answer-timeout', afterMs: answerTimeoutMs})),
    );
  }
}

function asFailure(error: unknown): Failure {
  return error instanceof MediaError ? {kind: 'error', error} : {kind: 'connection', cause: error};
}
