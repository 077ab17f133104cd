import type {Clock} from '../../host.ts';
import type {AttemptEnd, Concurrency, Turn} from './concurrency.ts';
import {type Measured, Round} from './round.ts';
import {Sending} from './sending.ts';
import {modest, Setbacks} from './setbacks.ts';
import {longestRefusalMs, Silence} from './silence.ts';
import {type Base, gainOf, multiplied, type Throughput} from './throughput.ts';

/** The limit of the first round. A service that takes 4 at a time refuses 12 of them: less than 5 % of 300 files. */
const first = 16;

/**
 * The steps of the search. The first is a large one if the first files moved together, as they do where nothing is full yet, or
 * if nothing is heard of them: a service that takes 4 at a time, and refuses others late, then refuses 60 once.
 */
const largeStep = 4;
const smallStep = 2;

/** A step after the search has ended or a setback, which disturbs little if it was in vain. */
const cautiousStep = 1.25;

/** Another step follows if the throughput grew by so much of one, since connecting takes its part; else the line is full. */
const mostOfStep = 0.65;

/** A gain that cannot be told from noise. */
const noise = 1.1;

/** While this process is busy all the time, more gain nothing; of fewer, fewer lines of a journal share a write. */
const whenBusy = 32;

/** On a near line, so many files move within a millisecond or two, which tells little. */
const shortestRoundMs = 25;

/**
 * Rounds before a higher limit is tried again, which doubles with each try in vain. A try that is refused costs the service
 * more, and one that breaks costs uploads whose outcome nobody knows: few of them in a million files.
 */
const firstPause = 4;
const pauseAfterSetback = 32;
const longestPause = 64;
const longestPauseAfterSetback = 1024;

/**
 * As many files at a time as raise the throughput. While each round gains on the one before, the limit is raised; otherwise it
 * returns to what the gain was worth, and a little more is tried after a pause. Where this process is busy all the time, a gain
 * that a round seems to show is none. A setback takes the last step back, or halves the limit if there was none; refusals lower
 * it to what was not refused. Large files need few connections: with enough bytes in progress, no more than at first are begun.
 */
export class AdaptiveConcurrency implements Concurrency {
  readonly most: number;
  onRise = () => {};
  onPrepared: (files: number) => void = () => {};
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #round: Round;
  readonly #silence: Silence;
  readonly #setbacks = new Setbacks();
  readonly #sending = new Sending();
  readonly #waiting: {size: number; begin: (turn: Turn) => void}[] = [];
  #limit: number;
  #isFirstRound = true;
  /** While it is searched: the limit to return to if the present one gains nothing, and its throughput. */
  #base: Base | undefined;
  #pause = firstPause;
  #begun = 0;

  constructor(clock: Pick<Clock, 'monotonic' | 'idle' | 'after'>, most: number) {
    this.#clock = clock;
    this.#round = new Round(clock);
    this.#silence = new Silence(clock, () => this.#raiseInSilence());
    this.most = most;
    this.#limit = Math.min(first, most);
  }

  get limit(): number {
    return this.#sending.within(this.#limit);
  }

  get prepared(): number {
    const isRising = this.#isFirstRound || (this.#base !== undefined && this.#base.limit < this.#limit);
    const next = this.#raised(this.#nextStep);
    return isRising && this.#sending.areWorthOpening(next) ? next : this.limit;
  }

  begin(size: number): Promise<Turn> | Turn {
    if (this.#sending.files < this.limit) return this.#began(size);
    return new Promise(begin => {
      this.#waiting.push({size, begin});
      const files = Math.min(this.prepared, this.#sending.files + this.#waiting.length);
      if (files > this.limit) this.onPrepared(files);
    });
  }

  #began(size: number): Turn {
    this.#begun += 1;
    // A run of one file measures nothing, and need not load what that takes.
    if (this.#begun === 2) this.#round.begin();
    const number = this.#begun;
    this.#sending.begin(size);
    let sentAt: number | undefined;
    let hasMoved = false;
    const moved = () => {
      if (!hasMoved) this.#countMoved();
      hasMoved = true;
    };
    return {
      sent: connectMs => {
        const {prepared} = this;
        this.#sending.sent(connectMs);
        const now = this.#clock.monotonic();
        if (sentAt === undefined) this.#silence.sent(connectMs, this.#limit);
        else if (now - sentAt >= longestRefusalMs(connectMs)) moved();
        sentAt ??= now;
        this.#admit(prepared);
      },
      end: how => {
        const {prepared} = this;
        if (how === 'stored') {
          this.#sending.stored += 1;
          this.#round.stored(size);
          moved();
        }
        hasMoved = true;
        this.#ended(number, size, how);
        this.#admit(prepared);
      },
    };
  }

  #raiseInSilence(): void {
    const {limit, prepared} = this;
    if (this.#isFirstRound) this.#limit = Math.min(this.most, largeStep * limit);
    this.#admit(prepared);
  }

  /** Counts a file that was stored, or of which bytes still leave when a refusal would have come. */
  #countMoved(): void {
    // A pause is a single long round, of which chance decides less.
    const rounds = this.#isFirstRound || this.#base !== undefined ? 1 : 1 + this.#pause;
    const files = this.#round.moved();
    if (files >= rounds * this.#roundLength && this.#round.ms >= rounds * shortestRoundMs) this.#endRound();
  }

  #ended(number: number, size: number, how: AttemptEnd): void {
    this.#silence.break();
    this.#sending.end(size);
    if (how === 'stored') this.#setbacks.stored(this.#limit);
    if (how === 'refused' || how === 'broken') this.#failed(number, how);
  }

  /** Lets those go on that there is room for now; `before`: how many were prepared until now. */
  #admit(before: number): void {
    while (this.#waiting.length > 0 && this.#sending.files < this.limit) {
      const next = this.#waiting.shift();
      next?.begin(this.#began(next.size));
    }
    if (this.prepared > before) this.onRise();
  }

  #failed(number: number, how: 'refused' | 'broken'): void {
    const kind = this.#setbacks.kindOf(
      {number, how, others: this.#sending.files, limit: this.#limit},
      this.#begun,
    );
    if (kind === 'setback') this.#goBack();
    if (kind === 'by chance' || how === 'broken') return;
    // What is in progress was not refused, and nothing takes the place of what was.
    this.#limit = Math.max(1, Math.min(this.#limit, this.#setbacks.unrefused));
    this.#pause = Math.max(this.#pause, pauseAfterSetback);
  }

