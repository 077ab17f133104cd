import {isJson} from '../../../lib/json.ts';
import {undefinedIfThrows} from '../../../lib/system-code.ts';

/** The description of a Git LFS pointer, whose file was not fetched. */
export const lfsPointer = 'a Git LFS pointer';

/** Elements that may begin a page without <html>. */
const htmlElements = new Set(
  'html head body title meta link script style base div span p a h1 h2 h3 table center font iframe form pre'.split(
    ' ',
  ),
);

/** The format of a text as a media type or description: markup, JSON, a pointer, a playlist; undefined if unknown. */
export function sniffText(head: Uint8Array, isWhole: boolean): string | undefined {
  const text = decode(head);
  if (text.startsWith('version https://git-lfs.github.com/spec/v1')) return lfsPointer;
  if (text.startsWith('#EXTM3U')) return 'application/vnd.apple.mpegurl';
  if (text.startsWith('%!PS')) return 'application/postscript';
  if (/^#! ?\//.test(text)) return 'a script';
  const content = text.trimStart();
  if (content.startsWith('<')) return sniffMarkup(content);
  if (/^[[{]/.test(content))
    return beginningOfJson.test(text) || (isWhole && isJson(text)) ? 'application/json' : undefined;
  return undefined;
}

/** The first bytes as text, without a byte order mark: UTF-16 is decoded, otherwise each byte is a character. */
export function decode(head: Uint8Array): string {
  // All names that are searched for are ASCII, which Latin-1 reads in UTF-8 and similar encodings, without errors.
  const start = latin1(head.subarray(0, 4));
  if (start.startsWith('\xef\xbb\xbf')) return latin1(head.subarray(3));
  if (/^(?:\xfe\xff|\0<\0)/.test(start)) return new TextDecoder('utf-16be').decode(head);
  if (/^(?:\xff\xfe|<\0.\0)/s.test(start)) return new TextDecoder('utf-16le').decode(head);
  return latin1(head);
}

/** The bytes as text, a character each. */
export function latin1(bytes: Uint8Array): string {
  return new TextDecoder('latin1').decode(bytes);
}

/** Parses the prolog of XML or HTML up to the root element, in linear time. */
function sniffMarkup(text: string): string | undefined {
  let isDeclared = false;
  for (let rest = text; ; rest = rest.trimStart()) {
    if (rest.startsWith('<?')) {
      isDeclared ||= rest.startsWith('<?xml');
      rest = textAfter(rest, '?>');
    } else if (rest.startsWith('<!--')) {
      rest = textAfter(rest.slice(4), '-->');
    } else if (/^<!doctype\s/i.test(rest)) {
      if (/^<!doctype\s+html[\s>]/i.test(rest.slice(0, 100))) return 'text/html';
      isDeclared = true;
      rest = afterDoctype(rest);
    } else {
      return rootType(rest, isDeclared);
    }
  }
}

/** The type by the root element; undefined for what may be a text that begins with a word in angle brackets. */
function rootType(text: string, isDeclared: boolean): string | undefined {
  const name = /^<([\p{L}_][^\s/<>="']*)[\s/>]/u.exec(text.slice(0, 256))?.[1];
  if (name === undefined) return undefined;
  if (name.slice(name.indexOf(':') + 1) === 'svg') return 'image/svg+xml';
  if (htmlElements.has(name.toLowerCase())) return 'text/html';
  // Any text may begin with a word in angle brackets, so without a declaration a closing tag must follow.
  return isDeclared || text.includes(`</${name}`) ? 'application/xml' : undefined;
}

/** The tokens of a document type declaration: quotes, comments and instructions, perhaps unended, subset and end. */
const declarationPart = /"[^"]*"?|'[^']*'?|<!--(?:.*?-->|.*)|<\?(?:.*?\?>|.*)|[[\]>]/gs;

/** The text after a document type declaration; nothing if that has no end. */
function afterDoctype(text: string): string {
  let isInSubset = false;
  for (const {0: part, index} of text.matchAll(declarationPart)) {
    if (part === '[') isInSubset = true;
    else if (part === ']') isInSubset = false;
    else if (part === '>' && !isInSubset) return text.slice(index + 1);
  }
  return '';
}

/** The text after a mark; nothing without the mark. */
function textAfter(text: string, mark: string): string {
  const found = text.indexOf(mark);
  return found === -1 ? '' : text.slice(found + mark.length);
}

const beginningOfJson = /^\s*(?:\[\s*)*\{\s*"[^"\\\r\n]{0,256}"\s*:/;

/** The description of a text without a known format. */
export const plainText = 'plain text';
/** The description of a text that begins with an unknown tag. */
export const markup = 'text with markup';

/** The kind of text that the first bytes are: plain text or text with markup; undefined if they are not text. */
export function sniffPlainText(head: Uint8Array, isWhole: boolean): string | undefined {
  // Any format may begin with a few bytes of text.
  if (head.length < 5 || !isText(head, isWhole)) return undefined;
  return decode(head.subarray(0, 1024)).trimStart().startsWith('<') ? markup : plainText;
}

/** Whether the bytes are UTF-8, UTF-16 with a byte order mark, or an older encoding that is mostly ASCII. */
function isText(head: Uint8Array, isWhole: boolean): boolean {
  const [first, second] = head;
  if (first === 0xff) return second === 0xfe && isUtf16(head, 'utf-16le');
  if (first === 0xfe && second === 0xff) return isUtf16(head, 'utf-16be');
  let beyondAscii = 0;
  for (const byte of head) {
    if (byte >= 0x80) beyondAscii += 1;
    else if (byte === 0x7f || (byte < 0x20 && !textControls.has(byte))) return false;
  }
  // A text in an encoding older than Unicode is mostly ASCII, and must be long enough to exclude chance.
  const isEightBit = head.length >= 64 && beyondAscii * 8 < head.length;
  if (beyondAscii === 0 || isEightBit) return true;
  const strict = new TextDecoder('utf-8', {fatal: true});
  return undefinedIfThrows(() => strict.decode(head, {stream: !isWhole})) !== undefined;
}

/** The control characters of texts: tab, line feed, form feed, carriage return, and the escape of terminals. */
const textControls = new Set([0x09, 0x0a, 0x0c, 0x0d, 0x1b]);

// After the byte order mark any two bytes are a character, so most characters must be Latin.
function isUtf16(head: Uint8Array, encoding: 'utf-16le' | 'utf-16be'): boolean {
  const text = new TextDecoder(encoding).decode(head.subarray(0, head.length & ~1));
  const latin = text.match(/[\t\n\f\r\x20-\x7e\xa0-\xff]/g)?.length ?? 0;
  return text.length > 0 && latin * 2 > text.length && !text.includes('\0');
}
