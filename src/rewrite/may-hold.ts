import {mentionsMedia} from './scan/reference.ts';
import type {ScanRequest} from './scan/scan.ts';

/** Elements with an attribute or a content that counts; `{` begins an attribute in MDX. */
const elements = /<(?:(?:embed|image|img|input|link|meta|object|source|video)[\s/{]|style)/i;
/** A line of a quote may end before the sign. */
const styleAttribute = /style[\s>]*=/i;
const markdownImage = /!\[/;
const links = /\]\(|\]:|<a[\s/{]/i;
const frontMatter = /^\ufeff?(?:---|\+\+\+)/;
const cssFunctions = /(?:url|src|image-set)\(/i;

/** Whether a document may hold a reference, or a name of media that is left alone: a search of its text, which spares most documents a parser. */
export function mayHoldReference({kind, text, options}: ScanRequest): boolean {
  if (kind === 'css') return cssFunctions.test(text);
  const patterns = [elements, styleAttribute, mentionsMedia];
  if (kind !== 'html') patterns.push(markdownImage);
  if (options.links) patterns.push(links);
  if (options.frontMatter.length > 0) patterns.push(frontMatter);
  if (patterns.some(pattern => pattern.test(text))) return true;
  const lowerCase = options.attributes.length > 0 ? text.toLowerCase() : '';
  return options.attributes.some(name => lowerCase.includes(name));
}
