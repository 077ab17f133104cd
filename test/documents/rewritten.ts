import {applyEdits} from '../../src/documents/document-text.ts';
import type {DocumentKind, Reference, ScanOptions} from '../../src/documents/scan/reference.ts';
import {scanDocument} from '../../src/documents/scan/scan.ts';
import {replacementOf} from '../../src/documents/write-plan.ts';

/** What is looked for without options. */
export const usualScan: ScanOptions = {links: false, frontMatter: []};

/** The references of a document; of those that count only if they are media, the ones with an extension. */
export async function scanned(
  kind: DocumentKind,
  text: string,
  options: Partial<ScanOptions> = {},
): Promise<Reference[]> {
  const {references} = await scanDocument(kind, text, {...usualScan, ...options});
  return references.filter(({onlyMedia, target}) => !onlyMedia || /\.\w{2,4}([?#]|$)/.test(target));
}

/** The URL that the tests give to the file of a reference. */
export const urlFor = (index: number) => `https://u.example/${index}`;

/** A document with a URL of its own for each reference. */
export async function rewritten(
  kind: DocumentKind,
  text: string,
  options: Partial<ScanOptions> = {},
): Promise<string> {
  const edits = (await scanned(kind, text, options)).map((reference, index) => ({
    ...reference,
    text: replacementOf(reference, urlFor(index)),
  }));
  return applyEdits(text, edits);
}
