import {open} from 'node:fs/promises';
import type {Readable} from 'node:stream';
import {MediaError, systemCode} from '../../errors.ts';
import type {StopSignal} from '../../host.ts';
import {shellQuoted} from '../../lib/shell.ts';
import {typedPath} from '../../lib/typed-path.ts';
import type {ByteName} from './names.ts';

/** What ends a name: a line feed, or a zero byte. */
export type Separator = '\n' | '\0';

/** No system takes longer paths; what goes on for longer is no list. */
const longestName = 64 * 1024;

/** Opens a file that lists names; one that cannot be read is a usage error. */
async function openList(file: string, cwd: string): Promise<Readable> {
  try {
    const handle = await open(typedPath(cwd, file), 'r');
    if (!(await handle.stat()).isDirectory()) return handle.createReadStream();
    await handle.close();
  } catch (error) {
    const code = systemCode(error);
    const reason =
      code === 'ENOENT' || code === 'ENOTDIR'
        ? 'it does not exist'
        : code === 'EACCES' || code === 'EPERM'
          ? 'permission denied'
          : (code ?? String(error));
    throw new MediaError('usage', `The list ${file} could not be read: ${reason}.`, {cause: error});
  }
  throw new MediaError('usage', `The list ${file} is a directory, not a file of names.`, {
    hint: `To upload what is in it: media upload -r ${shellQuoted(file)}`,
  });
}

/**
 * The names that a list holds, byte for byte, as they come. Lines may end in CR LF; empty names are passed over. What
 * is not a list of names is a usage error; `label` names the list there.
 */
export async function* readNames(
  list: AsyncIterable<Buffer | string>,
  separator: Separator,
  label: string,
): AsyncGenerator<ByteName> {
  let rest = '';
  let isFirst = true;
  for await (const chunk of list) {
    const names = (rest + Buffer.from(chunk as Buffer).toString('latin1')).split(separator);
    rest = names.pop() ?? '';
    for (const name of names) {
      yield* oneName(name, separator, label, isFirst);
      isFirst = false;
    }
    if (rest.length > longestName) throw notAList(label, 'a name in it is far too long');
  }
  yield* oneName(rest, separator, label, isFirst);
}

function* oneName(
  bytes: ByteName,
  separator: Separator,
  label: string,
  isFirst: boolean,
): Generator<ByteName> {
  let name = bytes;
  if (separator === '\n') {
    if (isFirst) name = withoutMark(name, label);
    if (name.endsWith('\r')) name = name.slice(0, -1);
    if (name.includes('\0'))
      throw notAList(label, 'its names end in zero bytes', 'Read it with --files-from0.');
  }
  if (name.length > longestName) throw notAList(label, 'a name in it is far too long');
  if (name !== '') yield name;
}

/** Windows tools begin text files with a mark: that of UTF-8 is dropped, that of UTF-16 tells that this is no UTF-8. */
function withoutMark(name: ByteName, label: string): ByteName {
  if (name.startsWith('\xff\xfe') || name.startsWith('\xfe\xff')) {
    throw notAList(label, 'it is in UTF-16', 'Save it in UTF-8.');
  }
  return name.startsWith('\xef\xbb\xbf') ? name.slice(3) : name;
}

function notAList(label: string, why: string, hint = 'It has to hold one name a line.'): MediaError {
  return new MediaError('usage', `${label} is not a list of names: ${why}.`, {hint});
}

export interface ListContext {
  cwd: string;
  stdin: () => Readable;
  /** Ends the wait for a list with its reason. */
  signal?: StopSignal<Error>;
}

/** The lists of a run: opened before anything is sent, closed whatever becomes of it. */
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

  get count(): number {
    return this.#streams.length;
  }

  async open(file: string, separator: Separator): Promise<AsyncGenerator<ByteName>> {
    const {stdin, cwd, signal} = this.#context;
    const stream = file === '-' ? stdin() : await openList(file, cwd);
    // Whoever reads it learns of an error; before and after that it must not end the process.
    stream.on('error', () => {});
    this.#streams.push(stream);
    if (signal?.aborted) this.#abort();
    return this.#read(stream, separator, file === '-' ? 'Standard input' : file);
  }

  async *#read(stream: Readable, separator: Separator, label: string): AsyncGenerator<ByteName> {
    try {
      yield* readNames(stream, separator, label);
    } catch (error) {
      if (error instanceof MediaError || this.#context.signal?.aborted) throw error;
      throw new MediaError(
        'local_failure',
        `${label} could not be read to its end: ${systemCode(error) ?? String(error)}.`,
        {
          cause: error,
        },
      );
    }
  }

  close(): void {
    this.#context.signal?.removeEventListener('abort', this.#abort);
    for (const stream of this.#streams) stream.destroy();
  }
}
