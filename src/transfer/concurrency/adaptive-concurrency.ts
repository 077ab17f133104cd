import type {Clock} from '../../host.ts';
import type {Concurrency} from './concurrency.ts';

/** The limit of the first round, as long as nothing is known. */
const first = 8;

/** What a higher limit must gain to be kept: less cannot be told from noise. */
const gain = 1.1;

/** A limit that gains at least this much leaves room for a larger step. */
const largeGain = 1.5;
const smallStep = 2;
const largeStep = 4;

/** A step after the search has ended. */
const cautiousStep = 1.25;

/** With so many bytes in progress, more files do not fill the line any better. */
const enoughBytes = 64 * 1024 * 1024;

/** Rounds before a higher limit is tried again, which doubles with each try in vain. */
const firstPause = 8;
const longestPause = 64;

/** Files and bytes per second. */
interface Throughput {
  readonly files: number;
  readonly bytes: number;
}

/**
 * As many files at a time as raise the throughput. A round ends when as many files were stored as may be in progress. While each
 * round gains on the one before, the limit is raised; otherwise it returns to the one before, and a little more is tried after a
 * pause. A setback takes the last step back, or halves the limit if there was none. Large files need few connections: with enough bytes in progress, no more files are begun.
 */
export class AdaptiveConcurrency implements Concurrency {
  readonly most: number;
  onRise = () => {};
  readonly #clock: Pick<Clock, 'monotonic'>;
  #limit: number;
  /** The limit that the search returns to if the present one gains nothing, and its throughput. */
  #base: {limit: number; throughput: Throughput} | undefined;
  #isSearching = true;
  #step = largeStep;
  #pause = firstPause;
  #pausedRounds = 0;
  #roundBegan: number | undefined;
  #files = 0;
  #bytes = 0;
  #inProgress = 0;
  #bytesInProgress = 0;
  /** The files that were begun before the last setback: theirs are part of it. */
  #before = 0;

  constructor(clock: Pick<Clock, 'monotonic'>, most: number) {
    this.#clock = clock;
    this.most = most;
    this.#limit = Math.min(first, most);
  }

  get limit(): number {
    return this.#bytesInProgress < enoughBytes ? this.#limit : Math.min(this.#limit, first);
  }

  began(size: number): void {
    this.#roundBegan ??= this.#clock.monotonic();
    this.#inProgress += 1;
    this.#bytesInProgress += size;
  }

  ended(size: number, isStored: boolean): void {
    const limit = this.limit;
    this.#inProgress -= 1;
    this.#bytesInProgress -= size;
    this.#before = Math.max(0, this.#before - 1);
    if (isStored) {
      this.#files += 1;
      this.#bytes += size;
      if (this.#files >= this.#limit) this.#endRound();
    }
    if (this.limit > limit) this.onRise();
  }

  setback(): void {
    if (this.#before > 0) return;
    this.#before = this.#inProgress;
    // A step that was too large is taken back.
    if (this.#isSearching && this.#base !== undefined) this.#giveUpSearch(this.#base.limit);
    else {
      this.#limit = Math.max(1, Math.floor(this.#limit / 2));
      this.#rest();
    }
    this.#beginRound();
  }

  #endRound(): void {
    const ms = Math.max(1, this.#clock.monotonic() - (this.#roundBegan ?? 0));
    const throughput = {files: (this.#files * 1000) / ms, bytes: (this.#bytes * 1000) / ms};
    this.#beginRound();
    if (this.#isSearching) this.#judge(throughput);
    else if (this.#pausedRounds >= this.#pause) {
      this.#pausedRounds = 0;
      this.#search(throughput, cautiousStep);
    } else this.#pausedRounds += 1;
  }

  /** Whether the limit was worth raising, and where to go from here. */
  #judge(throughput: Throughput): void {
    const gained = this.#base === undefined ? largeGain : gainOf(throughput, this.#base.throughput);
    if (gained >= gain) {
      this.#pause = firstPause;
      const step = gained >= largeGain ? this.#step : Math.min(this.#step, smallStep);
      this.#search(throughput, step);
      return;
    }
    this.#giveUpSearch(this.#base?.limit ?? this.#limit);
  }

  #giveUpSearch(limit: number): void {
    this.#limit = limit;
    this.#pause = Math.min(longestPause, 2 * this.#pause);
    this.#rest();
  }

  #search(throughput: Throughput, step: number): void {
    const raised = Math.min(this.most, Math.max(this.#limit + 1, Math.floor(this.#limit * step)));
    this.#isSearching = raised > this.#limit;
    this.#base = {limit: this.#limit, throughput};
    this.#step = step;
    this.#limit = raised;
  }

  #rest(): void {
    this.#isSearching = false;
    this.#base = undefined;
    this.#pausedRounds = 0;
  }

  #beginRound(): void {
    this.#roundBegan = this.#clock.monotonic();
    this.#files = 0;
    this.#bytes = 0;
  }
}

/** How many times as many files or bytes, whichever gained more. */
function gainOf(now: Throughput, before: Throughput): number {
  return Math.max(now.files / before.files, before.bytes > 0 ? now.bytes / before.bytes : 0);
}
