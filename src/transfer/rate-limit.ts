import type {Clock, StopSignal} from '../host.ts';

/**
 * A rate that all workers share, in bytes a second: a token bucket that holds a tenth of a second. Whoever sends takes
 * its bytes first and waits as long as they take, so that the order of asking is the order of sending.
 */
export class RateLimit {
  /** What to send at a time, in bytes: a twentieth of a second's worth, within reason. */
  readonly chunkBytes: number;
  readonly #clock: Clock;
  readonly #bytesPerSecond: number;
  /** When the bytes promised so far will have been sent, on the clock's monotonic scale. */
  #spokenFor = Number.NEGATIVE_INFINITY;

  constructor(bytesPerSecond: number, clock: Clock) {
    this.chunkBytes = Math.max(256, Math.min(64 * 1024, Math.ceil(bytesPerSecond / 20)));
    this.#bytesPerSecond = bytesPerSecond;
    this.#clock = clock;
  }

  /** Resolves when so many bytes may be sent; rejects with the signal's reason when that is aborted first. */
  async take(bytes: number, signal: StopSignal): Promise<void> {
    const now = this.#clock.monotonic();
    const start = Math.max(this.#spokenFor, now - burstMs);
    this.#spokenFor = start + (bytes / this.#bytesPerSecond) * 1000;
    const waitMs = this.#spokenFor - now;
    if (waitMs > 0) await this.#clock.sleep(waitMs, signal);
  }
}

const burstMs = 100;
