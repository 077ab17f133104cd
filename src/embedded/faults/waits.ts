import type {Exchange} from '../exchange/exchange.ts';
import {askWhetherGone} from './ask-whether-gone.ts';

/** Waits that end early when the client or the service does. */
export class Waits {
  readonly #running = new Set<() => void>();
  #hasEnded = false;

  /** Resolves after so many milliseconds. */
  wait(exchange: Exchange, ms: number): Promise<void> {
    const {clock, connection, response} = exchange;
    if (this.#hasEnded || response.destroyed || connection.failure !== undefined) return Promise.resolve();
    return new Promise(resolve => {
      const end = () => {
        cancel();
        stopListening();
        stopAsking();
        response.off('close', end);
        this.#running.delete(end);
        resolve();
      };
      const cancel = clock.after(ms, end);
      const stopListening = connection.onFailure(end);
      const stopAsking = askWhetherGone(exchange);
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
