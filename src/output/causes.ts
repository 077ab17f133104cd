import {MediaError, systemCode} from '../errors.ts';

/** Deeper than any chain of causes that is worth reading; one may also lead back into itself. */
const deepest = 10;

/**
 * What led to a failure, from the nearest cause to the first, a line each; a bug is told by its stack. Empty where the
 * failure's own sentence says it all.
 */
export function causesOf(error: MediaError): string[] {
  if (error.code === 'internal') return stackOf(error.cause);
  const lines: string[] = [];
  let told = error.message;
  let cause = error.cause;
  for (let depth = 0; depth < deepest && cause !== undefined && cause !== null; depth += 1) {
    const text = describe(cause);
    if (!told.includes(text)) lines.push(`  cause: ${text}`);
    told = text;
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return lines;
}

function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  // Of all addresses of a host, where none could be reached.
  if (cause instanceof AggregateError && cause.message === '') return cause.errors.map(describe).join('; ');
  // What cannot be parsed is quoted there, and may be a key.
  if (cause instanceof SyntaxError) return cause.name;
  const text = cause.message || cause.name;
  const code = cause instanceof MediaError ? undefined : systemCode(cause);
  return code === undefined || text.includes(code) ? text : `${text} (${code})`;
}

function stackOf(cause: unknown): string[] {
  const stack = cause instanceof Error ? cause.stack : undefined;
  return stack?.split('\n').map(line => `  ${line}`) ?? [];
}
