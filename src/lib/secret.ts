import {inspect} from 'node:util';

/** Shorter ones are no secret, and are found in words that have nothing to do with them. */
const shortestFound = 8;

/** The text between quotes of JSON, to the end of the text where the last is not closed, and the text that is not. */
const stringOrRest = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|[^"]+/gs;

/** An API key that prints itself only when asked by name: toString, JSON and inspect show a placeholder. */
export class Secret {
  readonly #value: string;
  #pattern: RegExp | undefined;

  constructor(value: string) {
    this.#value = value;
  }

  /** The key itself, for the Authorization header and the key store alone. */
  reveal(): string {
    return this.#value;
  }

  /** What may be shown: the last 4 characters, or nothing of a key shorter than 12. */
  masked(): string {
    return this.#value.length < 12 ? '********' : `********${this.#value.slice(-4)}`;
  }

  /**
   * The same text without the key, however its characters are written: as they are, escaped as in JSON, or with percent
   * signs as in a URL. JSON stays JSON.
   */
  redactIn(text: string): string {
    if (this.#value.length < shortestFound) return text;
    this.#pattern ??= spellingsOf(this.#value);
    const pattern = this.#pattern;
    if (!pattern.test(text)) return text;
    // An escape is passed over whole, so that the key is never found from the middle of one.
    const keyOrEscape = new RegExp(`(${pattern.source})|\\\\.`, 'gis');
    // A key of digits may also be a number that is none of its business, such as a size.
    const isNumber = !Number.isNaN(Number(this.#value));
    return text.replace(stringOrRest, part =>
      isNumber && !part.startsWith('"')
        ? part
        : part.replace(keyOrEscape, (found, key) => (key === undefined ? found : '[secret]')),
    );
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

/** Finds a key in text, in capitals or not: host names lose them. */
function spellingsOf(key: string): RegExp {
  const characters = [...key].map(character => {
    const hex = character.charCodeAt(0).toString(16).padStart(2, '0');
    const plain = `\\x${hex}`;
    const escaped = `\\\\u00${hex}|%${hex}`;
    // Within JSON these two are never written as they are, and a slash may be escaped.
    if (character === '"' || character === '\\') return `(?:\\\\${plain}|${escaped})`;
    return `(?:${character === '/' ? '\\\\?' : ''}${plain}|${escaped})`;
  });
  return new RegExp(characters.join(''), 'i');
}
