import {inspect} from 'node:util';
import {isJson} from '../json.ts';
import {quotedIn, replaceRanges} from './ranges.ts';

/** An API key. toString, JSON and inspect print a placeholder; only reveal() returns the key. */
export class Secret {
  readonly #value: string;
  #redaction: Redaction | undefined;
  #wholeRedaction: Redaction | undefined;

  constructor(value: string) {
    this.#value = value;
  }

  /** The key itself, for the Authorization header and the key store only. */
  reveal(): string {
    return this.#value;
  }

  /** The key as it may be shown: its last 4 characters, or none of a key shorter than 12. */
  mask(): string {
    return this.#value.length < 12 ? '********' : `********${this.#value.slice(-4)}`;
  }

  /** The text without the key, or any 12 consecutive characters of it, in any encoding. JSON stays valid. */
  redactIn(text: string): string {
    this.#redaction ??= new Redaction(this.#value);
    return this.#redaction.apply(text);
  }

  /** The text without the whole key, in any encoding: a record may share words with the key. JSON stays valid. */
  redactWholeIn(text: string): string {
    this.#wholeRedaction ??= new Redaction(this.#value, Number.POSITIVE_INFINITY);
    return this.#wholeRedaction.apply(text);
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}

/** A run of this many characters of the key is as secret as the key. */
const shortestSecret = 12;
/** A shorter key is only found as a whole word: it may occur in unrelated words. */
const shortestPart = 8;
/** A key shorter than this is a word like any other; only its context shows that it is a key. */
const shortestWord = 4;
/** How far before the key that context may begin. */
const longestContext = 100;
/** How many characters the quick check compares. */
const sample = 4;

/** A spelling to search for: all its runs of one length, in lower case. */
interface Spelling {
  readonly text: string;
  readonly length: number;
  readonly runs: ReadonlySet<string>;
}

/** A text with its escapes decoded, in lower case. */
interface DecodedText {
  readonly lower: string;
  /** Where each of its UTF-16 units was in the original, and where the text ended. */
  readonly starts: Uint32Array;
}

/** Finds a key, and parts of it, in text. */
export class Redaction {
  readonly #key: string;
  readonly #spellings: readonly Spelling[];
  readonly #samples: readonly string[];
  readonly #isNumber: boolean;

  /** Finds what has at least this many consecutive characters of the key. */
  constructor(key: string, least = shortestSecret) {
    this.#key = key.toLowerCase();
    // A key of digits could also be an unrelated number, such as a size.
    this.#isNumber = !Number.isNaN(Number(key));
    const spellings = [anyEscape, percentEscape].map(pattern => read(key, pattern).lower);
    const texts = key.length < shortestPart ? [] : [key, ...spellings];
    texts.push(...base64Of(key).filter(text => text.length >= shortestPart));
    this.#spellings = [...new Set(texts.map(text => text.toLowerCase()))].map(text =>
      runsOf(text, Math.min(text.length, least)),
    );
    this.#samples = key.length < shortestPart ? [this.#key] : this.#spellings.flatMap(samplesOf);
  }

