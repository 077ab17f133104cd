import type {Invocation} from '../../cli/invocation.ts';
import type {MediaError} from '../../errors.ts';
import {groupSentence, groupWarning, reasonOf} from '../../output/failure-text.ts';
import {withoutTries} from '../../transfer/attempt/explain.ts';
import {type Outcome, unrecordedOf} from '../../transfer/outcome.ts';

/** Reports warnings and failures of files: grouped by reason at the end, or at once with --verbose, JSON or one input. */
export class Failures {
  readonly #report: Invocation['report'];
  readonly #atOnce: boolean;
  readonly #warnings = new Groups<string>();
  readonly #failures = new Groups<MediaError>();

  constructor({report}: Invocation) {
    this.#report = report;
    this.#atOnce = report.isJson || report.level === 'verbose';
  }

  warn(name: string, message: string, several: boolean): void {
    if (this.#atOnce || !several) this.#report.fileWarning(name, message);
    else this.#warnings.add(message, name, message, message);
  }

  add(outcome: Outcome, several: boolean): void {
    const {name} = outcome;
    const failure = 'error' in outcome ? outcome.error : unrecordedOf(outcome);
    if (failure === undefined) return;
    // Most formats print nothing of a file that is stored, but not as it is here.
    const isMismatched = outcome.status === 'mismatched';
    const hint = isMismatched ? `Its media ID is ${outcome.received.record.id}.` : failure.hint;
    const error = failure.reworded({hint});
    if (this.#atOnce || !several) {
      this.#report.failure(error, name, several);
      return;
    }
    const shown = error.reworded({message: withoutTries(error.message)});
    const alike = reasonOf(shown.reworded({message: shown.messageToKeep}), name);
    this.#failures.add(JSON.stringify([error.code, alike, error.hint]), name, reasonOf(shown, name), error);
  }

  /** Reports the groups, once. */
  end(): void {
    const warnings = this.#warnings.take();
    for (const {count, names, reason} of warnings.groups) {
      if (count === 1) this.#report.fileWarning(names[0] ?? '', reason);
      else this.#report.warnings(groupWarning(count, reason), names, count);
    }
    this.#tellOthers(warnings.others, 'warning');
    const failures = this.#failures.take();
    for (const {count, names, reason, first} of failures.groups) {
      if (count === 1) this.#report.failure(first, names[0], true);
      else this.#report.failures(first, groupSentence(count, reason), names, count);
    }
    this.#tellOthers(failures.others, 'failure');
  }

  #tellOthers(count: number, what: string): void {
    if (count === 0) return;
    const files = count === 1 ? '1 more file' : `${count} more files`;
    this.#report.note(`... and ${files} for other reasons; --verbose shows every ${what}.`);
  }
}

/** How many reasons are shown; files with other reasons are only counted. */
const mostGroups = 20;
/** How many file names are listed for one reason. */
const mostNames = 3;

/** The files with one reason; `first` is the detail of the first file. */
export interface Group<Detail> {
  count: number;
  names: string[];
  reason: string;
  first: Detail;
}

/** Counts files by reason, so that 400,000 of them take no more memory and screen space than 20. */
export class Groups<Detail> {
  readonly #groups = new Map<string, Group<Detail>>();
  #others = 0;

  /** One more file; those with the same `key` share their reason. */
  add(key: string, name: string, reason: string, detail: Detail): void {
    const group = this.#groups.get(key);
    if (group !== undefined) {
      group.count += 1;
      if (group.names.length < mostNames) group.names.push(name);
    } else if (this.#groups.size < mostGroups)
      this.#groups.set(key, {count: 1, names: [name], reason, first: detail});
    else this.#others += 1;
  }

  /** Removes and returns the groups, and the number of files with further reasons. */
  take(): {groups: Group<Detail>[]; others: number} {
    const taken = {groups: [...this.#groups.values()], others: this.#others};
    this.#groups.clear();
    this.#others = 0;
    return taken;
  }
}
