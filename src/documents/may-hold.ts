import {type DocumentKind, endOfName, wholeFrontMatter} from './scan/reference.ts';
import type {ScanRequest} from './scan/scan.ts';

/** Elements with an attribute or content that counts (`{` in MDX begins an attribute), styles, Markdown images. */
const holder = /<(?:(?:embed|image|img|input|link|meta|object|source|video)[\s/{]|style)|style[\s>]*=|!\[/i;
const links = /\]\(|\]:|<a[\s/{]/i;
const mentionsMedia = new RegExp(endOfName, 'i');
/** A link or definition whose line has such a name; a quoted line may end before it. Reads no character twice. */
const linkToMedia = new RegExp(`\\][(:][\\s>]*(?![\\s>])(?:(?!\\][(:])[^\\n\\r])*${endOfName}`, 'i');
const otherNames = /<a[\s/{]|\{[{%]/i;
const cssFunctions = /(?:url|src|image-set)\(/i;

/** False only if a document certainly has no reference and no name of local media: it then needs no parser. */
export function mayHoldReference({kind, text, options}: ScanRequest): boolean {
  if (kind === 'css') return cssFunctions.test(text);
  const patterns = [holder];
  if (options.links) patterns.push(links);
  if (options.frontMatter.length > 0) patterns.push(wholeFrontMatter);
  return patterns.some(pattern => pattern.test(text)) || mayLeaveAlone(kind, text);
}

/** Whether a name of media may be in a link, template, script or front matter, where it is counted. */
function mayLeaveAlone(kind: DocumentKind, text: string): boolean {
  if (!mentionsMedia.test(text)) return false;
  if (kind === 'mdx' || linkToMedia.test(text) || otherNames.test(text)) return true;
  const [inFrontMatter = ''] = wholeFrontMatter.exec(text) ?? [];
  return mentionsMedia.test(inFrontMatter);
}
