import type {Invocation} from '../../cli/invocation.ts';
import type {MediaError} from '../../errors.ts';
import {groupSentence, reasonOf} from '../../output/failure-text.ts';
import {withoutTries} from '../../transfer/explain.ts';
import {type Outcome, unrecordedOf} from '../../transfer/outcome.ts';

/** How many reasons are shown; files with other reasons are only counted. */
const mostGroups = 20;
/** How many files are named for one reason. */
const mostNames = 3;

/** The failures for one reason. */
interface Group {
  count: number;
  names: string[];
  reason: string;
  /** The error of the first file. */
  error: MediaError;
}

/**
 * Reports failures on standard error: in words at the end of the run, grouped by reason, so that 400,000 of them take no more
 * memory and screen than 20. With --verbose, --fail-fast or JSON, each failure is reported at once.
 */
export class Failures {
  readonly #report: Invocation['report'];
  readonly #atOnce: boolean;
  readonly #groups = new Map<string, Group>();
  /** Files whose reason is not one of the first twenty. */
  #others = 0;

  constructor({report}: Invocation, failFast: boolean) {
    this.#report = report;
    this.#atOnce = failFast || report.isJson || report.level === 'verbose';
  }

  add(outcome: Outcome, several: boolean): void {
    const {name} = outcome;
    const error = 'error' in outcome ? outcome.error : unrecordedOf(outcome);
    if (error === undefined) return;
    if (this.#atOnce || !several) this.#report.failure(error, name, several);
    else this.#keep(error, name);
  }

  #keep(error: MediaError, name: string): void {
    const reason = reasonOf(error.reworded({message: withoutTries(error.message)}), name);
    const key = JSON.stringify([error.code, reason, error.hint]);
    const group = this.#groups.get(key);
    if (group !== undefined) {
      group.count += 1;
      if (group.names.length < mostNames) group.names.push(name);
    } else if (this.#groups.size < mostGroups)
      this.#groups.set(key, {count: 1, names: [name], reason, error});
    else this.#others += 1;
  }

  /** Reports the groups, once. */
  end(): void {
    for (const {count, names, reason, error} of this.#groups.values()) {
      if (count === 1) this.#report.failure(error, names[0], true);
      else this.#report.failures(error, groupSentence(count, reason), names, count);
    }
    this.#groups.clear();
    if (this.#others === 0) return;
    const files = this.#others === 1 ? '1 more file' : `${this.#others} more files`;
    this.#report.note(`... and ${files} for other reasons; --verbose shows every failure.`);
    this.#others = 0;
  }
}
