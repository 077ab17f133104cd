import {MediaError} from '../errors.ts';
import {systemCode} from '../lib/system-code.ts';

/** The longest chain of causes to show; a chain may also be circular. */
const deepest = 10;

/**
 * The causes of a failure, one per line, from the nearest to the first; for a bug, its stack. Empty if the failure's own
 * sentence already says it all.
 */
export function causesOf(error: MediaError): string[] {
  if (error.code === 'internal') return stackOf(error.cause);
  const lines: string[] = [];
  let reported = error.message;
  let cause = error.cause;
  for (let depth = 0; depth < deepest && cause !== undefined && cause !== null; depth += 1) {
    const text = describe(cause);
    if (!reported.includes(text)) lines.push(`  cause: ${text}`);
    reported = text;
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

function stackOf(cause: unknown): string[] {
  const stack = cause instanceof Error ? cause.stack : undefined;
  return stack?.split('\n').map(line => `  ${line}`) ?? [];
}
