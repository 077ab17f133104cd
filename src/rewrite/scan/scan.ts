import {cssUrls} from './css.ts';
import {HtmlScanner} from './html.ts';
import {markdownReferences} from './markdown.ts';
import {type DocumentKind, isLocal, type Reference, type ScanOptions} from './reference.ts';

/** Finds the references to local files in a document, in their order. */
export function scanDocument(kind: DocumentKind, text: string, options: ScanOptions): Reference[] {
  return references(kind, text, options).sort((a, b) => a.start - b.start);
}

function references(kind: DocumentKind, text: string, options: ScanOptions): Reference[] {
  if (kind === 'markdown') return markdownReferences(text, options);
  if (kind === 'html') {
    const found: Reference[] = [];
    new HtmlScanner(options, reference => found.push(reference)).scan(text);
    return found;
  }
  return cssUrls(text)
    .filter(({target}) => isLocal(target))
    .map(({start, end, target}) => {
      const source = text.slice(start, end);
      return {start, end, source, target, context: 'css', onlyMedia: true};
    });
}
