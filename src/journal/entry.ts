import type {Entry} from './index.ts';
import type {Transition} from './lines.ts';

/** One upload of a run, as its journal is told of it. */
export class JournalEntry {
  /** Whether an earlier upload of this content is of unknown outcome: no failure of this one makes that certain. */
  readonly inDoubt: boolean;
  readonly #entry: Entry;
  readonly #append: (transition: Transition) => Promise<void>;
  #sha256 = '';

  constructor(entry: Entry, inDoubt: boolean, append: (transition: Transition) => Promise<void>) {
    this.#entry = entry;
    this.inDoubt = inDoubt;
    this.#append = append;
  }

  get idempotencyKey(): string {
    return this.#entry.key;
  }

  /** Resolves once it is durable that the last chunk is about to be sent. `sha256` is of the whole content, in hex. */
  async commit(sha256: string): Promise<void> {
    this.#sha256 = sha256;
    await this.#append({event: 'commit', key: this.#entry.key, sha256});
  }

  /** Resolves once the service's record is durable. */
  async done(recordJson: string): Promise<void> {
    await this.#append({event: 'done', key: this.#entry.key, sha256: this.#sha256, recordJson});
  }

  /** Writes that nothing was stored, for certain; another commit may follow. Never for an unknown outcome. */
  async failed({code, message}: {code: string; message: string}): Promise<void> {
    await this.#append({event: 'failed', key: this.#entry.key, code, message});
  }

  /** No more will be told of this upload in this run. What was committed and has no end is unknown. */
  end(): void {
    this.#entry.live = false;
  }
}
