import {readHash} from '../../lib/tables/content.ts';
import {asciiStops, digitStops, isAt, textStops} from '../file/plain-bytes.ts';
import {plainRecordEnd} from '../file/plain-record.ts';
import type {Digest} from '../known/digest.ts';
import {LineFacts} from '../known/line-facts.ts';

/** The parts of a line: the text before each value, the bytes that end the value, and the text after the last one. */
interface Shape {
  event: Event;
  values: readonly {before: Uint8Array; stops: Uint8Array}[];
  end: Uint8Array;
  /** Which value it is; -1 if there is none. */
  numbers: Readonly<Record<ValueName, number>>;
}

type Event = 'intent' | 'seen' | 'commit' | 'hashed' | 'done' | 'release';

const valueNames = ['by', 'path', 'size', 'stat', 'types', 'contentType', 'sha256'] as const;
type ValueName = (typeof valueNames)[number];

/** Builds a shape from a pattern with a `?` for each value: ASCII, any text, or a number. */
function shapeOf(event: Event, members: string): Shape {
  const parts = `{"event":"${event}",${members}`.split('?');
  const names = parts.slice(0, -1).map(before => /"(\w+)":"?$/.exec(before)?.[1]);
  const values = names.map((name, number) => {
    const stops = name === 'path' ? textStops : name === 'size' ? digitStops : asciiStops;
    return {before: Buffer.from(parts[number] ?? ''), stops};
  });
  const numbers = Object.fromEntries(valueNames.map(name => [name, names.indexOf(name)]));
  return {event, values, end: Buffer.from(parts.at(-1) ?? ''), numbers: numbers as Shape['numbers']};
}

const upload = '"idempotencyKey":"?","by":"?"';
const settled = `${upload},"path":"?","size":?,"stat":"?","types":"?"`;
const young = `${upload},"path":"?","size":?,"types":"?"`;
const hash = '"sha256":"?"}\n';

/** The shapes of a line that has a hash, and the intent as well or not. */
function hashedShapes(event: 'commit' | 'hashed'): Shape[] {
  const starts = [`${settled},"contentType":"?"`, `${young},"contentType":"?"`, upload];
  return starts.map(start => shapeOf(event, `${start},${hash}`));
}

/** By the first letter of the event. */
const shapes: ReadonlyMap<number | undefined, readonly Shape[]> = new Map([
  [0x69, [settled, young].map(start => shapeOf('intent', `${start},"contentType":"?"}\n`))],
  [0x73, [settled, young].map(start => shapeOf('seen', `${start}}\n`))],
  [0x63, hashedShapes('commit')],
  [0x68, hashedShapes('hashed')],
  [0x64, [shapeOf('done', '"idempotencyKey":"?","record":')]],
  [0x72, [shapeOf('release', '"by":"?","at":"?"}\n')]],
]);

/** A text that is often the same as before, so that the string is created only once. */
class LastText {
  text = '';
  #bytes: Uint8Array = Buffer.alloc(0);

  take(bytes: Buffer, from: number, to: number): string {
    if (to - from !== this.#bytes.length || !isAt(bytes, from, this.#bytes)) {
      this.#bytes = Buffer.from(bytes.subarray(from, to));
      this.text = bytes.toString('latin1', from, to);
    }
    return this.text;
  }
}

/**
 * Reads lines in the form that a writer gives nearly all of them: byte by byte, without creating a string or an object
 * for each. Any line that differs from that form is left to the parser, which alone decides what is valid.
 */
export class PlainLines {
  /** The facts of the last line. */
  readonly facts = new LineFacts();
  /** Whether the last line was a release by its writer, and not about an upload. */
  isRelease = false;
  readonly #writer = new LastText();
  readonly #types = new LastText();
  readonly #contentType = new LastText();
  /** Where each value begins and ends. */
  readonly #from = new Uint32Array(8);
  readonly #to = new Uint32Array(8);

  /**
   * Where the line after the one at `begin` begins; -1 if the parser must read it. The bytes are UTF-8, and a line
   * break follows.
   */
  read(bytes: Buffer, begin: number): number {
    const possible = shapes.get(bytes[begin + 10]) ?? [];
    // By index, here and below: before this is compiled, an iterator creates objects for each line and value.
    for (let number = 0; number < possible.length; number += 1) {
      const shape = possible[number];
      const end = shape === undefined ? -1 : this.#match(bytes, begin, shape);
      if (shape === undefined || end === -1) continue;
      if (!this.#readFacts(bytes, shape)) return -1;
      return shape.event === 'done' ? lineEnd(bytes, plainRecordEnd(bytes, end)) : end;
    }
    return -1;
  }

  #match(bytes: Buffer, begin: number, {values, end}: Shape): number {
    let at = begin;
    for (let number = 0; number < values.length; number += 1) {
      const value = values[number];
      if (value === undefined || !isAt(bytes, at, value.before)) return -1;
      at += value.before.length;
      this.#from[number] = at;
      while (value.stops[bytes[at] ?? 0] === 0) at += 1;
      this.#to[number] = at;
    }
    return isAt(bytes, at, end) ? at + end.length : -1;
  }

  #readFacts(bytes: Buffer, {event, numbers}: Shape): boolean {
    const {facts} = this;
    const {by, path, sha256} = numbers;
    this.isRelease = event === 'release';
    facts.by = by === -1 ? '' : this.#text(bytes, by, this.#writer);
    if (event === 'release') return true;
    if (this.#from[0] === this.#to[0]) return false;
    facts.event = event;
    facts.key.begin();
    this.#digest(bytes, 0, facts.key);
    facts.key.end();
    facts.isHashed = sha256 !== -1;
    facts.hasPlace = path !== -1;
    if (facts.isHashed && !this.#readHash(bytes, sha256)) return false;
    return !facts.hasPlace || this.#readPlace(bytes, numbers);
  }

  #readHash(bytes: Buffer, number: number): boolean {
    const from = this.#from[number] ?? 0;
    return this.#to[number] === from + 64 && readHash(this.facts.sha, bytes, from);
  }

  #readPlace(bytes: Buffer, numbers: Shape['numbers']): boolean {
    const {facts} = this;
    const {path, state} = facts;
    path.begin();
    this.#digest(bytes, numbers.path, path);
    state.a = path.a;
    state.b = path.b;
    path.end();
    this.#digest(bytes, numbers.size, state);
    if (numbers.stat !== -1) this.#digest(bytes, numbers.stat, state);
    else state.addBytes(bytes, 0, 0);
    state.end();
    facts.types = this.#text(bytes, numbers.types, this.#types);
    if (numbers.contentType !== -1)
      facts.contentType = this.#text(bytes, numbers.contentType, this.#contentType);
    facts.size = sizeAt(bytes, this.#from[numbers.size] ?? 0, this.#to[numbers.size] ?? 0);
    return facts.size !== -1;
  }

  #digest(bytes: Buffer, number: number, digest: Digest): void {
    digest.addBytes(bytes, this.#from[number] ?? 0, this.#to[number] ?? 0);
  }

  #text(bytes: Buffer, number: number, last: LastText): string {
    return last.take(bytes, this.#from[number] ?? 0, this.#to[number] ?? 0);
  }
}

/** The value of a size; -1 for a number in any other spelling. */
function sizeAt(bytes: Uint8Array, from: number, to: number): number {
  const length = to - from;
  if (length === 0 || length > 15 || (length > 1 && bytes[from] === 0x30)) return -1;
  let size = 0;
  for (let at = from; at < to; at += 1) size = 10 * size + (bytes[at] ?? 0) - 0x30;
  return size;
}

/** Where the line ends whose last member ends at `at`. */
function lineEnd(bytes: Uint8Array, at: number): number {
  return at !== -1 && bytes[at] === 0x7d && bytes[at + 1] === 0x0a ? at + 2 : -1;
}
