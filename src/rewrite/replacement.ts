import type {Reference} from './scan/reference.ts';

/** Characters that end a URL, or begin something else, in one of the places that it is written to. */
const unsafe = /["'()<>\\|`\s]/g;

/** A web URL in its standard form, without characters that mean something in Markdown, HTML or CSS; undefined for others. */
export function safeUrl(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const parsed = new URL(url);
  if (!/^https?:$/.test(parsed.protocol)) return undefined;
  return parsed.href.replace(unsafe, percentEncoded);
}

function percentEncoded(character: string): string {
  return [...Buffer.from(character)]
    .map(byte => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('');
}

/** The text that stands for a reference once its file has this safe URL. The fragment of the reference is kept. */
export function replacementOf({context, source, target}: Reference, url: string): string {
  if (context === 'wiki') return wikiImage(source, target, markdownUrl(url));
  const whole = withFragment(url, target);
  switch (context) {
    case 'markdown':
      return markdownUrl(whole);
    case 'attribute':
    case 'css attribute':
      return whole.replaceAll('&', '&amp;');
    case 'bare attribute':
      // Without quotes, micromark reads no slash in a value.
      return `"${whole.replaceAll('&', '&amp;')}"`;
    case 'srcset':
      return whole.replaceAll(',', '%2C').replaceAll('&', '&amp;');
    default:
      return whole;
  }
}

function withFragment(url: string, target: string): string {
  const at = target.indexOf('#');
  if (at < 0 || url.includes('#')) return url;
  return `${url}${target.slice(at).replace(unsafe, percentEncoded)}`;
}

/** `&copy;` in a URL would be read as a character. */
function markdownUrl(url: string): string {
  return url.replace(/&(?=#?\w+;)/g, '&amp;');
}

/** `![[photo.png|300]]` as `![photo.png|300](url)`, which is how Obsidian writes the size of an image from the web. */
function wikiImage(source: string, target: string, url: string): string {
  const name = (target.split(/[/\\]/).pop() ?? target).replace(/[[\]\\`*_<>&]/g, '\\$&');
  const [, options = ''] = /^[^|]*?(\\?\|.*)$/s.exec(source) ?? [];
  return `![${name}${options}](${url})`;
}
