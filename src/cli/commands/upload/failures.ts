import type {Outcome} from '../../../engine/transfer/outcome.ts';
import {isOfRun, type PlainError} from '../../../errors.ts';
import {groupSentence} from '../../output/failure-text.ts';
import type {Invocation} from '../../session/invocation.ts';

/** How many reasons are shown; files with other reasons are only counted. */
const mostGroups = 20;
/** How many file names are listed for one reason, unless the files may be stored. */
const mostNames = 3;

/** The files with one reason, of which `tell` reports the number and some names. */
interface Group {
  count: number;
  names: string[];
  tell: (count: number, names: readonly string[]) => void;
}

type Named = Pick<Outcome, 'file'> & {status?: string};

/** A failure, and without what is so for its file only, which would keep equal failures apart. */
export interface WrittenFailure {
  error: PlainError;
  common: () => PlainError;
}

/**
 * Reports warnings and failures of files: grouped by reason at the end, or at once with --verbose, --json (except for
 * those of the run) or one input.
 */
export function failureReport({report}: Pick<Invocation, 'report'>, isEachNamed = false) {
  const atOnce = isEachNamed || report.level === 'verbose';
  /** By what the files have in common, so that 400,000 of them take no more memory and screen space than 20. */
  const groups = {warning: new Map<string, Group>(), failure: new Map<string, Group>()};
  const others = {warning: 0, failure: 0};
  /** Adds a file to the group with this key; only the `tell` of the group's first file is used. */
  const addTo = (
    what: keyof typeof groups,
    key: string,
    {file: name, status}: Named,
    tell: Group['tell'],
  ) => {
    const group = groups[what].get(key) ?? {count: 0, names: [], tell};
    const isUnknown = status === 'unknown';
    if (group.count === 0 && groups[what].size >= mostGroups && !isUnknown) {
      others[what] += 1;
      return;
    }
    groups[what].set(key, group);
    group.count += 1;
    if (isUnknown || group.names.length < mostNames) group.names.push(name);
  };
  return {
    warn(name: string, message: string, several: boolean, ofSeveral?: string): void {
      const tell: Group['tell'] = (count, names) => {
        if (count === 1) report.warning(`${name}: ${message}`);
        else
          report.warnings(
            `${count} files${ofSeveral === undefined ? `: ${message}` : ` ${ofSeveral}`}`,
            names,
            count,
          );
      };
      if (atOnce || !several) tell(1, []);
      else addTo('warning', message, {file: name}, tell);
    },
    add(outcome: Named, several: boolean, {error, common: write}: WrittenFailure): void {
      const {file: name} = outcome;
      if (!several || (report.json === 'json' ? !isOfRun(error.code) : atOnce)) {
        report.failure(error, name, several);
        return;
      }
      const common = write();
      const alike = groupSentence(common, 2, {page: undefined});
      addTo('failure', JSON.stringify([error.code, alike, common.hint]), outcome, (count, names) => {
        if (count === 1) report.failure(error, name, true);
        else report.failures(common, groupSentence(common, count), isOfRun(error.code) ? [] : names, count);
      });
    },
    /** Reports the groups, once. */
    end(): void {
      for (const what of ['warning', 'failure'] as const) {
        for (const {count, names, tell} of groups[what].values()) tell(count, names);
        const count = others[what];
        const files = count === 1 ? '1 more file' : `${count} more files`;
        if (count > 0) report.note(`... and ${files} for other reasons; --verbose shows every ${what}.`);
        groups[what].clear();
        others[what] = 0;
      }
    },
  };
}
