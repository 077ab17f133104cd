import {isList, isObject, isString, parseObject} from './json.ts';
import {own} from './object.ts';

/** How much of a page without JSON is looked at, and how much of its words is shown, in characters. */
const longestLook = 4096;
const longestWords = 300;

/** What a page may repeat of a request; "Basic authentication" and the like are words. */
const credentials = /\b(bearer|basic) +(?!auth|cred|realm|token)\S+/gi;

/** Text of a peer on one line, without credentials and without what controls a terminal. */
export function cleanText(text: string): string {
  return text
    .replace(credentials, '$1 [secret]')
    .replace(/[\p{Cc}\p{Cf}\p{Co}\ufffd\s]+/gu, ' ')
    .trim();
}

/** What a reader sees first: the message in JSON, a title, a heading or the text; `redact` comes before any cut. */
export function wordsOf(bytes: Buffer, redact = (text: string) => text): string {
  const text = bytes.toString();
  const words = cleanText(
    redact(messageIn(parseObject(text)) ?? textOfPage(redact(text).slice(0, longestLook))),
  );
  return /[\p{L}\p{N}]/u.test(words) ? words.slice(0, longestWords).replace(/[.\s]+$/, '') : '';
}

/** The message of an error in JSON, as RFC 9457, GraphQL and common frameworks write it. */
function messageIn(value: unknown): string | undefined {
  if (isString(value)) return value;
  if (isList(value)) return messageIn(value[0]);
  if (!isObject(value)) return undefined;
  const fields = ['detail', 'message', 'msg', 'error', 'errors', 'title'];
  return fields.map(name => messageIn(own(value, name))).find(isString);
}

/** The first title or heading of several words; else the text of the page, which says more than "Error". */
function textOfPage(page: string): string {
  const [, title] = /<(?:title|h1)\b[^>]{0,200}>([^<]*\S\s+\S[^<]*)/i.exec(page) ?? [];
  return title ?? page.replace(/<(style|script)\b.*?<\/\1>|<[^>]{0,200}>/gis, ' ');
}
