import type {Outcome} from '../../../engine/transfer/outcome.ts';
import {hasTrait, MediaError} from '../../../errors.ts';
import {shellQuoted, shellWord} from '../../../lib/shell.ts';
import type {Invocation} from '../../session/invocation.ts';

/** The longest command to suggest; terminals accept lines of at most 4,095 characters. */
const longestCommand = 2000;

/** The options that select and name the inputs. */
const inputOptions = new Set(['recursive', 'all', 'exclude', 'filesFrom', 'shard', 'name', 'clipboard']);

/** Collects the failed inputs that may succeed on another run, and suggests a command; very many are only counted. */
export function retryAdvice(
  {inputs, filesFrom = []}: {inputs: readonly string[]; filesFrom?: readonly string[]},
  {argv, optionWords}: Pick<Invocation, 'argv' | 'optionWords'>,
) {
  // A pipe cannot be read again.
  const isRepeatable = !inputs.includes('-') && !filesFrom.some(isStream);
  const same = isRepeatable ? commandOf(argv) : undefined;
  let [count, others, length] = [0, 0, 0];
  /** The failed inputs; undefined if a command cannot name them. */
  let names: string[] | undefined = [];
  /** The inputs of unknown outcome; empty for one that cannot be read again. */
  const unknown: string[] = [];
  const withoutInputs = () => commandOf(['upload', ...optionWords(inputOptions)]);
  return {
    /** Keeps the name of a failure that may pass for advice(), and that of an unknown file for settling(). */
    add(outcome: Outcome): void {
      if (outcome.status === 'unknown')
        unknown.push(outcome.isOnce ? '' : shellQuoted(outcome.nameBytes ?? outcome.file));
      if (outcome.status !== 'failed' || outcome.isOnce || !mayPass(outcome.error)) {
        others += 1;
        return;
      }
      count += 1;
      const {file, nameBytes} = outcome;
      length += file.length + 1;
      if (nameBytes !== undefined || length > longestCommand) names = undefined;
      names?.push(shellQuoted(file));
    },
    /** The suggestion as lines; empty if another run would not help. */
    advice(isRemembered: boolean): string[] {
      if (count === 0) return [];
      const files = count === 1 ? 'the file' : `the ${count} files`;
      const isSame = isRemembered || others === 0;
      const command = isSame ? same : names && [withoutInputs(), ...names].join(' ');
      if (canBePasted(command)) return [`To retry ${files} that may succeed later:`, `  ${command}`];
      if (isSame) return [`To retry ${files} that may succeed later, run the same command again.`];
      return [
        `One command cannot name ${files} that may succeed later.`,
        'List them for --files-from. Only a run that had --journal FILE from its start can be repeated as it is.',
      ];
    },
    /** The command that settles all files of unknown outcome, as lines; `journal` is the one that records them. */
    settling(journal: string | undefined): string[] {
      const files = unknown.length === 1 ? 'the unknown file' : `the ${unknown.length} unknown files`;
      const resolve = `  media journal resolve ${shellQuoted(journal ?? '')} --all --resend`;
      if (journal !== undefined && unknown.length > 0)
        return [`To have the next run send ${files} again:`, resolve];
      const words = [withoutInputs(), ...unknown.filter(name => name !== '')];
      if (words.length === 1 || words[0]?.includes('\ufffd')) return [];
      // However many there are, no line is too long to be pasted.
      const isLong = words.join(' ').length > longestCommand;
      return [`To send ${files} again:`, ...`  ${words.join(isLong ? ' \\\n    ' : ' ')}`.split('\n')];
    },
    /** The suggestion to continue with a journal after a signal. */
    continuation: () =>
      canBePasted(same)
        ? ['To continue where this run stopped:', `  ${same}`]
        : ['To continue where this run stopped, run the same command again.'],
  };
}

/** Whether a command can be pasted as one line. A word that is not UTF-8 cannot: it was read with U+FFFD. */
function canBePasted(command: string | undefined): command is string {
  return command !== undefined && command.length <= longestCommand && !command.includes('\ufffd');
}

function commandOf(words: readonly string[]): string {
  return ['media', ...words.map(shellWord)].join(' ');
}

/** A file that was not tried may succeed, unless the next run would end for the same reason. */
function mayPass(error: MediaError): boolean {
  if (error.code !== 'not_tried') return hasTrait(error.code, 'passing');
  return !(error.cause instanceof MediaError && hasTrait(error.cause.code, 'lasting'));
}

/** Whether a list of names comes from a pipe. */
function isStream(list: string): boolean {
  return list === '-' || /^\/(dev|proc)\//.test(list);
}
