import type {Clock, StopSignal} from '../../host.ts';

/** Stops all workers from sending while the service asks to wait (429 or 503 with Retry-After). */
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
