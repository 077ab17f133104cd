import {isAt, isDigit, textStops} from './plain-bytes.ts';

const [quote, comma, minus, dot, colon, backslash] = [0x22, 0x2c, 0x2d, 0x2e, 0x3a, 0x5c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Records are rarely nested; a deeper one is left to the parser. */
const deepest = 16;

/**
 * The end of the record at `at`: a JSON object with an ID, without white space. -1 if it is not one, or if only a
 * parser can tell. The bytes are UTF-8.
 */
export function plainRecordEnd(bytes: Uint8Array, begin: number): number {
  if (bytes[begin] !== openBrace) return -1;
  let at = begin;
  let depth = 0;
  /** One bit for each open object or list: 1 for an object. */
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
      // If there were a second ID, that one would count.
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

/** Where the value after a name begins; -1 for a name with an escape, which may be any name. */
function nameEnd(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== quote) return -1;
  let end = at + 1;
  while (textStops[bytes[end] ?? 0] === 0) end += 1;
  return bytes[end] === quote && bytes[end + 1] === colon ? end + 2 : -1;
}

/** Whether the value at this offset is an ID: a number, or a text that is not empty. */
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

/** Where an escape ends, given the offset after its backslash. */
function escapeEnd(bytes: Uint8Array, at: number): number {
  const byte = bytes[at] ?? 0;
  if (escapes.has(byte)) return at + 1;
  const isNumber = byte === 0x75 && [1, 2, 3, 4].every(each => hexDigits.has(bytes[at + each] ?? 0));
  return isNumber ? at + 5 : -1;
}

const words = ['true', 'false', 'null'].map(word => Buffer.from(word));

/** Where a number or a word ends; a number with an exponent is left to the parser. */
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
