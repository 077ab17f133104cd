import {Readable} from 'node:stream';
import type {ReadableStream} from 'node:stream/web';
import type {OpenSource, Source} from '../engine/sources/open/source.ts';
import {emptyFileError, MediaError, throwAs} from '../errors.ts';
import {fact, phrase} from '../hint.ts';
import {type StopSignal, systemHost} from '../host.ts';
import {isString} from '../lib/json.ts';
import {inLibraryWords} from './library-face.ts';
import {check, checkOptions, kindOf, refuseSingle} from './option-checks.ts';

export interface FilesOptions {
  /** Whether directories are read recursively. */
  recursive?: boolean;
  /** Patterns of files to leave out. */
  exclude?: readonly string[];
  /** Includes hidden files, and files that are neither images nor videos. */
  all?: boolean;
  /** The base of relative paths; the working directory by default. */
  cwd?: string;
}

/**
 * The files that paths and patterns mean, as in `media upload`: in the order given, directories depth first, no
 * file twice. Hidden files in directories and patterns are left out; `uploadAll`, which reads the bytes, leaves out
 * files that are neither images nor videos by name or content. Rejects with a MediaError `usage` or `nothing_matched`
 * before the first file. A missing file is a source that fails when it is uploaded.
 */
export async function* filesOf(
  paths: Iterable<string> | AsyncIterable<string>,
  options: FilesOptions = {},
): AsyncGenerator<Source, void> {
  refuseSingle(paths);
  checkOptions(options, {recursive: check.flag, exclude: check.texts, all: check.flag, cwd: check.text});
  const {expandInputs, inputContext} = await import('../engine/sources/find/expand.ts');
  const {cwd, ...request} = options;
  const inputs: string[] = [];
  for await (const path of paths) {
    if (!isString(path) || path === '')
      throw new MediaError('usage', `A path must be a text, not ${kindOf(path)}.`);
    // Standard input belongs to the program that uses the library.
    inputs.push(path === '-' ? './-' : path);
  }
  const host = systemHost();
  const context = {...inputContext(host), cwd: cwd ?? host.cwd(), stdin: () => Readable.from([])};
  try {
    for await (const source of expandInputs({...request, inputs}, context))
      if (!source.found?.isHidden) yield source;
  } catch (error) {
    throw inLibraryWords(error);
  }
}

/** The part of a `Blob` that is read. */
export interface BlobContent {
  readonly size: number;
  slice(start?: number, end?: number): BlobContent;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** The part of a `ReadableStream`, such as the body of a `fetch` response, that is used. */
export interface WebStream {
  getReader(): unknown;
  cancel(reason?: unknown): Promise<void>;
}

/** What `uploadAll` and `upload` take: the path of a file, a `File`, or a source. */
export type UploadInput = string | Source | (BlobContent & {readonly name: string});

/**
 * Content as a source: bytes in memory, a `Blob`, or a web or Node.js stream. The name's extension counts for the type.
 * Bytes must not change until they are uploaded. A stream is read when it is uploaded, once, into a temporary file
 * first, since the service must be told the length; bytes and blobs need none.
 */
export function sourceOf(name: string, content: Uint8Array | BlobContent | WebStream | Readable): Source {
  if (typeof name !== 'string' || name === '')
    throw new MediaError('usage', `The name of a source must be a text, not ${kindOf(name)}.`);
  if (content instanceof Uint8Array)
    return memorySource(name, content.length, async (from, to) => content.subarray(from, to));
  if (isBlob(content))
    return memorySource(
      name,
      content.size,
      async (from, to) => new Uint8Array(await content.slice(from, to).arrayBuffer()),
    );
  if (!isStream(content))
    throw new MediaError(
      'usage',
      `Content is given as bytes, a Blob or a stream, not as ${kindOf(content)}.`,
    );
  // It may fail before its turn: without a listener, that would end the process. The reader gets the error later.
  if (content instanceof Readable) content.on('error', () => {});
  const stream = () =>
    content instanceof Readable ? content : Readable.fromWeb(content as unknown as ReadableStream);
  const open = async (signal: StopSignal<Error>) => {
    if (begunStreams.has(content))
      throw new MediaError('file_unreadable', `The stream of ${name} was already read.`, {
        hint: 'Make a new stream for each upload.',
      });
    begunStreams.add(content);
    const {spooledSource} = await import('../engine/sources/open/spooled.ts');
    const {files, temporaryDirectory} = systemHost();
    const options = {what: name, name, stream, temporaryDirectory: temporaryDirectory(), files};
    return spooledSource(options).open(signal);
  };
  return {name, isOnce: true, open};
}

/** The streams that an upload has begun to read. */
const begunStreams = new WeakSet<WebStream | Readable>();

function isStream(content: unknown): content is WebStream | Readable {
  return content instanceof Readable || typeof (content as WebStream | null)?.getReader === 'function';
}

function isBlob(content: unknown): content is BlobContent {
  const blob = content as Partial<BlobContent> | null | undefined;
  return typeof blob?.slice === 'function' && typeof blob.arrayBuffer === 'function';
}

/** Whether an input is a `File`, which has its name. */
export function isFile(input: unknown): input is BlobContent & {readonly name: string} {
  return isBlob(input) && typeof (input as {name?: unknown}).name === 'string';
}

type ReadRange = (from: number, to: number) => Promise<Uint8Array>;

/** Content of a known size that can be read anywhere, more than once. */
function memorySource(name: string, size: number, readRange: ReadRange): Source {
  const read = (position: number, length: number) =>
    readRange(position, position + length).catch(
      throwAs('file_unreadable', phrase`${fact('subject', name, 'could')} not be read`),
    );
  const open = async (): Promise<OpenSource> => {
    if (size === 0) throw emptyFileError(name, 'is');
    return {size, read, verify: async () => 'unchanged', close: async () => {}};
  };
  return {name, measure: () => size, open};
}
