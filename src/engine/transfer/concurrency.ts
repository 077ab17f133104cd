import type {Clock} from '../../host.ts';

/** How an attempt ended: `refused` as one too many at a time; `broken` in a way that fewer at a time may prevent. */
export type AttemptResult = 'stored' | 'refused' | 'broken' | 'other';

/** Call when nothing more is sent for a file. */
export type ReleaseSlot = (how: AttemptResult) => void;

/** How many files may be in progress at a time: a fixed number, or as many as raise the throughput. */
export type Concurrency = Pick<AdaptiveConcurrency, 'limit'> & Partial<Pick<AdaptiveConcurrency, 'begin'>>;

/** A fixed number of files at a time, or as many as raise the throughput, up to `most`. */
export type ConcurrencyOption = number | {readonly most: number};

/** A concurrency that hardly any service refuses. */
export const safeConcurrency = 8;

/** The limit of the first round. A service that takes 4 at a time refuses 12 of these files: less than 5 % of 300. */
const initialLimit = 2 * safeConcurrency;

/** The factor by which a round of slow start raises the limit. */
const slowStartStep = 4;

/** The same after a round whose responses came one after the other. */
const carefulStep = 2;

/** Responses that come within this part of a round show that neither the line nor the service is nearly full. */
const longestTrain = 1 / 8;

/** A raise by a factor f is kept if the throughput grows by f to this power. */
const keptPower = 0.75;

/** The factor of a later step, as in BBR's ProbeBW. */
const probeStep = 1.25;

/** Rounds before a later step, doubled by each step in vain; also how many failures at once are tolerated. */
const firstPause = 4;

/** The part of a round that this process has to be idle for: a busy one is no faster with more files at a time. */
const leastIdle = 0.1;

/** With this many bytes in progress, more than any line holds, more than `safeConcurrency` files gain nothing. */
const enoughBytes = 64 * 1024 * 1024;

/**
 * The files and bytes that were stored in a round, how long it took, how long before its end the first of them was
 * stored, and how long this process waited for events.
 */
type Round = Readonly<{files: number; bytes: number; ms: number; trainMs: number; idleMs: number}>;

/** A raise of the limit whose gain is yet to be measured: the limit before it, and the last round with that limit. */
type Trial = Readonly<{limitBefore: number; before: Round}>;

/**
 * As many files at a time as raise the throughput, found as TCP finds its congestion window: slow start, then careful
 * increase, and multiplicative decrease when there were too many (RFC 5681). The line or the service is full when the
 * throughput of a round does not grow with the limit, as in BBR (Cardwell et al., "BBR: Congestion-Based Congestion
 * Control", 2016). It is nearly full when responses come one after the other. Slow start takes smaller steps then,
 * as HyStart ends it (Ha and Rhee, "Taming the Elephants: New TCP Slow Start", 2011): connections that are opened while
 * the line's queue is full lose packets. A raise is kept if the throughput grows by most of it. Then the limit rests,
 * and a raise by a quarter is tried after a pause. While this process is the bottleneck, nothing is raised.
 *
 * A broken request halves the limit, or takes the last raise back, once a round (as in RFC 6582). A refusal lowers it
 * to the number of files in progress that were not refused, which is what the service takes.
 */
export class AdaptiveConcurrency {
  readonly #most: number;
  readonly #clock: Pick<Clock, 'monotonic' | 'idle'>;
  readonly #waiting: {size: number; begin: (end: ReleaseSlot) => void}[] = [];
  readonly #inProgress = {files: 0, bytes: 0};
  #limit: number;
  #isSlowStart = true;
  #trial: Trial | undefined;
  #pause = firstPause;
  #round = {files: 0, bytes: 0, began: 0, firstAt: 0, idle: 0};
  /** The attempts begun so far, and those begun at the last decrease, whose failures are part of it. */
  #begun = 0;
  #begunAtDecrease = 0;
  #tolerated = firstPause;

  constructor(clock: Pick<Clock, 'monotonic' | 'idle'>, most: number) {
    this.#clock = clock;
    this.#most = most;
    this.#limit = Math.min(initialLimit, most);
    this.#round.began = clock.monotonic();
  }

