/** The address in the one form that is safe to hand to a terminal or a browser, or undefined when it is no http(s) URL. */
export function webAddress(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const parsed = new URL(url);
  return /^https?:$/.test(parsed.protocol) ? parsed.href : undefined;
}

const address = /https?:\/\/\S+/g;
const trailing = /[.,;:!?)\]}'"]+$/;
/** Terminals ignore longer targets. */
const longestTarget = 2000;

interface Range {
  start: number;
  end: number;
  href: string;
}

/** Where web addresses are in a text; one with an escape in it is not what it was, and no link. */
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
 * The lines that a text was wrapped into, each part of a web address in them handed to `link`: an address that was
 * broken up stays one link.
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

/** Text as a link on terminals (OSC 8); parts with the same id light up together. */
export function hyperlink(text: string, href: string, id: string): string {
  return `\u001b]8;id=${id};${href}\u001b\\${text}\u001b]8;;\u001b\\`;
}
