import {MediaError, messageText} from '../../errors.ts';
import {type Face, plurals} from '../../hint.ts';
import {systemCode} from '../../lib/system-code.ts';

/** The error's message, with the file's name in front unless it is one of the names in it. */
export function failureSentence({sentence, message}: MediaError, file: string): string {
  let isNamed = false;
  const named = (name: string) => {
    isNamed ||= name === file;
    return name;
  };
  // The text is not needed, only the names that it asks for.
  messageText(sentence, {subject: named, file: named});
  return isNamed ? message : `${file}: ${message}`;
}

/**
 * The sentence of a failure that several files have: `12 files do not exist.` or `12 files: The connection broke.`
 * `other`: further facts that are left out, or written in another way.
 */
export function groupSentence(
  {sentence}: MediaError,
  count: number,
  other: Parameters<typeof messageText>[1] = {},
): string {
  let isSubject = false;
  const subject: Face['fact']['subject'] = (_, verb) => {
    isSubject = true;
    return verb === undefined ? `Each of ${count} files` : `${count} files ${plurals[verb]}`;
  };
  const text = messageText(sentence, {subject, file: 'the file', tries: undefined, ...other});
  return isSubject ? text : `${count} files: ${text}`;
}

/** The longest chain of causes to show; a chain may also be circular. */
const deepest = 10;

/** The causes of a failure, one per line; for a bug, its stack. Empty if its own sentence says it all. */
export function causesOf(error: MediaError): string[] {
  if (error.code === 'internal') {
    const stack = error.cause instanceof Error ? error.cause.stack : undefined;
    return stack?.split('\n').map(line => `  ${line}`) ?? [];
  }
  const lines: string[] = [];
  let message = error.message;
  let cause = error.cause;
  for (let depth = 0; depth < deepest && cause !== undefined && cause !== null; depth += 1) {
    const text = describe(cause);
    if (!message.includes(text)) lines.push(`  cause: ${text}`);
    message = text;
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return lines;
}

/** A cause in one line, with the system's code if it has one. */
function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  // One error for each address of a host that could not be reached.
  if (cause instanceof AggregateError && cause.message === '') return cause.errors.map(describe).join('; ');
  // The message quotes the text that could not be parsed, which may be a key.
  if (cause instanceof SyntaxError) return cause.name;
  const text = cause.message || cause.name;
  const code = cause instanceof MediaError ? undefined : systemCode(cause);
  return code === undefined || text.includes(code) ? text : `${text} (${code})`;
}
