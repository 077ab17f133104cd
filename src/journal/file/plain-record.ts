import {isAt, isDigit, textStops} from './plain-bytes.ts';

const [quote, comma, minus, dot, colon, backslash] = [0x22, 0x2c, 0x2d, 0x2e, 0x3a, 0x5c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Records are hardly nested: one that is deeper is for the parser. */
const deepest = 16;

/**
 * Where a record ends that begins at `at`: a JSON object with an ID, without white space. -1 where it is none, and also where
 * it takes a parser to tell. The bytes are UTF-8.
 */
export function plainRecordEnd(bytes: Uint8Array, begin: number): number {
  if (bytes[begin] !== openBrace) return -1;
  let at = begin;
  let depth = 0;
  /** A bit for each object or list that is open: 1 for an object. */
  let objects = 0;
  let ids = 0;
  for (;;) {
    if ((objects & 1) === 1) {
      const end = nameEnd(bytes, at);
      if (end === -1) return -1;
      if (depth === 1 && isAt(bytes, at, idName)) {
        if (!isId(bytes, end)) return -1;
        ids += 1;
      }
      at = end;
    }
    const first = bytes[at] ?? 0;
    if (first === openBrace || first === openBracket) {
      if (depth === deepest) return -1;
      depth += 1;
      objects = (objects << 1) | (first === openBrace ? 1 : 0);
      at += 1;
      if (bytes[at] !== closeOf(objects)) continue;
    } else {
      at = first === quote ? stringEnd(bytes, at) : plainEnd(bytes, at);
      if (at === -1) return -1;
    }
    while (bytes[at] === closeOf(objects)) {
      at += 1;
      depth -= 1;
      objects >>= 1;
      // A second ID would be the one that counts.
      if (depth === 0) return ids === 1 ? at : -1;
    }
    if (bytes[at] !== comma) return -1;
    at += 1;
  }
}

const idName = Buffer.from('"id":');

function closeOf(objects: number): number {
  return (objects & 1) === 1 ? closeBrace : closeBracket;
}

/** Where the value begins behind a name; -1 for one that is written with an escape, too: it may be any. */
function nameEnd(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== quote) return -1;
  let end = at + 1;
  while (textStops[bytes[end] ?? 0] === 0) end += 1;
  return bytes[end] === quote && bytes[end + 1] === colon ? end + 2 : -1;
}

/** Whether a value that begins there is an ID: a number, or a text that is not empty. */
function isId(bytes: Uint8Array, at: number): boolean {
  const first = bytes[at] ?? 0;
  return first === quote ? bytes[at + 1] !== quote : first === minus || isDigit(first);
}

function stringEnd(bytes: Uint8Array, at: number): number {
  let next = at + 1;
  for (;;) {
    while (textStops[bytes[next] ?? 0] === 0) next += 1;
    if (bytes[next] === quote) return next + 1;
    if (bytes[next] !== backslash) return -1;
    next = escapeEnd(bytes, next + 1);
    if (next === -1) return -1;
  }
}

const escapes = new Set(Buffer.from('"/\\bfnrt'));
const hexDigits = new Set(Buffer.from('0123456789abcdefABCDEF'));

/** Where what stands behind a backslash ends. */
function escapeEnd(bytes: Uint8Array, at: number): number {
  const byte = bytes[at] ?? 0;
  if (escapes.has(byte)) return at + 1;
  const isNumber = byte === 0x75 && [1, 2, 3, 4].every(each => hexDigits.has(bytes[at + each] ?? 0));
  return isNumber ? at + 5 : -1;
}

const words = ['true', 'false', 'null'].map(word => Buffer.from(word));

/** Where a number or a word ends; one with an exponent is for the parser. */
function plainEnd(bytes: Uint8Array, at: number): number {
  const first = bytes[at] === minus ? at + 1 : at;
  let next = first;
  while (isDigit(bytes[next] ?? 0)) next += 1;
  if (next === first) {
    const word = words.find(each => isAt(bytes, at, each));
    return word === undefined ? -1 : at + word.length;
  }
  if (bytes[first] === 0x30 && next > first + 1) return -1;
  if (bytes[next] !== dot) return next;
  const fraction = next + 1;
  next = fraction;
  while (isDigit(bytes[next] ?? 0)) next += 1;
  return next === fraction ? -1 : next;
}