  /** The text without the key, whether it is plain, escaped as in JSON or in a URL, or in base64. JSON stays JSON. */
  apply(text: string): string {
    if (!this.#mayContain(text)) return text;
    // In text that is not JSON, quotes may end nothing and backslashes may escape nothing.
    const plain = isJson(text) ? [] : [percentEscape, noEscape];
    const ranges = [
      ...[anyEscape, jsonEscape].flatMap(pattern => this.#rangesIn(read(text, pattern, noQuote))),
      ...plain.flatMap(pattern => this.#rangesIn(read(text, pattern))),
    ];
    const isQuoted = this.#isNumber ? quotedIn(text) : undefined;
    const secrets = isQuoted === undefined ? ranges : ranges.filter(([start]) => isQuoted[start]);
    return replaceRanges(text, secrets, '[secret]');
  }

  /** A quick check whether the text needs the full search. */
  #mayContain(text: string): boolean {
    if (this.#key === '') return false;
    if (this.#hasSample(text)) return true;
    if (!text.includes('\\') && !text.includes('%')) return false;
    return [anyEscape, jsonEscape, percentEscape].some(pattern =>
      this.#hasSample(text.replace(pattern, plainOf)),
    );
  }

  #hasSample(text: string): boolean {
    const lower = text.toLowerCase();
    return this.#samples.some(part => lower.includes(part));
  }

  /** The ranges of the original text that hold the key or a run of it; they may overlap. */
  #rangesIn({lower, starts}: DecodedText): [number, number][] {
    const ranges: [number, number][] = [];
    const add = (from: number, to: number) => ranges.push([starts[from] ?? 0, starts[to] ?? 0]);
    if (this.#key.length < shortestPart) {
      for (const at of placesOf(this.#key, lower))
        if (this.#isWordAt(lower, at)) add(at, at + this.#key.length);
    }
    for (const {text, length, runs} of this.#spellings) {
      if (length === text.length) for (const at of placesOf(text, lower)) add(at, at + length);
      else
        for (let at = 0; at + length <= lower.length; at += 1)
          if (runs.has(lower.slice(at, at + length))) add(at, at + length);
    }
    return ranges;
  }

  /** Whether a short key stands here as a word of its own; one below 4 characters only counts after "bearer". */
  #isWordAt(lower: string, at: number): boolean {
    if (/\w/.test(lower.charAt(at + this.#key.length))) return false;
    if (this.#key.length >= shortestWord) return !/\w/.test(lower.charAt(at - 1));
    return /bearer[ "':=]+$/.test(lower.slice(Math.max(0, at - longestContext), at));
  }
}

const anyEscape = /\\u[\da-f]{4}|\\.|%[\da-f]{2}/gis;
const jsonEscape = /\\u[\da-f]{4}|\\./gis;
const percentEscape = /%[\da-f]{2}/gis;
/** Matches nothing: a text without escapes. */
const noEscape = /(?!)/gs;

/** Stands for an unescaped quote: in JSON it begins or ends a string, so it is not part of a key. */
const noQuote = '\uffff';

/** Decodes the escapes that a pattern finds in a text; a megabyte of text takes at most five. */
function read(text: string, pattern: RegExp, quote = '"'): DecodedText {
  const starts = new Uint32Array(text.length + 1);
  let lower = '';
  let units = 0;
  let at = 0;
  /** Adds decoded text, of which each character is `each` characters of the original. */
  const add = (plain: string, written: number, each: number) => {
    lower += lowerCaseInPlace(plain);
    for (const end = at + written; at < end; at += each) {
      starts[units] = at;
      units += 1;
    }
  };
  const addPlain = (end: number) => add(text.slice(at, end).replaceAll('"', quote), end - at, 1);
  for (const {0: written, index} of text.matchAll(pattern)) {
    addPlain(index);
    add(plainOf(written), written.length, written.length);
  }
  addPlain(text.length);
  starts[units] = text.length;
  return {lower, starts};
}

/** A text in lower case with each character at its place: one whose lower case is longer stays as it is. */
function lowerCaseInPlace(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return text.replace(/./gs, unit => (unit.toLowerCase().length === 1 ? unit.toLowerCase() : unit));
}

/** Where a word stands in a text. */
function* placesOf(word: string, text: string): Generator<number> {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) yield at;
}

/** Samples of a spelling, of which each run contains at least one. */
function samplesOf({text, length}: Spelling): string[] {
  const parts: string[] = [];
  for (let at = 0; at + sample <= text.length; at += Math.max(1, length - sample + 1))
    parts.push(text.slice(at, at + sample));
  return parts.length === 0 ? [text] : parts;
}

/** The character that an escape means; `\n` is read as `n`, since no key has a line break. */
function plainOf(spelling: string): string {
  const hex = /^(?:\\u|%)(?=[\da-f]+$)(.+)$/i.exec(spelling)?.[1];
  return hex === undefined ? spelling.slice(-1) : String.fromCharCode(Number.parseInt(hex, 16));
}

/** A spelling with all its runs of one length. */
function runsOf(text: string, length: number): Spelling {
  const runs = new Set<string>();
  for (let at = 0; at + length <= text.length; at += 1) runs.add(text.slice(at, at + length));
  return {text, length, runs};
}

/** The base64 of the key after any number of other bytes, without the characters that depend on adjacent bytes. */
function base64Of(key: string): string[] {
  return [0, 1, 2].flatMap(offset => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(key, 'latin1')]);
    const encoded = bytes.toString('base64').replace(/=+$/, '');
    const own = encoded.slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
