import type {MediaError} from '../../errors.ts';
import type {LeftOut, Outcome} from '../../transfer/outcome.ts';

/** Something that is done with the answers of an upload, besides printing them. */
export interface AfterAction {
  add(outcome: Outcome): void;
  /** A walk has left something out. */
  leftOut?(input: LeftOut): void;
  /** The run ended early, with this error. */
  failed(error: MediaError): void;
  /** Does it; resolves to what went wrong, where that makes the run a failure. */
  end(): Promise<MediaError | undefined>;
}
