import {MediaError} from '../../../../errors.ts';
import {type ByteName, fromText, toText} from '../../../../lib/files/typed-path.ts';
import {own} from '../../../../lib/object.ts';
import {fromPath, isHiddenName, parentsOf} from './names.ts';
import type {WalkRules} from './walk.ts';

/** Whether a path with `/` as separator matches. */
export type Matcher = (path: string) => boolean;

/** The most characters of a pattern, and of all patterns that its choices mean: far more than anybody writes. */
const longestPattern = 4096;
const mostSpelled = 200_000;

/** Compiles a pattern: `*`, `?`, `**`, `[abc]`, `{a,b}`, `{1..3}`, `\`. `dot`: wildcards match a leading dot. */
export function compilePattern(pattern: string, {dot}: {dot: boolean}): Matcher {
  const regExp = compile(pattern, segments => pathSource(segments, dot));
  return path => path === pattern || regExp.test(path);
}

/** A regular expression for all patterns without choices that a pattern means; `sourceOf` makes the source of one. */
function compile(pattern: string, sourceOf: (segments: readonly string[]) => string): RegExp {
  try {
    if (pattern === '' || pattern.length > longestPattern) throw new RangeError('the length of the pattern');
    const sources = withoutChoices(pattern).map(one => sourceOf(one.split(/\\?\//).filter(isSegment)));
    const regExp = new RegExp(`^(?:${sources.join('|')})$`, 'su');
    // One that is too large is refused when it is used first.
    regExp.test('');
    return regExp;
  } catch (cause) {
    throw new MediaError('usage', `"${pattern.slice(0, 60)}" is not a pattern that can match a file.`, {
      cause,
      hint: "Patterns look like '*.png', 'photos/**' or '*.{jpg,jpeg}'.",
    });
  }
}

function isSegment(part: string): boolean {
  return part !== '' && part !== '.';
}

/** The patterns without choices that a pattern means: `ab` and `ac` of `a{b,c}`. They are added to `found`. */
function withoutChoices(pattern: string, found: string[] = []): string[] {
  const {start, words, end} = choiceIn(pattern) ?? {words: []};
  if ((found.length + words.length) * pattern.length > mostSpelled)
    throw new RangeError('the number of choices');
  if (words.length === 0) found.push(pattern);
  for (const word of words) withoutChoices(`${pattern.slice(0, start)}${word}${pattern.slice(end)}`, found);
  return found;
}

/** The braces of a pattern that close first of those with a comma or a range, and the words that they mean. */
function choiceIn(pattern: string): {start: number; words: string[]; end: number} | undefined {
  /** For each open brace, its place and those of its commas. */
  const open: number[][] = [];
  for (const {0: part, index: at} of pattern.matchAll(/\\.|[{},]/gs)) {
    if (part === '{') open.push([at]);
    if (part === ',') open.at(-1)?.push(at);
    const places = (part === '}' && open.pop()) || [];
    const words = places.map((place, index) => pattern.slice(place + 1, places[index + 1] ?? at));
    const range = words.join().includes('..') ? rangeOf(words.join()) : undefined;
    if (range || words.length > 1) return {start: places[0] ?? 0, words: range ?? words, end: at + 1};
  }
  return undefined;
}

/** The numbers of `9..11`, or the letters of `a..c`; as in a shell, a leading zero makes all equally long. */
function rangeOf(range: string): string[] {
  const ends = range.split('..');
  const isNumeric = /^\d+\.\.\d+$/.test(range);
  const codes = ends.map(end => (isNumeric ? Number(end) : end.charCodeAt(0)));
  const first = Math.min(...codes);
  const length = Math.max(...codes) - first + 1;
  if (!(isNumeric || /^(?:[a-z]\.\.[a-z]|[A-Z]\.\.[A-Z])$/.test(range)) || length > mostSpelled)
    throw new RangeError(`{${range}}`);
  const width = ends.some(end => /^0\d/.test(end)) ? Math.max(...ends.map(end => end.length)) : 0;
  const item = (code: number) => (isNumeric ? `${code}`.padStart(width, '0') : String.fromCharCode(code));
  return Array.from({length}, (_, index) => item(first + index));
}

/** What stars never match: `.`, `..`, and names that begin with a dot, unless the pattern spells or allows it. */
const dotGuard = (mayBeHidden: boolean) => (mayBeHidden ? '(?!\\.\\.?(?:/|$))' : '(?!\\.)');

/** The source of a regular expression for paths of these parts, each a name or `**`; `dot`: as for compilePattern(). */
function pathSource(segments: readonly string[], dot: boolean): string {
  const anyName = `${dotGuard(dot)}[^/]+`;
  const last = segments.length - 1;
  const pieces = [''];
  for (const [index, segment] of segments.entries()) {
    const isAny = segment === '**';
    if (isAny) pieces.push('');
    // At the end, ** means what is in a directory, not the directory itself.
    if (index === last) pieces.push(`${pieces.pop()}${isAny ? anyName : segmentSource(segment, dot)}`);
    else if (!isAny) pieces.push(`${pieces.pop()}${segmentSource(segment, dot)}/`);
  }
  return joinWithStars(pieces, `${anyName}/`);
}

/** A star, an escaped character, a class, and any other character. */
const segmentPart = /(\*+)|\\(.)|\[([!^]?)((?:\[:\w+:\]|\\.|[^\\])(?:\[:\w+:\]|\\.|[^\\\]])*)\]|./gsu;

/** The source of a regular expression for one part of a path; `dot`: as for compilePattern(). */
function segmentSource(segment: string, dot: boolean): string {
  const pieces = [''];
  for (const [text, stars, escaped, not, members] of segment.matchAll(segmentPart))
    if (stars !== undefined) pieces.push('');
    else if (members !== undefined) pieces.push(`${pieces.pop()}(?!/)[${not && '^'}${classSource(members)}]`);
    else pieces.push(`${pieces.pop()}${text === '?' ? '[^/]' : literal(escaped ?? text)}`);
  const isSpelled = !/^[*?[]/.test(segment);
  const guard = isSpelled && pieces.length === 1 ? '' : dotGuard(dot || isSpelled);
  return `${guard}${joinWithStars(pieces, '[^/]')}`;
}

const namedClasses: Readonly<Record<string, string>> = {
  alnum: '\\p{Alpha}\\p{Nd}',
  alpha: '\\p{Alpha}',
  blank: ' \\t',
  cntrl: '\\p{Cc}',
  digit: '0-9',
  lower: '\\p{Lower}',
  punct: '\\p{P}\\p{S}',
  space: '\\s',
  upper: '\\p{Upper}',
  word: '\\w',
  xdigit: '0-9A-Fa-f',
};

/** The members of a class in the spelling of a regular expression; throws a RangeError for an unknown `[:name:]`. */
function classSource(members: string): string {
  return members.replace(/\[:(\w+):\]|\\(.)|[[\]^]/gsu, (text, name, escaped = text) => {
    if (name === undefined) return escaped === '-' ? '\\-' : literal(escaped);
    const characters = own(namedClasses, name);
    if (characters === undefined) throw new RangeError(text);
    return characters;
  });
}

function literal(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
}

/** Pieces with any number of steps between them. Each ends where it first fits: to go back would take far too long. */
function joinWithStars([first = '', ...others]: readonly string[], step: string): string {
  const last = others.pop();
  if (last === undefined) return first;
  const between = others.map(piece => piece && `(?:(?!${piece})${step})*${piece}`);
  return `${first}${between.join('')}(?:${step})*${last}`;
}

/** Decides which files are wanted, and which directories may contain them. */
export type Filters = Omit<WalkRules, 'hides'>;

/**
 * Compiles the patterns of --exclude: without a slash, of the last part of a path; with one at its end, of a directory.
 * With a directory, everything in it is excluded.
 */
export function compileFilters(exclude: readonly string[]): Filters {
  const rules = exclude.map(compileRule);
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

/** One pattern of --exclude: without a slash, `matches` looks at the last part of a path only. */
function compileRule(text: string) {
  const userText = toText(fromPath(text));
  const pattern = userText.replace(/^(?:\.{0,2}\/)+|^\.$/, '');
  const isMatch = compilePattern(pattern.replace(/(?:\/+\*\*)?\/*$/, ''), {dot: true});
  const isPath = /\/[^/]/.test(pattern) || pattern !== userText;
  return {
    matches: (path: ByteName) => isMatch(toText(isPath ? path : path.slice(path.lastIndexOf('/') + 1))),
    /** It matches directories and everything in them. */
    ofDirectories: /\/(?:\*\*)?$/.test(pattern),
  };
}

/** Typed paths may begin with `/` or `../`, which patterns need not contain. */
function withoutClimb(path: ByteName): ByteName {
  return path.replace(/^(?:\.\.\/)*\/*/, '');
}

/** Whether an argument contains a glob: `*`, `?`, a class `[a]` or a choice `{a,b}`. */
export function isPattern(argument: string): boolean {
  return /[*?]|\[\]?[^\]/]+\]|^[^{]*\{.*?(?:,|\.\.).*\}/s.test(argument);
}

/** Whether a brace of a part of a pattern may close in another part. */
function isOpen(segment: string): boolean {
  return segment.split('{').length !== segment.split('}').length;
}

/** Compiles a file pattern, whose stars skip hidden names as in a shell; `recursive`: also what is in directories. */
export function compileGlob(pattern: string, recursive: boolean): WalkRules & {base: ByteName} {
  const text = toText(fromPath(pattern));
  const segments = text.split('/').filter((segment, index) => index === 0 || isSegment(segment));
  const first = segments.findIndex(
    segment => isPattern(segment) || segment.includes('\\') || isOpen(segment),
  );
  const base = segments.slice(0, first).join('/');
  const rest = segments.slice(first).join('/');
  const matches = compilePattern(rest, {dot: false});
  const leading = compile(rest, leadingSource);
  const mayLead = (directory: ByteName) => leading.test(`${toText(directory)}/`);
  const isWhole = (directory: ByteName) => recursive && matches(toText(directory));
  const isSpelled = (path: ByteName) => matches(toText(path)) || mayLead(path);
  const inWhole = (relative: ByteName) => recursive && [...parentsOf(relative)].some(isWhole);
  // As in a shell, x/**/ means x and the directories in it.
  const ofDirectories = text.endsWith('/') && !(recursive && /\/\*\*\/+$/.test(text));
  return {
    // The directory before the first glob character, as typed.
    base: fromText(first === 1 && base === '' ? '/' : base || '.'),
    takes: file => (!ofDirectories && matches(toText(file))) || inWhole(file),
    enters: directory => mayLead(directory) || isWhole(directory) || inWhole(directory),
    // As in a shell, a leading dot must be written in the pattern.
    hides: path => isHiddenName(path) && !isSpelled(path),
  };
}

/** A regular expression for directories, each with a final slash, that may lead to files of these segments. */
function leadingSource(segments: readonly string[]): string {
  const open = segments.indexOf('**');
  const hiddenSegments = segments.slice(open, -1).filter(segment => /^\\?\./.test(segment));
  const names = [`${dotGuard(false)}[^/]+`, ...hiddenSegments.map(segment => segmentSource(segment, false))];
  const below = open === -1 ? '' : `(?:(?=(?:${names.join('|')})/)[^/]+/)*`;
  return segments
    .slice(0, open)
    .reduceRight((rest, segment) => `(?:${segmentSource(segment, false)}/${rest})?`, below);
}
