import {dirname, join} from 'node:path';
import {MediaError, throwAs} from '../errors.ts';
import {hint, option} from '../hint.ts';
import type {Host} from '../host.ts';
import {draftOf, makeDirectory, replaceContent, replaceDurably} from '../lib/files/durable.ts';
import {linkTarget, withoutUnsafe} from '../lib/url.ts';
import {applyEdits, decodeDocument, encodeDocument} from './document-text.ts';
import {readDocument} from './documents.ts';
import type {DocumentPlan} from './plan.ts';
import type {Reference} from './scan/reference.ts';

/** A document with the URLs in place, and the bytes that it was made from. */
interface Rewritten {
  before: Buffer;
  after: Buffer;
  /** How many references were replaced. */
  count: number;
}

/** Makes a document's new bytes, unwritten; rejects with `document_changed` if another program has changed it. */
export async function rewriteDocument(
  {name, path, read, references}: DocumentPlan,
  urlOf: (file: string) => string | undefined,
): Promise<Rewritten> {
  const now = await readDocument({name, path});
  const before = read ?? now;
  const edits = references.flatMap(reference => {
    const url = reference.file === undefined ? undefined : urlOf(reference.file);
    return url === undefined ? [] : [{...reference, text: replacementOf(reference, url)}];
  });
  const document = decodeDocument(before, name);
  const after = encodeDocument({...document, text: applyEdits(document.text, edits)});
  if (now.equals(before)) return {before, after, count: edits.length};
  if (!now.equals(after)) throw documentChangedError(name);
  // Another run has written the same.
  return {before: now, after, count: 0};
}

/** Writes a document in place; rejects with `document_changed` if it is no longer what was read. */
export async function writeInPlace(
  {name, path}: DocumentPlan,
  {before, after}: Rewritten,
  host: Host,
): Promise<void> {
  const advice = hint`With ${option('outDir')}, a copy is written to another directory.`;
  const isWritten = await replaceContent(path, before, after, host).catch(
    throwAs('local_failure', `${name} could not be written`, advice),
  );
  if (!isWritten) throw documentChangedError(name);
}

/** Writes a document to its place in a mirror, with the mode of the original. */
export async function writeToMirror(
  directory: string,
  document: DocumentPlan,
  {after}: Rewritten,
  host: Host,
): Promise<void> {
  const path = join(directory, document.place);
  await makeDirectory(dirname(path), host.files)
    .then(() => host.files.stat(document.path))
    .then(({mode}) => replaceDurably(path, after, draftOf(path, host), host.files, mode & 0o777))
    .catch(throwAs('local_failure', `${path} could not be written`));
}

/** The error for a document that another program has changed since it was read. */
function documentChangedError(name: string): MediaError {
  return new MediaError('document_changed', `${name} changed during the upload; it was not overwritten.`, {
    hint: hint`Run the same command again; without ${option('noOnce')}, what was uploaded is not sent again.`,
  });
}

/** The text in place of a reference once its file has this safe URL. The fragment of the reference is kept. */
export function replacementOf({context, source, target}: Reference, url: string): string {
  if (context === 'wiki') return wikiImage(source, target, url);
  const whole = withFragment(url, target);
  switch (context) {
    case 'markdown':
      return linkTarget(whole);
    case 'attribute':
      return whole.replaceAll('&', '&amp;');
    case 'bare attribute':
      // Without quotes, a value has no equals sign, and for micromark no slash.
      return `"${whole.replaceAll('&', '&amp;')}"`;
    case 'part of bare attribute':
      return whole.replaceAll('&', '&amp;').replaceAll('/', '&#47;').replaceAll('=', '&#61;');
    case 'srcset':
      return whole.replaceAll(',', '%2C').replaceAll('&', '&amp;');
    case 'plain':
      // In a list of YAML, these end a value without quotes.
      return /[,[\]{}]|:$/.test(whole) ? `"${whole}"` : whole;
    default:
      return whole;
  }
}

/** The URL with the fragment of the reference, unless the URL has a fragment of its own. */
function withFragment(url: string, target: string): string {
  const at = target.indexOf('#');
  if (at < 0 || url.includes('#')) return url;
  return `${url}${withoutUnsafe(target.slice(at))}`;
}

/** `![[photo.png|300]]` as `![photo.png|300](url)`, which is how Obsidian writes the size of an image from the web. */
function wikiImage(source: string, target: string, url: string): string {
  const name = (target.split(/[/\\]/).pop() ?? target).replace(/[[\]\\`*_<>&]/g, '\\$&');
  const [, path = '', options = ''] = /^([^|]*?)(\\?\|.*)?$/s.exec(source) ?? [];
  return `![${name}${options}](${linkTarget(withFragment(url, path))})`;
}
