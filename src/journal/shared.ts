import type {Clock} from '../host.ts';
import type {JournalReader} from './reader.ts';
import type {Admission, Journal} from './run-journal.ts';

/** The methods of a journal that uploads need, whether it is held for the whole run or not. */
export type RunJournal = Pick<Journal, 'reader' | 'recall' | 'admit' | 'close'>;

/** How long an idle journal is kept, in milliseconds. */
const idleMs = 2_000;

/** A journal that other runs may take whenever this run does not use it: it is opened again for the next file. */
export class SharedJournal implements RunJournal {
  readonly #open: () => Promise<Journal>;
  readonly #clock: Pick<Clock, 'after'>;
  /** The journal that was opened last; its records can be read until it is closed. */
  #latest: Journal;
  #held: Promise<Journal> | undefined;
  #users = 0;
  #cancelRelease = () => {};
  /** Resolves when the journal that was released last is closed. */
  #released: Promise<void> = Promise.resolve();

  /** `open`: opens the journal; `first`: the journal that it returned the first time. */
  constructor(open: () => Promise<Journal>, first: Journal, clock: Pick<Clock, 'after'>) {
    this.#open = open;
    this.#clock = clock;
    this.#latest = first;
    this.#held = Promise.resolve(first);
    this.#begin()();
  }

  get reader(): JournalReader {
    return this.#latest.reader;
  }

  async recall(...parameters: Parameters<Journal['recall']>): ReturnType<Journal['recall']> {
    const end = this.#begin();
    try {
      return await (await this.#journal()).recall(...parameters);
    } finally {
      end();
    }
  }

  async admit(...[input, source, options]: Parameters<Journal['admit']>): Promise<Admission> {
    const end = this.#begin();
    let isInProgress = false;
    try {
      const journal = await this.#journal();
      const admission = await journal.admit(input, source, {...options, onEnd: end});
      isInProgress = admission.status === 'new';
      return admission;
    } finally {
      if (!isInProgress) end();
    }
  }

  /** Makes everything durable and releases the journal; rejects if the former failed, now or earlier. */
  async close(): Promise<void> {
    this.#cancelRelease();
    await this.#released;
    await (await this.#held?.catch(() => undefined))?.close();
  }

  async #journal(): Promise<Journal> {
    this.#held ??= this.#released.then(this.#open);
    const held = this.#held;
    try {
      this.#latest = await held;
    } catch (error) {
      // The run that has it now may be done by the next file.
      if (this.#held === held) this.#held = undefined;
      throw error;
    }
    return this.#latest;
  }

  /** Begins to use the journal; returns the function that ends the use. */
  #begin(): () => void {
    this.#users += 1;
    this.#cancelRelease();
    let isEnded = false;
    return () => {
      if (isEnded) return;
      isEnded = true;
      this.#users -= 1;
      if (this.#users === 0) this.#cancelRelease = this.#clock.after(idleMs, () => this.#release());
    };
  }

  #release(): void {
    const held = this.#held;
    this.#held = undefined;
    this.#released = held === undefined ? this.#released : held.then(journal => journal.close());
    // The next file gets the error.
    this.#released.catch(() => {});
  }
}
