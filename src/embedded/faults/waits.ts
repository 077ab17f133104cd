import type {Exchange} from '../exchange/exchange.ts';

/** Waits that end early when the client or the service does. */
export class Waits {
  readonly #running = new Set<() => void>();
  #hasEnded = false;

  /** Resolves after so many milliseconds. */
  wait({clock, response}: Exchange, ms: number): Promise<void> {
    if (this.#hasEnded || response.destroyed) return Promise.resolve();
    return new Promise(resolve => {
      const end = () => {
        cancel();
        response.off('close', end);
        this.#running.delete(end);
        resolve();
      };
      const cancel = clock.after(ms, end);
      response.once('close', end);
      this.#running.add(end);
    });
  }

  /** Ends all waits, those to come too. */
  end(): void {
    this.#hasEnded = true;
    for (const end of [...this.#running]) end();
  }
}
