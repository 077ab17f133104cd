import type {Outcome} from '../../../engine/transfer/outcome.ts';
import {hasTrait, MediaError} from '../../../errors.ts';
import {shellQuoted, shellWord} from '../../../lib/shell.ts';
import type {Invocation} from '../../session/invocation.ts';
import type {UploadFlags} from './flags.ts';

/** The longest command to suggest; terminals accept lines of at most 4,095 characters. */
const longestCommand = 2000;

/** The options that select and name the inputs. */
const inputOptions = new Set(['recursive', 'all', 'exclude', 'filesFrom', 'shard', 'name', 'clipboard']);

/** Collects failed inputs that may succeed on another run, and unknown ones; suggests commands, as lines for people. */
export function retryAdvice({inputs, filesFrom = []}: UploadFlags, {argv, optionWords}: Invocation) {
  // A pipe cannot be read again, be it standard input or a list such as /dev/fd/63.
  const isStream = (name: string) => name === '-' || /^\/(dev|proc)\//.test(name);
  const isRepeatable = !inputs.includes('-') && !filesFrom.some(isStream);
  const sameCommand = isRepeatable ? commandOf(argv) : undefined;
  /** Failures that may pass, other failures, and the characters of the names of the first. */
  let [count, others, length] = [0, 0, 0];
  /** The names of the failures that may pass; undefined if one command cannot have them. */
  let names: string[] | undefined = [];
  /** The names of unknown inputs; empty for one that cannot be read again. */
  const unknown: string[] = [];
  const withoutInputs = () => commandOf(['upload', ...optionWords(inputOptions)]);
  return {
    /** Keeps the name of a failure that may pass for advice(), and that of an unknown file for settling(). */
    add(outcome: Outcome): void {
      const {file, nameBytes, isOnce} = outcome;
      if (outcome.status === 'unknown') unknown.push(isOnce ? '' : shellQuoted(nameBytes ?? file));
      if (outcome.status !== 'failed' || isOnce || !mayPass(outcome.error)) {
        others += 1;
        return;
      }
      count += 1;
      length += file.length + 1;
      if (nameBytes !== undefined || length > longestCommand) names = undefined;
      names?.push(shellQuoted(file));
    },
    /** How to retry what failed; nothing if another run would not help. A run with a memory is repeated as it was. */
    advice(isRemembered: boolean): string[] {
      if (count === 0) return [];
      const files = count === 1 ? 'the file' : `the ${count} files`;
      const isSame = isRemembered || others === 0;
      const command = isSame ? sameCommand : names && [withoutInputs(), ...names].join(' ');
      if (canBePasted(command)) return [`To retry ${files} that may succeed later:`, `  ${command}`];
      if (isSame) return [`To retry ${files} that may succeed later, run the same command again.`];
      return [
        `One command cannot name ${files} that may succeed later.`,
        'List them for --files-from. Only a run that had --journal FILE from its start can be repeated as it is.',
      ];
    },
    /** How to send the unknown files again; with a journal, by settling them there. Nothing if there is none. */
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
      canBePasted(sameCommand)
        ? ['To continue where this run stopped:', `  ${sameCommand}`]
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

/** Whether another run may succeed with a file: also one that was not tried, unless that run would end as this one. */
function mayPass(error: MediaError): boolean {
  if (error.code !== 'not_tried') return hasTrait(error.code, 'passing');
  return !(error.cause instanceof MediaError && hasTrait(error.cause.code, 'lasting'));
}
