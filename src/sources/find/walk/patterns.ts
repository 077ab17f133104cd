import {MediaError} from '../../../errors.ts';

/** Whether a path with `/` as separator matches. */
export type Matcher = (path: string) => boolean;

/**
 * Compiles a pattern: `*`, `?`, `**`, `[abc]`, `{a,b}`, and the groups `@(a|b)`, `+(a|b)`, `!(a|b)`; a backslash escapes the
 * character after it. An empty pattern is a usage error.
 */
export async function compilePattern(pattern: string, options: {dot: boolean}): Promise<Matcher> {
  const {default: picomatch} = await import('picomatch');
  try {
    // With this flag a dot in the regular expression matches line feeds, which names may contain.
    const matches = picomatch(toPicomatch(pattern), {...options, nonegate: true, windows: false, flags: 's'});
    if (options.dot || spellsDots(pattern)) return matches;
    // In picomatch, !(a) matches names with a leading dot.
    return path => matches(path) && !/(?:^|\/)\./.test(path);
  } catch (error) {
    throw new MediaError('usage', `"${pattern.slice(0, 60)}" is not a pattern that can match a file.`, {
      cause: error,
      hint: "Patterns look like '*.png', 'photos/**' or '*.{jpg,jpeg}'.",
    });
  }
}

/** Whether a pattern contains a leading dot, so that it may match hidden files. */
export function spellsDots(pattern: string): boolean {
  return /(?:^|[/{,(|[\\])\./.test(pattern);
}

/** Escapes `( ) | "` and converts `[!a]`, which picomatch reads differently from a shell; names like "photo (1).png" are common. */
function toPicomatch(pattern: string): string {
  let escaped = '';
  /** The open parentheses: whether each one is a group. */
  const groups: boolean[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern.charAt(at);
    const classEnd = character === '[' ? pattern.indexOf(']', at + 2) : -1;
    if (classEnd !== -1) {
      escaped += pattern.slice(at, classEnd + 1).replace('[!', '[^');
      at = classEnd;
    } else if (character === '\\') {
      at += 1;
      const literal = pattern.charAt(at) || '\\';
      // In a regular expression \b and others have a meaning.
      escaped += /\w/.test(literal) ? literal : `\\${literal}`;
    } else if (character === '(') {
      groups.push('@+!'.includes(pattern.charAt(at - 1) || ' '));
      escaped += groups.at(-1) ? '(' : '\\(';
    } else if (character === ')') {
      escaped += groups.pop() ? ')' : '\\)';
    } else if (character === '"' || (character === '|' && !groups.at(-1))) {
      escaped += `\\${character}`;
    } else {
      escaped += character;
    }
  }
  return escaped;
}
