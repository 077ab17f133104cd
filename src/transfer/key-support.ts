import {Stop} from '../lib/stop.ts';
import type {TransferOptions} from './options.ts';

/** How long a service has to respond when it is asked, in milliseconds. */
const questionMs = 5_000;

/** Whether the service honours Idempotency-Key: as the user says, else as it declares, now or, as the journal remembers, before. */
export class KeySupport {
  readonly #options: TransferOptions;
  #question: Promise<void> | undefined;

  constructor(options: TransferOptions) {
    this.#options = options;
  }

  get isCertain(): boolean {
    return this.#isHonoured === true;
  }

  get #isHonoured(): boolean | undefined {
    const {onUnknown, uploader, journal} = this.#options;
    if (onUnknown !== 'declared') return onUnknown === 'honoured';
    return uploader.honoursKeys ?? journal?.reader.scope?.honoursKeys;
  }

  /** Call after each response. */
  learn(): void {
    const {uploader, journal} = this.#options;
    if (uploader.honoursKeys !== undefined) journal?.recordKeySupport(uploader.honoursKeys);
  }

  /** The same as `isCertain`; if nothing is known yet, the service is asked, once and without a file. */
  async ask(): Promise<boolean> {
    if (this.#isHonoured === undefined) {
      this.#question ??= this.#ask();
      await this.#question;
    }
    return this.isCertain;
  }

  async #ask(): Promise<void> {
    const {uploader, clock, stop} = this.#options;
    const end = new Stop();
    const onStop = () => end.abort(stop.reason);
    const cancel = clock.after(questionMs, onStop);
    stop.addEventListener('abort', onStop, {once: true});
    if (!stop.aborted) await uploader.probeAvailability?.(end);
    cancel();
    stop.removeEventListener('abort', onStop);
    this.learn();
  }
}
