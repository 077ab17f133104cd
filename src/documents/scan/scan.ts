import {parentPort, workerData} from 'node:worker_threads';
import {VFileMessage} from 'vfile-message';
import {cssReferences} from './css.ts';
import {HtmlScanner} from './html.ts';
import {leftAlone} from './left-alone.ts';
import {markdownReferences} from './markdown.ts';
import {
  type DocumentKind,
  isFilledIn,
  isPath,
  type LeftCounts,
  namesLocalMedia,
  type Reference,
  type ScanOptions,
  wholeFrontMatter,
} from './reference.ts';

export interface ScanRequest {
  kind: DocumentKind;
  text: string;
  options: ScanOptions;
}

export interface ScanResult {
  references: Reference[];
  /** How many names of local media are left alone. */
  left?: Readonly<LeftCounts>;
  /** Why it was read as Markdown, though it is called MDX. */
  notMdx?: string;
  /** Why its front matter could not be read. */
  badFrontMatter?: string;
}

/** The references, or why they were not found. */
export type ScanResponse = ScanResult | {failure: string};

/** What tells the thread of a Scanner from any other. */
export const scanThread = 'scan documents';

if (workerData === scanThread)
  parentPort?.on('message', async (request: ScanRequest) =>
    parentPort?.postMessage(await responseTo(request)),
  );

/** Never rejects for a document: unreadable MDX is read as Markdown, too deep nesting is a `failure`. */
export async function responseTo({kind, text, options}: ScanRequest): Promise<ScanResponse> {
  try {
    return await scanDocument(kind, text, options);
  } catch (error) {
    if (error instanceof VFileMessage) {
      const response = await responseTo({kind: 'markdown', text, options});
      return {...response, notMdx: `${error.line ?? 1}:${error.column ?? 1}: ${error.reason}`};
    }
    // The stack of a parser overflows with a RangeError, too.
    if (error instanceof RangeError) return {failure: 'it is nested more than 1,000 levels deep'};
    throw error;
  }
}

/** Finds the references to local files in a document, in order. Rejects with a RangeError if nested too deeply. */
export async function scanDocument(kind: DocumentKind, text: string, options: ScanOptions) {
  // micromark does not count a byte order mark.
  const shift = text.startsWith('\ufeff') ? 1 : 0;
  const {references, left: counts, ...notes} = await scanByKind(kind, text.slice(shift), options);
  const local: Reference[] = [];
  const left: LeftCounts = {...counts};
  for (const reference of references) {
    reference.start += shift;
    reference.end += shift;
    const why = reference.left ?? (isFilledIn(reference.target) ? 'template' : undefined);
    if (why === undefined && isPath(reference.target)) local.push(reference);
    else if (why !== undefined && namesLocalMedia(reference.source)) left[why] = (left[why] ?? 0) + 1;
  }
  return {...notes, references: local.sort((a, b) => a.start - b.start), left};
}

/** All references, also those to the web, in any order: `scanDocument` keeps and sorts the local ones. */
async function scanByKind(kind: DocumentKind, text: string, options: ScanOptions): Promise<ScanResult> {
  if (kind === 'css') return {references: cssReferences(text)};
  const [head = ''] = wholeFrontMatter.exec(text) ?? [];
  const isRead = head !== '' && options.frontMatter.length > 0;
  const {references, ...notes}: ScanResult = isRead
    ? (await import('./front-matter.ts')).readFrontMatter(head, options.frontMatter)
    : {references: []};
  if (kind === 'html' || kind === 'xhtml') {
    const left = leftAlone(head, head.length, [], references);
    const html = new HtmlScanner(options, reference => references.push(reference), kind === 'xhtml');
    html.scan(text.slice(head.length), head.length);
    return {...notes, references, left};
  }
  // Blank lines take the place of front matter, so that all else stays in its place.
  const body = head.replace(/[^\r\n]/g, ' ') + text.slice(head.length);
  const {tokens, references: inBody} = markdownReferences(kind, body, options);
  references.push(...inBody);
  return {...notes, references, left: leftAlone(text, head.length, tokens, references)};
}