  /** How many files may be in progress. It may fall below how many there are: none of them is interrupted. */
  get limit(): number {
    const isFull = this.#inProgress.bytes >= enoughBytes;
    return isFull ? Math.min(this.#limit, safeConcurrency) : this.#limit;
  }

  /** Resolves when a file of `size` bytes may be sent, in the order of calls; call the result when its attempt ends. */
  begin(size: number): Promise<ReleaseSlot> | ReleaseSlot {
    if (this.#inProgress.files < this.limit) return this.#take(size);
    return new Promise(begin => this.#waiting.push({size, begin}));
  }

  /** Counts a file of `size` bytes as in progress, until the returned function is called. */
  #take(size: number): ReleaseSlot {
    this.#begun += 1;
    // A file alone is not measured, which would load another of Node's modules: 3 ms.
    if (this.#begun === 2) this.#round.idle = this.#clock.idle();
    const number = this.#begun;
    this.#inProgress.files += 1;
    this.#inProgress.bytes += size;
    return how => this.#release(number, size, how);
  }

  /** Counts the file out, adapts the limit to how its attempt ended, and begins files that waited for room. */
  #release(number: number, size: number, how: AttemptResult): void {
    this.#inProgress.files -= 1;
    this.#inProgress.bytes -= size;
    if (how === 'stored') this.#countStored(size);
    if (how === 'refused' || how === 'broken') this.#lower(number, how);
    while (this.#inProgress.files < this.limit) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      next.begin(this.#take(next.size));
    }
  }

  /** Counts a stored file of `size` bytes. Enough of them end the round, and win back one failure to be tolerated. */
  #countStored(size: number): void {
    this.#tolerated = Math.min(firstPause, this.#tolerated + 1 / Math.max(this.#limit, safeConcurrency));
    if (this.#round.files === 0) this.#round.firstAt = this.#clock.monotonic();
    this.#round.files += 1;
    this.#round.bytes += size;
    if (this.#round.files >= this.#roundLength * Math.max(initialLimit, this.#limit)) this.#endRound();
  }

  /** How many files make a round, in parts of the limit: few in slow start, then more, to measure more exactly. */
  get #roundLength(): number {
    if (this.#isSlowStart) return 0.75;
    return this.#trial === undefined ? this.#pause : firstPause;
  }

  #beginRound(): void {
    this.#round = {files: 0, bytes: 0, began: this.#clock.monotonic(), firstAt: 0, idle: this.#clock.idle()};
  }

  /** Measures the round, and raises the limit, or judges the last raise by the throughput. */
  #endRound(): void {
    const {files, bytes, began, firstAt, idle} = this.#round;
    const now = this.#clock.monotonic();
    const ms = Math.max(1, now - began);
    const round = {files, bytes, ms, trainMs: now - firstAt, idleMs: this.#clock.idle() - idle};
    if (this.#trial === undefined) this.#raise(round);
    else this.#judge(this.#trial, round);
    this.#beginRound();
  }

  /** Raises the limit on trial, unless this process was busy in the round before: then more files gain nothing. */
  #raise(before: Round): void {
    this.#trial = undefined;
    if (before.idleMs < leastIdle * before.ms) return;
    const limitBefore = this.#limit;
    const startStep = before.trainMs > longestTrain * before.ms ? carefulStep : slowStartStep;
    const step = this.#isSlowStart ? startStep : probeStep;
    this.#limit = Math.min(this.#most, Math.max(limitBefore + 1, Math.floor(limitBefore * step)));
    this.#trial = {limitBefore, before};
    if (this.#limit === limitBefore) this.#rest(limitBefore);
  }

  /** Keeps a raise that gains most of its factor; otherwise lowers the limit accordingly, and doubles the pause. */
  #judge({limitBefore, before}: Trial, round: Round): void {
    const gained = speedup(round, before);
    if (gained < (this.#limit / limitBefore) ** keptPower) {
      this.#pause *= 2;
      // As many files as the throughput has grown by fill the line.
      this.#rest(Math.min(this.#limit, Math.ceil(limitBefore * Math.max(1, gained))));
    } else if (this.#isSlowStart) this.#raise(round);
    else {
      this.#pause = firstPause;
      this.#rest(this.#limit);
    }
  }

  /** Keeps this limit until the pause, a longer round, is over. */
  #rest(limit: number): void {
    this.#limit = limit;
    this.#trial = undefined;
    this.#isSlowStart = false;
  }

  /** Lowers the limit after a failure. Attempts begun before the last decrease lower it only if they were refused. */
  #lower(number: number, how: 'refused' | 'broken'): void {
    const others = this.#inProgress.files;
    // A file that was alone would have failed with any limit.
    if (others === 0) return;
    const isFirst = number > this.#begunAtDecrease;
    if (isFirst && this.#isTolerated()) return;
    const isCounted = how === 'refused' && others + 1 >= this.#limit;
    if (isCounted) this.#rest(others);
    else if (isFirst) {
      // With many at a time, half of them are still no fewer than any service takes.
      const least = this.#limit > safeConcurrency ? safeConcurrency : 1;
      this.#rest(this.#trial?.limitBefore ?? Math.max(least, Math.floor(this.#limit / 2)));
    }
    if (!isFirst) return;
    this.#begunAtDecrease = this.#begun;
    this.#pause *= 2;
    this.#beginRound();
  }

  /** Failures that come with any number of files at a time are tolerated, but not while a raise may be their cause. */
  #isTolerated(): boolean {
    if (this.#isSlowStart || this.#trial !== undefined || this.#tolerated < 1) return false;
    this.#tolerated -= 1;
    return true;
  }
}

/** How many times as many files or bytes a second, whichever grew more. */
function speedup(now: Round, before: Round): number {
  const files = now.files / before.files;
  const bytes = before.bytes > 0 ? now.bytes / before.bytes : 0;
  return Math.max(files, bytes) * (before.ms / now.ms);
}
