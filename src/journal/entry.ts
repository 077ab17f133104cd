import type {Transition} from './file/lines.ts';

export interface EntryParts {
  key: string;
  inDoubt: boolean;
  /** Of its whole content, in hex, where that is known before it is sent. */
  sha256: string | undefined;
  append: (transition: Transition) => Promise<void>;
  /** Called with the hash of what is about to be sent. */
  tell: (sha256: string) => void;
  end: () => void;
}

/** One upload of a run, as its journal is told of it. */
export class JournalEntry {
  readonly idempotencyKey: string;
  /** Whether an earlier upload of this content is of unknown outcome: no failure of this one makes that certain. */
  readonly inDoubt: boolean;
  /** Of the whole content, in hex, where nobody has to find it while it is sent. */
  readonly sha256: string | undefined;
  readonly #parts: EntryParts;
  #sent = '';

  constructor(parts: EntryParts) {
    this.idempotencyKey = parts.key;
    this.inDoubt = parts.inDoubt;
    this.sha256 = parts.sha256;
    this.#parts = parts;
  }

  /** Resolves once it is durable that the last chunk is about to be sent. `sha256` is of the whole content, in hex. */
  async commit(sha256: string): Promise<void> {
    this.#sent = sha256;
    this.#parts.tell(sha256);
    await this.#parts.append({event: 'commit', key: this.idempotencyKey, sha256});
  }

  /** Resolves once the service's record is durable. */
  async done(recordJson: string): Promise<void> {
    await this.#parts.append({event: 'done', key: this.idempotencyKey, sha256: this.#sent, recordJson});
  }

  /** Writes that nothing was stored, for certain; another commit may follow. Never for an unknown outcome. */
  async failed({code, message}: {code: string; message: string}): Promise<void> {
    await this.#parts.append({event: 'failed', key: this.idempotencyKey, code, message});
  }

  /** No more will be told of this upload in this run. What was committed and has no end is unknown. */
  end(): void {
    this.#parts.end();
  }
}
