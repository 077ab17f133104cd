import {inspect} from 'node:util';
import {Redaction} from './redaction.ts';

/** An API key. toString, JSON and inspect print a placeholder; only reveal() returns the key. */
export class Secret {
  readonly #value: string;
  #redaction: Redaction | undefined;

  constructor(value: string) {
    this.#value = value;
  }

  /** The key itself, for the Authorization header and the key store only. */
  reveal(): string {
    return this.#value;
  }

  /** The key as it may be shown: its last 4 characters, or none of a key shorter than 12. */
  masked(): string {
    return this.#value.length < 12 ? '********' : `********${this.#value.slice(-4)}`;
  }

  /** The text without the key, or any 12 consecutive characters of it, in any encoding. JSON stays valid. */
  redactIn(text: string): string {
    return this.#redactor.apply(text);
  }

  /** Whether redactIn() could find something in one of these texts; false is certain. Much faster than to ask for each. */
  mayBeIn(texts: readonly string[]): boolean {
    return this.#redactor.mayHold(texts.join('\n'));
  }

  get #redactor(): Redaction {
    this.#redaction ??= new Redaction(this.#value);
    return this.#redaction;
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
