import {linkTarget, withoutUnsafe} from '../lib/safe-url.ts';
import type {Reference} from './scan/reference.ts';

/** The text that stands for a reference once its file has this safe URL. The fragment of the reference is kept. */
export function replacementOf({context, source, target}: Reference, url: string): string {
  if (context === 'wiki') return wikiImage(source, target, linkTarget(url));
  const whole = withFragment(url, target);
  switch (context) {
    case 'markdown':
      return linkTarget(whole);
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
  return `${url}${withoutUnsafe(target.slice(at))}`;
}

/** `![[photo.png|300]]` as `![photo.png|300](url)`, which is how Obsidian writes the size of an image from the web. */
function wikiImage(source: string, target: string, url: string): string {
  const name = (target.split(/[/\\]/).pop() ?? target).replace(/[[\]\\`*_<>&]/g, '\\$&');
  const [, options = ''] = /^[^|]*?(\\?\|.*)$/s.exec(source) ?? [];
  return `![${name}${options}](${url})`;
}
