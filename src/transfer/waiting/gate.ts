import type {Clock, StopSignal} from '../../host.ts';
import {asksForFewer, type Uploader} from '../../service/uploader.ts';
import {backoffMs, decide, isOfService, parseRetryAfter} from '../attempt/retry.ts';

/** Stops all workers from sending while the service asks to wait with Retry-After, or refuses one file after the other. */
export class Gate {
  /** How long each file waits even if the gate is open, in milliseconds. */
  waitMs = () => 0;
  readonly #clock: Clock;
  #closedUntil = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Closes the gate for at least this many milliseconds. */
  closeFor(ms: number): void {
    this.#closedUntil = Math.max(this.#closedUntil, this.#clock.monotonic() + ms);
  }

  /** Resolves once the gate is open; rejects with the signal's reason if that is aborted first. */
  async pass(signal: StopSignal): Promise<void> {
    const ownMs = this.waitMs();
    if (ownMs > 0) await this.#clock.sleep(ownMs, signal);
    for (;;) {
      const waitMs = this.#closedUntil - this.#clock.monotonic();
      if (waitMs <= 0) return;
      await this.#clock.sleep(waitMs, signal);
    }
  }
}

/** Of a file that is sent again after any refusal that permits it. */
const mayBeStored = {isHonoured: true, wasReleased: true};

export interface WaitOptions {
  clock: Clock;
  random: () => number;
  /** Closed while the service asks to wait. */
  gate: Gate;
  /** The longest Retry-After or outage to wait for, in milliseconds. */
  retryMaxWaitMs: number;
}

/**
 * The pause grows with each refusal in a row up to this one, to 2 s: a batch whose files are all refused ends within minutes, and
 * 8 at a time cause fewer than 10 requests a second.
 */
const longestRow = 3;

/**
 * Closes the gate for as long as the service asks, marks refusals that ask for longer, and slows down after several in a row, with
 * nothing stored between them: the service limits how many files it takes in some time, and even one at a time is too fast. Without
 * pauses, a batch would have most of its files refused in a second.
 */
export function withRetryAfter(
  uploader: Uploader,
  {clock, gate, retryMaxWaitMs, random, retries}: WaitOptions & {retries: number},
): Uploader {
  let refusalsInARow = 0;
  let refusedAt = Number.NEGATIVE_INFINITY;
  // At random, so that all do not come at once.
  const pauseMs = () =>
    refusalsInARow < 2 ? 0 : backoffMs(Math.min(refusalsInARow, longestRow) - 1, random);
  if (retries > 0) gate.waitMs = pauseMs;
  return {
    async upload(request) {
      const sentAt = clock.monotonic();
      const answer = await uploader.upload(request);
      if (answer.kind === 'stored') refusalsInARow = 0;
      if (answer.kind !== 'refused') return answer;
      const {retryAfter} = answer;
      const waitMs = retryAfter === undefined ? undefined : parseRetryAfter(retryAfter, clock.now());
      const isLong = waitMs !== undefined && waitMs > retryMaxWaitMs;
      if (isLong && decide('held', answer, mayBeStored).action === 'retry')
        return {...answer, longWaitMs: waitMs};
      if (!asksForFewer(answer.status) && answer.status !== 503) return answer;
      if (waitMs !== undefined) gate.closeFor(waitMs);
      // Those that were sent together count once.
      else if ((asksForFewer(answer.status) || isOfService(answer)) && sentAt >= refusedAt) {
        refusedAt = clock.monotonic();
        refusalsInARow += 1;
      }
      return answer;
    },
  };
}
