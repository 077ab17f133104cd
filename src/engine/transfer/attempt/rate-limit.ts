import type {Clock, StopSignal} from '../../../host.ts';

/** A token bucket of a tenth of a second for all workers: each reserves its bytes and waits until they are due. */
export class RateLimit {
  /** The size of chunks, in bytes: about a twentieth of a second. */
  readonly chunkBytes: number;
  readonly #clock: Clock;
  readonly #bytesPerSecond: number;
  /** When all reserved bytes will have been sent, on the monotonic clock. */
  #reservedUntil = Number.NEGATIVE_INFINITY;

  constructor(bytesPerSecond: number, clock: Clock) {
    this.chunkBytes = Math.max(256, Math.min(64 * 1024, Math.ceil(bytesPerSecond / 20)));
    this.#bytesPerSecond = bytesPerSecond;
    this.#clock = clock;
  }

  /** Resolves when this many bytes may be sent; rejects with the signal's reason if that is aborted first. */
  async take(bytes: number, signal: StopSignal): Promise<void> {
    const now = this.#clock.monotonic();
    // What was not sent in the last tenth of a second may be sent now, and no more.
    const start = Math.max(this.#reservedUntil, now - 100);
    this.#reservedUntil = start + (bytes / this.#bytesPerSecond) * 1000;
    const waitMs = this.#reservedUntil - now;
    if (waitMs > 0) await this.#clock.sleep(waitMs, signal);
  }
}
