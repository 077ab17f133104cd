import type {Readable} from 'node:stream';
import {MediaError, systemError} from '../../../errors.ts';
import {command, hint} from '../../../hint.ts';
import type {StopSignal} from '../../../host.ts';
import type {FileSystem} from '../../../lib/files/file-system.ts';
import {openStream} from '../../../lib/files/read-text.ts';
import {type ByteName, resolveUserPath} from '../../../lib/files/typed-path.ts';
import {isMissing, systemReason} from '../../../lib/system-code.ts';

/** No system accepts longer paths, so a longer name is not from a list. */
const longestName = 64 * 1024;

/** Opens a list of names; a usage error if it cannot be read. */
async function openList(file: string, {cwd, files}: ListContext): Promise<Readable> {
  try {
    const path = resolveUserPath(cwd, file);
    if (!(await files.stat(path)).isDirectory()) return await openStream(path, files);
  } catch (error) {
    const reason = isMissing(error) ? 'it does not exist' : systemReason(error);
    throw new MediaError('usage', `The list ${file} could not be read: ${reason}.`, {cause: error});
  }
  throw new MediaError('usage', `The list ${file} is a directory, not a file of names.`, {
    hint: hint`To upload what is in it: ${command('uploadDirectory', file)}`,
  });
}

/**
 * Yields the names in a list, byte for byte, as they are read: one a line, or each ended by a zero byte, which no name
 * can contain. Lines may end in CR LF; empty names are skipped. Something that is not a list of names is a usage error,
 * in which `label` names the list.
 */
export async function* readNames(list: AsyncIterable<Buffer | string>, label: string) {
  let rest = '';
  let isFirst = true;
  let separator: '\n' | '\0' | undefined;
  for await (const chunk of list) {
    const text = rest + Buffer.from(chunk as Buffer).toString('latin1');
    if (separator === undefined && isUtf16(text))
      throw notAListError(label, 'it is in UTF-16', 'Save it in UTF-8.');
    // A name that ends with a zero byte may contain line feeds, but its writer writes at least the first name whole.
    separator ??= text.includes('\0') ? '\0' : text.includes('\n') ? '\n' : undefined;
    if (text.length >= longestName && !/[^\0]/.test(text))
      throw notAListError(label, 'it has long runs of zero bytes');
    const names = separator === undefined ? [text] : text.split(separator);
    rest = names.pop() ?? '';
    for (const name of names) {
      yield* oneName(name, separator ?? '\n', label, isFirst);
      isFirst = false;
    }
    if (rest.length > longestName) throw notAListError(label, 'a name in it is far too long');
  }
  yield* oneName(rest, separator ?? '\n', label, isFirst);
}

/** Whether a list is UTF-16: a byte order mark, or a zero byte beside each character, one of which is a dot. */
function isUtf16(start: string): boolean {
  const isSpaced = start.includes('.') && /^\0?(?:[^\0]\0){2,}[^\0]?$/.test(start);
  return isSpaced || /^(?:\xff\xfe|\xfe\xff)|\0\n\0/.test(start);
}

/** The name without its CR and, if it is the first, the byte order mark; nothing if it is empty. */
function* oneName(bytes: ByteName, separator: '\n' | '\0', label: string, isFirst: boolean) {
  // Windows tools start text files with a byte order mark.
  const line = isFirst ? bytes.replace(/^\xef\xbb\xbf/, '') : bytes;
  const name = separator === '\n' ? line.replace(/\r$/, '') : bytes;
  if (name.includes('\0')) throw notAListError(label, 'some names end in zero bytes, others in line feeds');
  if (name.length > longestName) throw notAListError(label, 'a name in it is far too long');
  if (name !== '') yield name;
}

function notAListError(label: string, why: string, hint = 'Write one name per line.'): MediaError {
  return new MediaError('usage', `${label} is not a list of names: ${why}.`, {hint});
}

export interface ListContext {
  cwd: string;
  files: FileSystem;
  stdin: () => Readable;
  /** Aborts reading a list. */
  signal?: StopSignal<Error>;
}

/** The lists of a run: opened before anything is sent, and always closed. */
export class Lists {
  readonly #context: ListContext;
  readonly #streams: Readable[] = [];
  readonly #abort = () => {
    for (const stream of this.#streams) stream.destroy(this.#context.signal?.reason);
  };

  constructor(context: ListContext) {
    this.#context = context;
    context.signal?.addEventListener('abort', this.#abort);
  }

  /** Opens a list; `-` is standard input. Names are read when they are asked for, so a bad list may fail later. */
  async open(file: string): Promise<AsyncGenerator<ByteName>> {
    const {stdin, signal} = this.#context;
    const stream = file === '-' ? stdin() : await openList(file, this.#context);
    // The reader gets errors; without a reader, an error must not end the process.
    stream.on('error', () => {});
    this.#streams.push(stream);
    if (signal?.aborted) this.#abort();
    return this.#read(stream, file === '-' ? 'Standard input' : file);
  }

  /** The names in an open list; the error of a list that breaks off is no usage error: the file may be fine. */
  async *#read(stream: Readable, label: string): AsyncGenerator<ByteName> {
    try {
      yield* readNames(stream, label);
    } catch (error) {
      if (error instanceof MediaError || this.#context.signal?.aborted) throw error;
      throw systemError('local_failure', `${label} could not be read to its end`, error);
    }
  }

  /** Closes all lists, also those that were not read to their end. */
  close(): void {
    this.#context.signal?.removeEventListener('abort', this.#abort);
    for (const stream of this.#streams) stream.destroy();
  }
}
