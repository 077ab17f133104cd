import type {Clock} from '../../host.ts';
import type {Throughput} from './throughput.ts';

/** What a round has shown. */
export interface Measured {
  readonly throughput: Throughput;
  /** Whether the first file took at least half of the time: nothing was full, all had the same way to go. */
  readonly wereTogether: boolean;
}

/** Some files that move one after the other, and the time that they take together. */
export class Round {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #began: number | undefined;
  #firstMoved: number | undefined;
  #moved = 0;
  #files = 0;
  #bytes = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Begins the first round with the first file. */
  begin(): void {
    this.#began ??= this.#clock.monotonic();
  }

  /** Begins the next one. */
  restart(): void {
    this.#began = this.#clock.monotonic();
    this.#firstMoved = undefined;
    this.#moved = 0;
    this.#files = 0;
    this.#bytes = 0;
  }

  /** Counts a file that was stored. */
  stored(size: number): void {
    this.#files += 1;
    this.#bytes += size;
  }

  /** Counts a file that was stored, or of which bytes still leave when a refusal would have come; returns how many there are. */
  moved(): number {
    this.#firstMoved ??= this.#clock.monotonic();
    this.#moved += 1;
    return this.#moved;
  }

  /** What has been stored since the beginning. */
  measure(): Measured {
    const now = this.#clock.monotonic();
    const began = this.#began ?? now;
    const ms = Math.max(1, now - began);
    const perSecond = 1000 / ms;
    return {
      throughput: {files: this.#files * perSecond, bytes: this.#bytes * perSecond},
      wereTogether: ms <= 2 * ((this.#firstMoved ?? now) - began),
    };
  }
}
