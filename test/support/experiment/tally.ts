import type {Findings} from './experiment.ts';
import type {Comparison} from './verdicts.ts';

/** Counts trials and what their verdicts were worth. */
export class Tally {
  #tried = 0;
  #held = 0;
  readonly #broken: string[] = [];
  #uploaded = 0;
  #unknown = 0;
  #needless = 0;
  #files = 0;

  /** Takes in the comparison of one trial. */
  add(what: string, {broken, uploaded, unknown, needless, files}: Comparison): void {
    this.#tried += 1;
    if (broken.length === 0) this.#held += 1;
    this.#broken.push(...broken.map(line => `${what}: ${line}`));
    this.#uploaded += uploaded;
    this.#unknown += unknown;
    this.#needless += needless;
    this.#files += files;
  }

  findings(note: string): Findings {
    const share = (count: number) => `${Math.round((1_000 * count) / this.#files) / 10} %`;
    return {
      tried: this.#tried,
      held: this.#held,
      broken: this.#broken,
      note: `${note}; of ${this.#files} files ${share(this.#uploaded)} uploaded, ${share(this.#unknown)} unknown, ${share(this.#needless)} needlessly so`,
    };
  }
}

/** Works on all items, so many at a time. */
export async function concurrently<Item>(
  items: Iterable<Item>,
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) await work(next.value);
  };
  await Promise.all(Array.from({length: limit}, worker));
}
