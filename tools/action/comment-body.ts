import {createHash} from 'node:crypto';
import {printable} from '../../src/lib/printable.ts';
import {formatBytes} from '../../src/lib/units.ts';
import type {UploadedFile} from './uploaded-file.ts';

/** GitHub's limit, which it counts in characters. */
const longestBody = 65_536;

/** The first line of a comment, by which it is found again. */
export function commentMarker(name: string): string {
  return `<!-- media ${createHash('sha256').update(name).digest('hex')} -->`;
}

export interface CommentFacts {
  marker: string;
  /** The page of the run; undefined if it is not known. */
  runUrl: string | undefined;
  /** Whether some files could not be uploaded. */
  hasFailures: boolean;
  hasManifest: boolean;
}

/** A comment with a table of the files, as many as fit; with a manifest, of those that it did not know. */
export function commentBody(all: readonly UploadedFile[], facts: CommentFacts): string {
  const files = facts.hasManifest ? all.filter(({status}) => status !== 'skipped') : all;
  const lines = [
    facts.marker,
    '### Uploaded media',
    '',
    sentences(all, facts),
    '',
    '| Preview | File | URL | Size |',
    '| --- | --- | --- | ---: |',
  ];
  return withRows(lines, files.map(row), {longest: longestBody, what: 'files', place: 'a comment'});
}

/** Lines of Markdown that end in the head of a table, with as many of its rows as there is room for. */
export function withRows(
  head: readonly string[],
  rows: readonly string[],
  {longest, what, place}: {longest: number; what: string; place: string},
): string {
  const cutOff = (shown: number) =>
    `\n${shown} of ${rows.length} ${what} are shown here: ${place} has no room for more.`;
  const lines = [...head];
  let length = Buffer.byteLength([...head, cutOff(rows.length)].join('\n'));
  for (const line of rows) {
    length += Buffer.byteLength(line) + 1;
    if (length > longest) break;
    lines.push(line);
  }
  const shown = lines.length - head.length;
  if (shown < rows.length) lines.push(cutOff(shown));
  return lines.join('\n');
}

function sentences(files: readonly UploadedFile[], {runUrl, hasFailures}: CommentFacts): string {
  const count = (wanted: UploadedFile['status']) => files.filter(({status}) => status === wanted).length;
  const [checked, skipped] = [count('checked'), count('skipped')];
  const counts = [checked > 0 ? `${checked} to upload` : `${count('uploaded')} uploaded`];
  if (skipped > 0) counts.push(`${skipped} already uploaded`);
  const run = runUrl === undefined ? 'the run' : `[the run](${runUrl})`;
  const failures = hasFailures ? ' Some files could not be uploaded.' : '';
  return `${counts.join(', ')}.${failures} See ${run}.`;
}

function row({file, url, thumbnailUrl, size}: UploadedFile): string {
  const picture =
    thumbnailUrl === undefined ? '' : `<img src="${attribute(thumbnailUrl)}" height="64" alt="">`;
  const linked = url === undefined ? picture : `<a href="${attribute(url)}">${picture}</a>`;
  const preview = picture === '' ? '' : linked;
  const address = url === undefined ? '' : `<${url}>`;
  return `| ${preview} | ${code(file)} | ${address} | ${size === undefined ? '' : formatBytes(size)} |`;
}

function attribute(url: string): string {
  return url.replaceAll('&', '&amp;');
}

/**
 * Text as code: GitHub makes no mentions, references, links or emoji of it. Everything that might mean something in
 * Markdown or HTML becomes a numeric reference, since backslashes do not work in tables and mentions alike.
 */
function code(text: string): string {
  const inert = printable(text).replace(/[!-,.:-@[-`{-~]/g, character => `&#${character.charCodeAt(0)};`);
  return `<code>${inert}</code>`;
}
