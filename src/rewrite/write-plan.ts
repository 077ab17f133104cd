import {hash} from 'node:crypto';
import {dirname, join} from 'node:path';
import {MediaError} from '../errors.ts';
import type {Host} from '../host.ts';
import {failed} from '../lib/files/failed.ts';
import {makeDirectory} from '../lib/files/make-directory.ts';
import {
  applyEdits,
  type DecodedDocument,
  decodeDocument,
  type Edit,
  encodeDocument,
} from './document-text.ts';
import type {DocumentPlan, FoundReference} from './plan.ts';
import {readDocument} from './read-document.ts';
import {replacementOf} from './replacement.ts';
import {replaceContent, writeContent} from './write-document.ts';

/** A document with the URLs in place, and the bytes that it was made from. */
export interface Rewritten {
  before: Buffer;
  after: Buffer;
  /** How many references were replaced. */
  count: number;
}

/**
 * Puts the URLs into a document; `urlOf` gives the safe URL of a file, if there is one. Rejects with `document_changed` if
 * the document is no longer what was read, unless another run has put the same URLs in place.
 */
export async function rewriteDocument(
  {document, sha256, references}: DocumentPlan,
  urlOf: (file: string) => string | undefined,
): Promise<Rewritten> {
  const before = await readDocument(document);
  const edits = references.flatMap(reference => {
    const url = reference.file === undefined ? undefined : urlOf(reference.file);
    return url === undefined ? [] : [{...reference, text: replacementOf(reference, url)}];
  });
  const decoded = decodeDocument(before, document.name);
  if (hash('sha256', before, 'hex') !== sha256) {
    if (!isEdited(decoded, edits, sha256)) throw changed(document.name);
    return {before, after: before, count: 0};
  }
  const after = encodeDocument({...decoded, text: applyEdits(decoded.text, edits)});
  return {before, after, count: edits.length};
}

/** Whether a document is what these edits make of the one with this SHA-256. */
function isEdited(
  decoded: DecodedDocument,
  edits: readonly (Edit & Pick<FoundReference, 'source'>)[],
  sha256: string,
): boolean {
  let shift = 0;
  const undoing = edits.map(({start, end, text, source}) => {
    const at = start + shift;
    shift += text.length - (end - start);
    return {start: at, end: at + text.length, text: source};
  });
  const text = applyEdits(decoded.text, undoing);
  const isOriginal = hash('sha256', encodeDocument({...decoded, text}), 'hex') === sha256;
  return isOriginal && applyEdits(text, edits) === decoded.text;
}

/** Writes a document in place; rejects with `document_changed` if it is no longer what was read. */
export async function writeInPlace(
  {document: {name, path}}: DocumentPlan,
  {before, after}: Rewritten,
  host: Host,
): Promise<void> {
  const hint = 'With --out-dir, a copy is written to another directory.';
  const isWritten = await replaceContent(path, before, after, host).catch(
    failed('local_failure', `${name} could not be written`, hint),
  );
  if (!isWritten) throw changed(name);
}

/** Writes a document to its place in a mirror. */
export async function writeToMirror(
  directory: string,
  {document: {place}}: DocumentPlan,
  {after}: Rewritten,
  host: Host,
): Promise<void> {
  const path = join(directory, place);
  await makeDirectory(dirname(path), undefined, host.files)
    .then(() => writeContent(path, after, host))
    .catch(failed('local_failure', `${path} could not be written`));
}

function changed(name: string): MediaError {
  return new MediaError('document_changed', `${name} changed during the upload; it was not overwritten.`, {
    hint: 'Run the same command again: what was uploaded is not sent again.',
  });
}
