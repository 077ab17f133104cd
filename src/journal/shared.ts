import type {Clock} from '../host.ts';
import type {JournalReader} from './reading/reader.ts';
import type {Admission, Journal} from './run-journal.ts';

/** What uploads need of a journal, whether it is held for the whole run or not. */
export type RunJournal = Pick<Journal, 'reader' | 'recall' | 'admit' | 'close'>;

/** How long a journal is kept without work, in milliseconds. */
const idleMs = 2_000;

/** A journal that other runs may have whenever this one has no work: it is opened anew for the next file. */
export class SharedJournal implements RunJournal {
  readonly #open: () => Promise<Journal>;
  readonly #clock: Pick<Clock, 'after'>;
  /** The one opened last, whose records can be asked for until it is closed. */
  #latest: Journal;
  #held: Promise<Journal> | undefined;
  #users = 0;
  #cancelLettingGo = () => {};
  /** Resolves when the last one is closed. */
  #letGo: Promise<void> = Promise.resolve();

  /** `open`: opens the journal; `first`: what it has given the first time. */
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
    let isOnItsWay = false;
    try {
      const journal = await this.#journal();
      const admission = await journal.admit(input, source, {...options, onEnd: end});
      isOnItsWay = admission.status === 'new';
      return admission;
    } finally {
      if (!isOnItsWay) end();
    }
  }

  /** Makes everything durable and lets other runs have the file; rejects when the former failed, now or earlier. */
  async close(): Promise<void> {
    this.#cancelLettingGo();
    await this.#letGo;
    await (await this.#held?.catch(() => undefined))?.close();
  }

  async #journal(): Promise<Journal> {
    this.#held ??= this.#letGo.then(this.#open);
    const held = this.#held;
    try {
      this.#latest = await held;
    } catch (error) {
      // Whoever has it now may be done by the next file.
      if (this.#held === held) this.#held = undefined;
      throw error;
    }
    return this.#latest;
  }

  /** Begins some work; returns what ends it. */
  #begin(): () => void {
    this.#users += 1;
    this.#cancelLettingGo();
    let isEnded = false;
    return () => {
      if (isEnded) return;
      isEnded = true;
      this.#users -= 1;
      if (this.#users === 0) this.#cancelLettingGo = this.#clock.after(idleMs, () => this.#release());
    };
  }

  #release(): void {
    const held = this.#held;
    this.#held = undefined;
    this.#letGo = held === undefined ? this.#letGo : held.then(journal => journal.close());
    // Whoever comes next is told.
    this.#letGo.catch(() => {});
  }
}
