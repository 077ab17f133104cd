import {decode} from './text.ts';

/** The description of a text without a known format. */
export const plainText = 'plain text';
/** The description of a text that begins with an unknown tag. */
export const markup = 'text with markup';
export const base64Text = 'base64 text';
export const dataUri = 'a data URI';

/** Fewer bytes are not recognised as text, since any format may begin like that. */
const shortestText = 5;

/** The kind of text that the first bytes are: plain text, base64 or a data URI; undefined if they are not text. */
export function sniffPlainText(head: Uint8Array, isWhole: boolean): string | undefined {
  if (head.length < shortestText || !isText(head, isWhole)) return undefined;
  const text = decode(head.subarray(0, 1024)).trim();
  if (/^data:[\w.+-]+\/[\w.+-]+[;,]/i.test(text)) return dataUri;
  // Base64 is longer than a word, and contains characters that words do not have.
  const isBase64 = text.length >= 64 && /^[A-Za-z0-9+/_\-\s]+=*$/.test(text) && isMixed(text);
  if (isBase64) return base64Text;
  return text.startsWith('<') ? markup : plainText;
}

function isMixed(text: string): boolean {
  const longest = text.split(/\s+/).reduce((most, word) => Math.max(most, word.length), 0);
  return longest >= 60 && /[a-z]/.test(text) && /[A-Z]/.test(text) && /[0-9]/.test(text);
}

function isText(head: Uint8Array, isWhole: boolean): boolean {
  const [first, second] = head;
  if (first === 0xff) return second === 0xfe && isUtf16(head, 'utf-16le');
  if (first === 0xfe && second === 0xff) return isUtf16(head, 'utf-16be');
  let beyondAscii = 0;
  for (const byte of head) {
    if (byte >= 0x80) beyondAscii += 1;
    else if (isControl(byte)) return false;
  }
  return beyondAscii === 0 || isUtf8(head, isWhole) || isEightBit(head, beyondAscii);
}

// Texts may contain tab, line feed, form feed, carriage return and terminal escapes.
function isControl(byte: number): boolean {
  return byte === 0x7f || (byte < 0x20 && ![0x09, 0x0a, 0x0c, 0x0d, 0x1b].includes(byte));
}

function isUtf8(head: Uint8Array, isWhole: boolean): boolean {
  try {
    new TextDecoder('utf-8', {fatal: true}).decode(head, {stream: !isWhole});
    return true;
  } catch {
    return false;
  }
}

// A text in an encoding older than Unicode is mostly ASCII, and must be long enough to exclude chance.
function isEightBit(head: Uint8Array, beyondAscii: number): boolean {
  return head.length >= 64 && beyondAscii * 8 < head.length;
}

// After the byte order mark any two bytes are a character, so most characters must be Latin.
function isUtf16(head: Uint8Array, encoding: 'utf-16le' | 'utf-16be'): boolean {
  const text = new TextDecoder(encoding).decode(head.subarray(0, head.length & ~1));
  const latin = text.match(/[\t\n\f\r\x20-\x7e\xa0-\xff]/g)?.length ?? 0;
  return text.length > 0 && latin * 2 > text.length && !text.includes('\0');
}
