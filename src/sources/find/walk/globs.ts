import {type ByteName, baseName, fromText, fromTyped, isHiddenName, parentsOf, toText} from './names.ts';
import {compilePattern, type Matcher, spellsDots} from './patterns.ts';
import type {WalkRules} from './walk-rules.ts';

/** A pattern as a walk: where it starts, and what it matches there. */
export interface Glob extends WalkRules {
  /** The directory before the pattern's first glob character, as typed. */
  base: ByteName;
}

/** Whether an argument contains a glob: `*`, `?`, a class `[a]`, a choice `{a,b}` or a group `@(a|b)`. */
export function isPattern(argument: string): boolean {
  return /[*?]|\[[^\]/]+\]|\{[^}]*(?:,|\.\.)[^}]*\}|[@+!]\([^)]*\)/.test(argument);
}

/**
 * Compiles a file pattern. As in a shell, `*` and `**` do not match names with a leading dot. With `recursive`, a matching
 * directory is read recursively, as if it had been named.
 */
export async function compileGlob(pattern: string, recursive: boolean): Promise<Glob> {
  const {base, segments, ofDirectories} = split(pattern);
  const matches = await compilePattern(segments.join('/'), {dot: false});
  const mayLead = await compileLeading(segments);
  const isWhole = (directory: ByteName) => recursive && matches(toText(directory));
  const isSpelled = (path: ByteName) => matches(toText(path)) || mayLead(path);
  const inWhole = (relative: ByteName) => recursive && [...parentsOf(relative)].some(isWhole);
  return {
    base,
    takes: file => (!ofDirectories && matches(toText(file))) || inWhole(file),
    enters: directory => mayLead(directory) || isWhole(directory) || inWhole(directory),
    // As in a shell, a leading dot must be written in the pattern.
    hides: path => isHiddenName(path) && !isSpelled(path),
  };
}

interface Split {
  base: ByteName;
  /** The parts from the first with a glob character on. */
  segments: string[];
  ofDirectories: boolean;
}

function split(pattern: string): Split {
  const slashed = toText(fromTyped(pattern));
  const all = slashed
    .split('/')
    .filter((segment, index) => index === 0 || (segment !== '' && segment !== '.'));
  const first = all.findIndex(
    segment => isPattern(segment) || segment.includes('\\') || !isBalanced(segment),
  );
  const base = all.slice(0, first).join('/');
  return {
    base: fromText(first === 1 && base === '' ? '/' : base || '.'),
    segments: all.slice(first),
    ofDirectories: slashed.endsWith('/'),
  };
}

/** Whether no brace, class or group extends over a slash. */
function isBalanced(segment: string): boolean {
  const count = (characters: string) =>
    [...segment].filter(character => characters.includes(character)).length;
  return count('{') === count('}') && count('(') === count(')');
}

/** Whether files below a directory could match, given that its parents could contain matches. */
async function compileLeading(segments: readonly string[]): Promise<(directory: ByteName) => boolean> {
  const open = segments.findIndex(segment => segment.includes('**') || !isBalanced(segment));
  const leading = open === -1 ? segments.slice(0, -1) : segments.slice(0, open);
  const matchers: Matcher[] = await Promise.all(
    leading.map(segment => compilePattern(segment, {dot: false})),
  );
  const mayBeHidden = spellsDots(segments.join('/'));
  return directory => {
    const name = toText(baseName(directory));
    const matches = matchers[[...parentsOf(directory)].length];
    if (matches !== undefined) return matches(name);
    return open !== -1 && (mayBeHidden || !name.startsWith('.'));
  };
}
