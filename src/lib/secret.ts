import {inspect} from 'node:util';
import {Redaction} from './redaction.ts';

/** An API key that prints itself only when asked by name: toString, JSON and inspect show a placeholder. */
export class Secret {
  readonly #value: string;
  #redaction: Redaction | undefined;

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

  /** The same text without the key, or any 12 characters of it in a row, however they are written. JSON stays JSON. */
  redactIn(text: string): string {
    this.#redaction ??= new Redaction(this.#value);
    return this.#redaction.apply(text);
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
