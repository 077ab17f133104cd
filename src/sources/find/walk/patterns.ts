import {MediaError} from '../../../errors.ts';
import {type ByteName, fromText, toText} from '../../../lib/files/typed-path.ts';
import {baseName, fromTyped, isHiddenName, parentsOf} from './names.ts';
import type {WalkRules} from './walk.ts';

/** Whether a path with `/` as separator matches. */
export type Matcher = (path: string) => boolean;

/**
 * Compiles a pattern: `*`, `?`, `**`, `[abc]`, `{a,b}`, and the groups `@(a|b)`, `+(a|b)`, `!(a|b)`; a backslash escapes the
 * character after it. An empty pattern is a usage error.
 */
export async function compilePattern(pattern: string, options: {dot: boolean}): Promise<Matcher> {
  const {default: picomatch} = await import('picomatch');
  const shown = pattern.slice(0, 60);
  try {
    const glob = toPicomatch(pattern);
    const syntax = {nonegate: true, windows: false, regex: false, expandRange: rangeOf};
    const source = picomatch.makeRe(glob, {...options, ...syntax}, true);
    const linear = source.replace(classBetweenStars, '$1').replace(starBeforeText, '(?:(?!$1)[^/])*$1');
    if (isSlow(linear) || [...glob.matchAll(/\+\(([^)]*)\)/g)].some(([, body]) => isAmbiguous(body ?? '')))
      throw new MediaError('usage', `"${shown}" would take too long to match with long names.`, {
        hint: 'Use several patterns with fewer stars, and none in +(...).',
      });
    // Dots match line feeds, which names may contain, and `?` matches characters that are two in UTF-16.
    const regExp = new RegExp(`^(?:${toUnicodeMode(linear)})$`, 'su');
    const matches: Matcher = path => path === glob || regExp.test(path);
    if (options.dot || spellsDots(pattern)) return matches;
    // In picomatch, !(a) matches names with a leading dot.
    return path => matches(path) && !/(?:^|\/)\./.test(path);
  } catch (error) {
    if (error instanceof MediaError) throw error;
    throw new MediaError('usage', `"${shown}" is not a pattern that can match a file.`, {
      cause: error,
      hint: "Patterns look like '*.png', 'photos/**' or '*.{jpg,jpeg}'.",
    });
  }
}

/** A class between stars, as picomatch matches it: also by its text, which contains a character of the class. */
const classBetweenStars = /(?<=\[\^\/\]\*\?)\(\?:\\\[[^\\()|]+\\\]\|(\[[^\\\]]+\])\)(?=\[\^\/\]\*\?)/g;

/**
 * A star of picomatch up to the next star, with only single characters, classes and `?` between. If it ends where they first match,
 * the next star takes the rest; trying every later place too would take time that grows with the power of the number of stars.
 */
const starBeforeText =
  /\[\^\/\]\*\?((?:\[(?:\\.|[^\\\]])+\](?!\*)|\\[^\w/]|[^\\^$.*+?()[\]{}|/])+)(?=\[\^\/\]\*\?)/gs;

/** Whether a part of a path is matched by five or more stars and repeated groups of which every combination may be tried. */
function isSlow(source: string): boolean {
  let stars = source.replaceAll('[^/]*?', '\0').replaceAll(')+', ')\0');
  for (let before = ''; before !== stars; ) {
    before = stars;
    stars = stars.replace(/\([^()\0]*\)/g, '');
  }
  return /(?:\0[^/|\0]*){5}/.test(stars);
}

