import type {Outcome} from '../../../engine/transfer/outcome.ts';
import {isOfRun, type PlainError} from '../../../errors.ts';
import {groupSentence} from '../../output/failure-text.ts';
import type {Invocation} from '../../session/invocation.ts';

/** How many reasons are shown; files with other reasons are only counted. */
const mostGroups = 20;
/** How many file names are listed for one reason, unless the files may be stored. */
const mostNames = 3;

/** The files with one reason; `print` reports their number and some of their names. */
interface Group {
  count: number;
  names: string[];
  print: (count: number, names: readonly string[]) => void;
}

/** The failure of a file. `common` makes the same without what differs between files, such as the media ID. */
interface FileFailure {
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
  /** Adds a file to the group with this key; only the `print` of the group's first file is used. */
  const addTo = (
    what: keyof typeof groups,
    key: string,
    name: string,
    print: Group['print'],
    status = '',
  ) => {
    const group = groups[what].get(key) ?? {count: 0, names: [], print};
    // Someone has to settle each unknown file by its name.
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
    /** Warns of a file. For a group, the sentence is its number and `ofSeveral`, by default the message. */
    warn(name: string, message: string, several: boolean, ofSeveral = `: ${message}`): void {
      const print: Group['print'] = (count, names) => {
        if (count === 1) report.warning(`${name}: ${message}`);
        else report.warnings(`${count} files${ofSeveral}`, names, count);
      };
      if (atOnce || !several) print(1, []);
      else addTo('warning', message, name, print);
    },
    /**
     * Reports the failure of a file now, or at the end with all that have the same code, sentence and hint. `several`:
     * the run has more files. With --json, each line has its own error, so only failures of the run are grouped.
     */
    add({file: name, status}: Outcome, several: boolean, {error, common: commonError}: FileFailure): void {
      if (!several || (report.json === 'json' ? !isOfRun(error.code) : atOnce)) {
        report.failure(error, name, several);
        return;
      }
      const common = commonError();
      // With any number above one: the key is the same for each file of the group.
      const key = JSON.stringify([error.code, groupSentence(common, 2, {page: undefined}), common.hint]);
      const print: Group['print'] = (count, names) => {
        if (count === 1) report.failure(error, name, true);
        else report.failures(common, groupSentence(common, count), isOfRun(error.code) ? [] : names, count);
      };
      addTo('failure', key, name, print, status);
    },
    /** Reports the groups and forgets them. */
    end(): void {
      for (const what of ['warning', 'failure'] as const) {
        for (const {count, names, print} of groups[what].values()) print(count, names);
        const count = others[what];
        const files = count === 1 ? '1 more file' : `${count} more files`;
        if (count > 0) report.note(`... and ${files} for other reasons; --verbose shows every ${what}.`);
        groups[what].clear();
        others[what] = 0;
      }
    },
  };
}
