import type {Clock} from '../../../host.ts';
import {omitUndefined} from '../../../lib/object.ts';
import {countText, formatBytes, formatDuration} from '../../../lib/units.ts';

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

/** How many bytes were sent, and how many of files that are done, at a time on the monotonic clock. */
interface Sample {
  at: number;
  sent: number;
  /** More than `sent` where files were skipped, less where they were sent again. */
  done: number;
}

/** How far a run is. */
type Standing = ReturnType<Meter['snapshot']>;

/** The rate covers the last ten seconds, with samples at least a second apart: it follows the network and is steady. */
const windowMs = 10_000;
const sampleMs = 1000;

/** Adds up the progress of a run, and its total. A file is identified by its position among the inputs. */
export class Meter {
  readonly #clock: Clock;
  readonly #inFlight = new Map<number, FileInFlight>();
  readonly #samples: Sample[];
  #files = 0;
  /** What was sent of finished files: less than their sizes where they were skipped. */
  #finishedSentBytes = 0;
  #finishedSizes = 0;
  /** The files that were counted ahead of their uploads. */
  readonly #survey = {files: 0, bytes: 0};
  #isCounted = false;
  /** On the monotonic clock. */
  #unavailableSince: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#samples = [{at: clock.monotonic(), sent: 0, done: 0}];
  }

  begin(position: number, name: string, size: number): void {
    this.#inFlight.set(position, {name, size, sent: 0, start: this.#clock.monotonic()});
  }

  progress(position: number, sentBytes: number): void {
    const file = this.#inFlight.get(position);
    if (file === undefined) return;
    file.sent = sentBytes;
    if (file.waiting !== undefined) delete file.waiting;
  }

  /** Shows why a file waits, and for how many milliseconds if known, until its next progress(). */
  setWaiting(position: number, ms: number | undefined, why: string): void {
    const file = this.#inFlight.get(position);
    const until = ms === undefined ? undefined : this.#clock.monotonic() + ms;
    if (file !== undefined) file.waiting = {until, why};
  }

  /** Notes an outage: the time of day since which the service has been unavailable; undefined when it is back. */
  unavailable(since: number | undefined): void {
    const clock = this.#clock;
    // The time of day may be set meanwhile.
    this.#unavailableSince = since === undefined ? undefined : clock.monotonic() - (clock.now() - since);
  }

  /** Counts a file as finished: all of it as done, and for the rate only the bytes that were sent. */
  end(position: number): void {
    const file = this.#inFlight.get(position);
    this.#inFlight.delete(position);
    this.#files += 1;
    this.#finishedSentBytes += file?.sent ?? 0;
    this.#finishedSizes += file?.size ?? 0;
  }

  /** Adds a file of this size to the total, which is known once all are counted. */
  addToSurvey(bytes: number): void {
    this.#survey.files += 1;
    this.#survey.bytes += bytes;
  }

  endSurvey(): void {
    this.#isCounted = this.#survey.files > 0;
  }

  /** Whether files were sent completely that have no response yet. */
  get isAwaiting(): boolean {
    return this.inFlight.some(({sent, size, waiting}) => sent >= size && waiting === undefined);
  }

  /** The files that are being uploaded, in the order in which they started. */
  get inFlight(): FileInFlight[] {
    return [...this.#inFlight.values()];
  }

  /** How far the run is now. */
  snapshot() {
    let [sent, bytes] = [this.#finishedSentBytes, this.#finishedSizes];
    for (const file of this.#inFlight.values()) {
      sent += file.sent;
      bytes += file.sent;
    }
    const at = this.#clock.monotonic();
    const rates = this.#sample({at, sent, done: bytes});
    // The survey counts files whose names say media. More may have been sent, so the totals are never below that.
    const totalFiles = this.#isCounted ? Math.max(this.#survey.files, this.#files) : undefined;
    const totalBytes = this.#isCounted ? Math.max(this.#survey.bytes, bytes) : undefined;
    const isKnown = totalBytes !== undefined && rates.done > 0 && rates.overMs >= sampleMs;
    const since = this.#unavailableSince;
    return omitUndefined({
      /** The number of finished files. */
      files: this.#files,
      /** Of all files, once all inputs are counted. */
      totalFiles,
      /** Of finished files, and what was sent of others. */
      bytes,
      totalBytes,
      bytesPerSecond: Math.round(rates.sent),
      /** Not in the first second, when the rate says little. */
      secondsLeft: isKnown ? Math.ceil((totalBytes - bytes) / rates.done) : undefined,
      /** During an outage. */
      unavailableSeconds: since === undefined ? undefined : Math.round((at - since) / 1000),
    });
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
export function standingText({bytes, totalBytes, bytesPerSecond, secondsLeft}: Standing): string {
  const all = totalBytes === undefined ? '' : ` of ${formatBytes(totalBytes)}`;
  const timeLeft = secondsLeft === undefined ? '' : `, ${formatDuration(secondsLeft)} left`;
  return `${formatBytes(bytes)}${all}, ${formatBytes(bytesPerSecond)}/s${timeLeft}`;
}

/** The number of finished files: `4200 of 10000 files`. */
export function filesText({files, totalFiles}: Standing): string {
  return totalFiles === undefined ? countText(files, 'file') : `${files} of ${countText(totalFiles, 'file')}`;
}

/** Says that the service is away, and for how long; empty while it is there. */
export function unavailableText({unavailableSeconds: seconds}: Standing): string {
  return seconds === undefined ? '' : `the service has been unavailable for ${formatDuration(seconds)}`;
}

/** The progress of a run in percent of its bytes; undefined while the total is unknown. */
export function standingPercent({bytes, totalBytes = 0}: Standing): number | undefined {
  return totalBytes === 0 ? undefined : Math.floor((100 * bytes) / totalBytes);
}
