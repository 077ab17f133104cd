import type {MediaError} from '../../../errors.ts';
import type {LeftOut, Outcome} from '../../../transfer/outcome.ts';

/** Something that is done with the results of an upload besides printing them. */
export interface AfterAction {
  add(outcome: Outcome): void;
  /** Called for each file that a walk left out. */
  leftOut?(input: LeftOut): void;
  /** Called if the run ended early with this error. */
  failed(error: MediaError): void;
  /** Acts at the end of the run; resolves to an error if that makes the run a failure. */
  end(): Promise<MediaError | undefined>;
}
