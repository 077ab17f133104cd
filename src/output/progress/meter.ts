import type {Clock} from '../../host.ts';
import {defined} from '../../lib/object.ts';
import type {ProgressFields} from '../json-output.ts';
import {formatBytes, formatDuration} from '../units.ts';

/** A file that is being uploaded. */
export interface FileInFlight {
  name: string;
  /** Bytes. */
  size: number;
  /** Bytes of the current attempt that were sent. */
  sent: number;
  /** On the monotonic clock. */
  start: number;
  /** Why it waits and until when, on the monotonic clock, if that is known: shown instead of its progress. */
  waiting?: {until: number | undefined; why: string};
}

/** The progress of a run. */
export interface Standing {
  /** Finished files, whatever their results. */
  files: number;
  /** Bytes sent. */
  sent: number;
  /** Bytes of finished files, plus the bytes sent of the others. */
  done: number;
  /** The recent rate in bytes per second. */
  rate: number;
  /** The total, as far as it has been counted. */
  total?: {files: number; bytes: number; isComplete: boolean};
  /** At the recent rate; absent if the rate or the total is unknown, and in the first second. */
  secondsLeft?: number;
  /** In milliseconds since the Unix epoch; absent while the service is there. */
  unavailableSince?: number;
}

interface Sample {
  at: number;
  sent: number;
  done: number;
}

/** The rate covers the last ten seconds, with samples at least a second apart. */
const windowMs = 10_000;
const sampleMs = 1000;

/** Adds up the progress of a run, and the total while it is being counted. */
export class Meter {
  readonly #clock: Clock;
  readonly #inFlight = new Map<number, FileInFlight>();
  readonly #samples: Sample[];
  #files = 0;
  /** Bytes of finished files: sent, and their sizes. */
  #sent = 0;
  #done = 0;
  #total: {files: number; bytes: number; isComplete: boolean} | undefined;
  #unavailableSince: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#samples = [{at: clock.monotonic(), sent: 0, done: 0}];
  }

  started(position: number, name: string, size: number): void {
    this.#inFlight.set(position, {name, size, sent: 0, start: this.#clock.monotonic()});
  }

  progress(position: number, sentBytes: number): void {
    const file = this.#inFlight.get(position);
    if (file === undefined) return;
    file.sent = sentBytes;
    if (file.waiting !== undefined) delete file.waiting;
  }

  waiting(position: number, ms: number | undefined, why: string): void {
    const file = this.#inFlight.get(position);
    const until = ms === undefined ? undefined : this.#clock.monotonic() + ms;
    if (file !== undefined) file.waiting = {until, why};
  }

  /** The service has been unavailable since this time, or is back. */
  unavailable(since: number | undefined): void {
    this.#unavailableSince = since;
  }

  finished(position: number): void {
    const file = this.#inFlight.get(position);
    this.#inFlight.delete(position);
    this.#files += 1;
    this.#sent += file?.sent ?? 0;
    this.#done += file?.size ?? 0;
  }

  /** Adds a file of this size to the total. */
  counted(bytes: number): void {
    this.#total ??= {files: 0, bytes: 0, isComplete: false};
    this.#total.files += 1;
    this.#total.bytes += bytes;
  }

  allCounted(): void {
    if (this.#total !== undefined) this.#total.isComplete = true;
  }

  /** Whether files were sent completely that have no response yet. */
  get isAwaiting(): boolean {
    return this.inFlight.some(({sent, size, waiting}) => sent >= size && waiting === undefined);
  }

  /** The files that are being uploaded, in the order in which they started. */
  get inFlight(): FileInFlight[] {
    return [...this.#inFlight.values()];
  }

  standing(): Standing {
    let [sent, done] = [this.#sent, this.#done];
    for (const file of this.#inFlight.values()) {
      sent += file.sent;
      done += file.sent;
    }
    const rates = this.#sample({at: this.#clock.monotonic(), sent, done});
    const total = this.#totalOf(done);
    const left = total?.isComplete ? Math.max(0, total.bytes - done) : undefined;
    const isKnown = left !== undefined && rates.done > 0 && rates.overMs >= sampleMs;
    const secondsLeft = isKnown ? left / rates.done : undefined;
    const unavailableSince = this.#unavailableSince;
    const known = defined({total, secondsLeft, unavailableSince});
    return {files: this.#files, sent, done, rate: rates.sent, ...known};
  }

  /** A total that lags behind the finished part is not shown; files that only their bytes call media are not counted. */
  #totalOf(done: number): Standing['total'] {
    if (this.#total === undefined) return undefined;
    const {files, bytes, isComplete} = this.#total;
    if (!isComplete) return files < this.#files || bytes < done ? undefined : {files, bytes, isComplete};
    return {files: Math.max(files, this.#files), bytes: Math.max(bytes, done), isComplete};
  }

  /** Bytes sent and finished per second, from the oldest sample of the window until now. */
  #sample(now: Sample): {sent: number; done: number; overMs: number} {
    const samples = this.#samples;
    while (samples.length > 1 && now.at - (samples[1] as Sample).at >= windowMs) samples.shift();
    const since = samples[0] as Sample;
    if (now.at - (samples.at(-1) as Sample).at >= sampleMs) samples.push(now);
    const seconds = Math.max(0.001, (now.at - since.at) / 1000);
    return {
      sent: Math.max(0, now.sent - since.sent) / seconds,
      done: Math.max(0, now.done - since.done) / seconds,
      overMs: now.at - since.at,
    };
  }
}

/** The bytes, rate and time left of a run: `1.1 GiB of 2.6 GiB, 34.5 MiB/s, 44s left`. */
export function standingText({done, rate, total, secondsLeft}: Standing): string {
  const all =
    total === undefined ? '' : ` of ${formatBytes(total.bytes)}${total.isComplete ? '' : ' or more'}`;
  const left = secondsLeft === undefined ? '' : `, ${formatDuration(secondsLeft)} left`;
  return `${formatBytes(done)}${all}, ${formatBytes(rate)}/s${left}`;
}

/** The number of finished files: `4200 of 10000 files`. */
export function filesText({files, total}: Standing): string {
  const all = total === undefined ? '' : ` of ${total.files}${total.isComplete ? '' : '+'}`;
  return `${files}${all} ${(total?.files ?? files) === 1 ? 'file' : 'files'}`;
}

/** Says that the service is away, and since when; empty while it is there. */
export function unavailableText({unavailableSince: since}: Standing): string {
  if (since === undefined) return '';
  return `the service has been unavailable since ${new Date(since).toTimeString().slice(0, 8)}`;
}

/** The progress of a run in percent of its bytes; undefined while the total is unknown. */
export function standingPercent({done, total}: Standing): number | undefined {
  if (!total?.isComplete || total.bytes === 0) return undefined;
  return Math.floor(100 * Math.min(1, done / total.bytes));
}

/** The progress for programs. */
export function standingFields(standing: Standing, now: number): ProgressFields {
  const {files, done, rate, total, secondsLeft, unavailableSince: since} = standing;
  const whole = total?.isComplete ? total : undefined;
  return defined({
    files,
    totalFiles: whole?.files,
    bytes: done,
    totalBytes: whole?.bytes,
    bytesPerSecond: Math.round(rate),
    secondsLeft: secondsLeft === undefined ? undefined : Math.ceil(secondsLeft),
    unavailableSeconds: since === undefined ? undefined : Math.round((now - since) / 1000),
  });
}
