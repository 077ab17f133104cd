/** A URL in a form that is safe for a terminal or a browser; undefined if it is not an http(s) URL. */
export function webAddress(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const parsed = new URL(url);
  return /^https?:$/.test(parsed.protocol) ? parsed.href : undefined;
}

const address = /https?:\/\/\S+/g;
const trailing = /[.,;:!?)\]}'"]+$/;
/** Terminals ignore longer link targets. */
const longestTarget = 2000;

interface Range {
  start: number;
  end: number;
  href: string;
}

/** The positions of web URLs in a text. A URL with an escape in it was changed, so it is not linked. */
function findAddresses(text: string): Range[] {
  return [...text.matchAll(address)].flatMap(({0: found, index}) => {
    const shown = found.replace(trailing, '');
    const href = shown.includes('\\') ? undefined : webAddress(shown);
    return href === undefined || href.length > longestTarget
      ? []
      : [{start: index, end: index + shown.length, href}];
  });
}

/**
 * Applies `link` to the parts of URLs in wrapped lines, so that a URL that was broken over lines stays one link.
 */
export function linkLines(
  text: string,
  lines: readonly string[],
  link: (part: string, href: string, start: number) => string,
): string[] {
  const ranges = findAddresses(text);
  if (ranges.length === 0) return [...lines];
  let cursor = 0;
  return lines.map(line => {
    const begin = text.indexOf(line, cursor);
    cursor = begin + line.length;
    let linked = '';
    let done = begin;
    for (const {start, end, href} of ranges) {
      const from = Math.max(start, begin);
      const to = Math.min(end, cursor);
      if (from >= to) continue;
      linked += text.slice(done, from) + link(text.slice(from, to), href, start);
      done = to;
    }
    return linked + text.slice(done, cursor);
  });
}

/** Makes text a link on terminals (OSC 8); parts with the same id are highlighted together. */
export function hyperlink(text: string, href: string, id: string): string {
  return `\u001b]8;id=${id};${href}\u001b\\${text}\u001b]8;;\u001b\\`;
}