  /** Takes a step that was too large back, or halves the limit, which is less than was possible and may soon be raised. */
  #goBack(): void {
    const base = this.#base?.limit;
    const half = Math.max(this.#limit > modest ? modest : 1, Math.floor(this.#limit / 2));
    if (this.#isFirstRound) this.#rest(Math.min(half, first), firstPause);
    else if (base === undefined || base > this.#limit) this.#rest(half, firstPause);
    else this.#rest(base, Math.min(longestPauseAfterSetback, Math.max(pauseAfterSetback, 2 * this.#pause)));
    this.#round.begin();
  }

  /** Not all of the files, so that no round waits for the slowest; of the first, half tell enough. */
  get #roundLength(): number {
    return this.#isFirstRound ? Math.min(first, this.#limit) / 2 : 0.75 * Math.max(first, this.#limit);
  }

  #endRound(): void {
    const measured = this.#round.measure();
    this.#round.begin();
    if (this.#base !== undefined) this.#judge(measured, this.#base);
    else if (measured.wasBusy) this.#approach(Math.min(whenBusy, this.most), measured.throughput);
    else if (this.#isFirstRound) this.#endFirstRound(measured);
    else this.#search(measured.throughput, cautiousStep);
  }

  #endFirstRound({throughput, wereTogether}: Measured): void {
    // The others are about to move, too.
    if (wereTogether) this.#search(multiplied(throughput, 2), largeStep);
    else this.#search(throughput, smallStep);
  }

  /** Whether the limit was worth changing, and where to go from here. */
  #judge({throughput, wasBusy}: Measured, base: Base): void {
    const step = this.#limit / base.limit;
    const gained = gainOf(throughput, base.throughput);
    const longerPause = Math.max(this.#pause, Math.min(longestPause, 2 * this.#pause));
    if (step < 1 && wasBusy) this.#rest(this.#limit, firstPause);
    else if (step < 1 || gained < noise) this.#rest(base.limit, longerPause);
    // As many files as the throughput has grown by fill it, and some more: opening connections took its part of this round.
    else if (wasBusy || gained < mostOfStep * step)
      this.#rest(Math.min(this.#limit, Math.ceil(Math.sqrt(base.limit * gained * this.#limit))), firstPause);
    else {
      this.#pause = firstPause;
      this.#search(throughput, this.#nextStep);
    }
  }

  /** Fewer are worth it if this process is still busy with them. One that has just started is busy with itself. */
  #approach(limit: number, throughput: Throughput): void {
    if (this.#limit < limit && !this.#setbacks.haveOccurred) this.#limit = limit;
    if (this.#limit <= limit || this.#isFirstRound) return;
    this.#base = {limit: this.#limit, throughput};
    this.#limit = Math.max(limit, Math.floor(this.#limit / smallStep));
  }

  get #nextStep(): number {
    if (this.#isFirstRound) return largeStep;
    return this.#setbacks.haveOccurred ? cautiousStep : smallStep;
  }

  #raised(step: number): number {
    return Math.min(this.most, Math.max(this.#limit + 1, Math.floor(this.#limit * step)));
  }

  #rest(limit: number, pause: number): void {
    this.#limit = limit;
    this.#pause = pause;
    this.#isFirstRound = false;
    this.#base = undefined;
  }

  #search(throughput: Throughput, step: number): void {
    const raised = this.#raised(step);
    // Where it was raised in silence, the first round is one of both limits.
    const before = this.#isFirstRound ? Math.min(first, this.#limit) : this.#limit;
    const limit = Math.floor(Math.sqrt(before * this.#limit));
    this.#isFirstRound = false;
    this.#base = raised > limit ? {limit, throughput} : undefined;
    this.#limit = raised;
  }
}
