import type {Clock} from '../host.ts';

/** Traces the phases of a connection and its requests: names, addresses, sizes and times, never header values. */
export class HttpTrace {
  readonly #write: (message: string) => void;
  readonly #clock: Clock;
  readonly #name: string;
  #last: number;

  constructor(name: string, write: (message: string) => void, clock: Clock) {
    this.#name = name;
    this.#write = write;
    this.#clock = clock;
    this.#last = clock.monotonic();
  }

  /** Starts the next phase. */
  restart(): void {
    this.#last = this.#clock.monotonic();
  }

  /** Reports that a phase has ended, and its duration. */
  phase(name: string, message: string): void {
    const now = this.#clock.monotonic();
    this.#write(`${this.#name}: ${name}: ${message} (${(now - this.#last).toFixed(1)} ms)`);
    this.#last = now;
  }
}
