import {parentPort, workerData} from 'node:worker_threads';
import {VFileMessage} from 'vfile-message';
import {cssReferences} from './css.ts';
import {HtmlScanner} from './html.ts';
import {markdownReferences} from './markdown.ts';
import {
  type DocumentKind,
  isFilledIn,
  isPath,
  type LeftKind,
  namesLocalMedia,
  type Reference,
  type ScanOptions,
} from './reference.ts';

export interface ScanRequest {
  kind: DocumentKind;
  text: string;
  options: ScanOptions;
}

/** The references of a document. */
export interface Scanned {
  references: Reference[];
  /** How many names of local media are left alone. */
  left?: Readonly<Partial<Record<LeftKind, number>>>;
  /** Why it was read as Markdown, though it is called MDX. */
  notMdx?: string;
}

/** The references, or why they were not found. */
export type ScanAnswer = Scanned | {failure: string};

/** What tells the thread of a Scanner from any other. */
export const scanThread = 'scan documents';

if (workerData === scanThread)
  parentPort?.on('message', (request: ScanRequest) => parentPort?.postMessage(answerTo(request)));

export function answerTo({kind, text, options}: ScanRequest): ScanAnswer {
  try {
    return scanDocument(kind, text, options);
  } catch (error) {
    if (error instanceof VFileMessage) {
      const answer = answerTo({kind: 'markdown', text, options});
      return {...answer, notMdx: `${error.line ?? 1}:${error.column ?? 1}: ${error.reason}`};
    }
    // The stack of a parser overflows with a RangeError, too.
    if (error instanceof RangeError) return {failure: 'it is nested more than 1,000 levels deep'};
    throw error;
  }
}

/** Finds the references to local files in a document, in their order. Throws a RangeError if it is nested too deeply. */
export function scanDocument(kind: DocumentKind, text: string, options: ScanOptions) {
  const found: Reference[] = [];
  const left: Partial<Record<LeftKind, number>> = {};
  for (const reference of references(kind, text, options)) {
    const why = reference.left ?? (isFilledIn(reference.target) ? 'template' : undefined);
    if (why === undefined && isPath(reference.target)) found.push(reference);
    else if (why !== undefined && namesLocalMedia(reference.source)) left[why] = (left[why] ?? 0) + 1;
  }
  return {references: found.sort((a, b) => a.start - b.start), left};
}

function references(kind: DocumentKind, text: string, options: ScanOptions): Reference[] {
  if (kind === 'html') {
    const found: Reference[] = [];
    new HtmlScanner(options, reference => found.push(reference)).scan(text);
    return found;
  }
  return kind === 'css' ? cssReferences(text) : markdownReferences(kind, text, options);
}
