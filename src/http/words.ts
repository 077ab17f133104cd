/** How much of a page is looked at, in bytes, and how much of its words is shown, in characters. */
const longestLook = 4096;
const longestWords = 300;

/**
 * What a reader would see first of a page or of other bytes, as the end of a sentence: its title, its first heading or its text;
 * nothing if that is empty. `redact` is called before it is cut.
 */
export function wordsOf(bytes: Buffer, redact = (text: string) => text): string {
  const text = bytes.toString('utf8', 0, longestLook);
  const [, title] = /<(?:title|h1)\b[^>]{0,200}>([^<]*)/i.exec(text) ?? [];
  const words = redact(title ?? text.replace(/<[^>]{0,200}>/g, ' '))
    .replace(/[\p{Cc}\p{Cf}\p{Co}\ufffd\s]+/gu, ' ')
    .trim();
  return words === '' ? '.' : `: "${words.slice(0, longestWords)}".`;
}