/** Whether the repeated choices of `+(a|b)` may match a text in several ways: these can double with each character. */
function isAmbiguous(body: string): boolean {
  const starts = body.split('|').map(choice => choice.charAt(0));
  return /[*({\\]|[?[].*\||\|.*[?[]/s.test(body) || new Set(starts).size < starts.length;
}

/** Removes escapes that the flag `u` does not allow, and escapes brackets and braces that close nothing. */
function toUnicodeMode(source: string): string {
  return source
    .replace(/\\([^\w^$\\.*+?()[\]{}|/])/gs, (_, character) => (character === '-' ? '\\x2d' : character))
    .replace(/(\\.|\[(?:\\.|[^\\\]])*\]|\{\d,\d\})|[\]{}]/gs, (text, isKept) =>
      isKept ? text : `\\${text}`,
    );
}

/** The numbers or letters of a range such as `{9..11}`, `{01..10}` or `{a..e}` as a regular expression. */
function rangeOf(...parts: unknown[]): string {
  // Picomatch adds its options.
  const ends = parts.slice(0, -1).map(String);
  const isNumeric = /^\d+,\d+$/.test(ends.join());
  const codes = ends.map(end => (isNumeric ? Number(end) : end.charCodeAt(0)));
  const first = Math.min(...codes);
  const count = Math.max(...codes) - first + 1;
  if (!(isNumeric || /^([a-z],[a-z]|[A-Z],[A-Z])$/.test(ends.join())) || count > 10_000)
    throw new RangeError(`{${ends.join('..')}}`);
  // As in a shell, a leading zero means that all numbers have as many digits.
  const width = ends.some(end => /^0\d/.test(end)) ? Math.max(...ends.map(end => end.length)) : 0;
  const item = (code: number) => (isNumeric ? `${code}`.padStart(width, '0') : String.fromCharCode(code));
  return `(?:${Array.from({length: count}, (_, index) => item(first + index)).join('|')})`;
}

/** Whether a pattern contains a leading dot, so that it may match hidden files. */
export function spellsDots(pattern: string): boolean {
  return /(?:^|[/{,(|[\\])\./.test(pattern);
}

/** Escapes `( ) | "` and converts `[!a]`, which picomatch reads differently from a shell; names like "photo (1).png" are common. */
function toPicomatch(pattern: string): string {
  /** The open parentheses: whether each one is a group. */
  const groups: boolean[] = [];
  return pattern.replace(/\\(.?)|\[.[^\]]*\]|[()|"{]/gs, (part, escaped: string | undefined, at: number) => {
    // In a regular expression \b and others have a meaning.
    if (escaped !== undefined) return /\w/.test(escaped) ? escaped : `\\${escaped || '\\'}`;
    if (part.startsWith('[')) return part.replace('[!', '[^').replace(/\\(?=\w)/g, '');
    if (part === '(') groups.push('@+!'.includes(pattern.charAt(at - 1) || ' '));
    const isMeant = part === '{' ? pattern.includes('}', at) : part !== '"' && groups.at(-1) === true;
    if (part === ')') groups.pop();
    return isMeant ? part : `\\${part}`;
  });
}

/** Decides which files are wanted, and which directories may contain them. */
export type Filters = Omit<WalkRules, 'hides'>;

/**
 * Compiles the patterns of --exclude. A pattern without a slash matches the last part of a path, one with a slash the whole
 * path, and one that ends in a slash a directory; with a directory, everything in it is excluded.
 */
export async function compileFilters(exclude: readonly string[]): Promise<Filters> {
  const rules = await Promise.all(exclude.map(compileRule));
  if (rules.length === 0) return {takes: () => true, enters: () => true};
  const isExcluded = (directory: ByteName) => rules.some(rule => rule.matches(directory));
  const isBelowExcluded = (path: ByteName) => [...parentsOf(path)].some(isExcluded);
  return {
    takes: file => {
      const path = withoutClimb(file);
      return !rules.some(rule => !rule.ofDirectories && rule.matches(path)) && !isBelowExcluded(path);
    },
    enters: directory => {
      const path = withoutClimb(directory);
      return !isExcluded(path) && !isBelowExcluded(path);
    },
  };
}

async function compileRule(text: string) {
  const typed = toText(fromTyped(text));
  const pattern = typed.replace(/\/+$/, '').replace(/^(?:\.{0,2}\/)+|^\.$/, '');
  const isMatch = await compilePattern(pattern, {dot: true});
  const isPath = pattern.includes('/') || /^\.{0,2}\//.test(typed);
  return {
    matches: (path: ByteName) => isMatch(toText(isPath ? path : baseName(path))),
    /** It matches directories and everything in them. */
    ofDirectories: typed.endsWith('/'),
  };
}

/** Typed paths may begin with `/` or `../`, which patterns need not contain. */
function withoutClimb(path: ByteName): ByteName {
  return path.replace(/^(?:\.\.\/)*\/*/, '');
}

/** A pattern as a walk: where it starts, and what it matches there. */
export interface Glob extends WalkRules {
  /** The directory before the pattern's first glob character, as typed. */
  base: ByteName;
}

/** Whether an argument contains a glob: `*`, `?`, a class `[a]`, a choice `{a,b}` or a group `@(a|b)`. */
export function isPattern(argument: string): boolean {
  return /[*?]|\[[^\]/]+\]|\{[^}]*(?:,|\.\.)[^}]*\}|[@+!]\([^)]*\)/.test(argument);
}

/** Compiles a file pattern, whose stars skip hidden names as in a shell; `recursive` takes what is in directories, too. */
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

/** The directory before the first part of a pattern with a glob character, and the parts from that on. */
function split(pattern: string): {base: ByteName; segments: string[]; ofDirectories: boolean} {
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
  const matchers = await Promise.all(leading.map(segment => compilePattern(segment, {dot: false})));
  const mayBeHidden = spellsDots(segments.join('/'));
  return directory => {
    const name = toText(baseName(directory));
    const matches = matchers[[...parentsOf(directory)].length];
    if (matches !== undefined) return matches(name);
    return open !== -1 && (mayBeHidden || !name.startsWith('.'));
  };
}
