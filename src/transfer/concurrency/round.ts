import type {Clock} from '../../host.ts';
import type {Throughput} from './throughput.ts';

/** A process that waits for less of its time is busy: whatever it did, its throughput would hardly grow. */
const leastIdle = 0.1;

/** What a round has shown. */
export interface Measured {
  readonly throughput: Throughput;
  /** Whether the first file took at least half of the time: nothing was full, all had the same way to go. */
  readonly wereTogether: boolean;
  /** Whether this process hardly ever waited for the line or the service. */
  readonly wasBusy: boolean;
}

/** Some files that move one after the other, and the time that they take together. */
export class Round {
  readonly #clock: Pick<Clock, 'monotonic' | 'idle'>;
  #began = 0;
  #idleBefore = 0;
  #firstMoved: number | undefined;
  #moved = 0;
  #files = 0;
  #bytes = 0;

  constructor(clock: Pick<Clock, 'monotonic' | 'idle'>) {
    this.#clock = clock;
  }

  /** Begins it, or the next one. */
  begin(): void {
    this.#began = this.#clock.monotonic();
    this.#idleBefore = this.#clock.idle();
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

  /** How long it has lasted. */
  get ms(): number {
    return this.#clock.monotonic() - this.#began;
  }

  /** What has been stored since the beginning. */
  measure(): Measured {
    const now = this.#clock.monotonic();
    const ms = Math.max(1, now - this.#began);
    const perSecond = 1000 / ms;
    return {
      throughput: {files: this.#files * perSecond, bytes: this.#bytes * perSecond},
      wasBusy: this.#clock.idle() - this.#idleBefore < leastIdle * ms,
      wereTogether: ms <= 2 * ((this.#firstMoved ?? now) - this.#began),
    };
  }
}
