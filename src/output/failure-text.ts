import {hasTrait, MediaError} from '../errors.ts';
import {own} from '../lib/object.ts';
import {systemCode} from '../lib/system-code.ts';

/** Where an error's sentence names the file, or -1. A name such as `1` may also occur in a URL or a number. */
function placeOf({code, message}: MediaError, file: string): number {
  if (file === '' || !hasTrait(code, 'of a file')) return -1;
  for (let at = message.indexOf(file); at >= 0; at = message.indexOf(file, at + 1)) {
    const startsWord = at === 0 || /\s/.test(message.charAt(at - 1));
    if (startsWord && /^([,.:;]?(\s|$))/.test(message.slice(at + file.length))) return at;
  }
  return -1;
}

/** The error's sentence, with the file's name in front unless the sentence names it. */
export function failureSentence(error: MediaError, file: string): string {
  return placeOf(error, file) >= 0 ? error.message : `${file}: ${error.message}`;
}

/** The sentence without its file, which may be the same for several files. */
export function reasonOf(error: MediaError, file: string): string {
  const {message} = error;
  const at = placeOf(error, file);
  if (at < 0) return message;
  const rest = message.slice(at + file.length);
  return at === 0 ? rest : `${message.slice(0, at)}the file${rest}`;
}

const plurals: Record<string, string> = {does: 'do', is: 'are', was: 'were', has: 'have', could: 'could'};

/** A reason with its number of files: `12 files do not exist.` or `12 files: The connection broke.` */
export function groupSentence(count: number, reason: string): string {
  if (!reason.startsWith(' ')) return `${count} files: ${reason}`;
  const [, verb = '', rest = ''] = /^ (\w+)(.*)$/s.exec(reason) ?? [];
  const plural = own(plurals, verb);
  // What else speaks of one file stays as it is.
  return plural === undefined || /\b(?:it|an?)\b/.test(rest)
    ? `Each of ${count} files${reason}`
    : `${count} files ${plural}${rest}`;
}

/** A warning with its number of files: `3 files tell where they were taken.` or `3 files: The name ends in .jpg ...` */
export function groupWarning(count: number, warning: string): string {
  const [, verb, rest = ''] = /^It (\w+?)s?\b(.*)$/.exec(warning) ?? [];
  return verb === undefined
    ? `${count} files: ${warning}`
    : `${count} files ${verb}${rest.replace('it was', 'they were')}`;
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
