import {constants} from 'node:fs';
import {open, readdir, realpath} from 'node:fs/promises';
import {basename, dirname, join, relative} from 'node:path';
import {namedStat} from '../engine/sources/open/file-source.ts';
import {MediaError, throwAs} from '../errors.ts';
import {inodeOf, systemFiles} from '../lib/files/file-system.ts';
import {resolveUserPath} from '../lib/files/typed-path.ts';
import {byWord} from '../lib/object.ts';
import type {DocumentKind} from './scan/reference.ts';
import {tooComplex} from './scanner.ts';

const kinds = byWord<DocumentKind>([
  ['markdown', 'md markdown mdown mkd'],
  ['mdx', 'mdx'],
  ['html', 'html htm'],
  ['xhtml', 'xhtml'],
  ['css', 'css'],
]);

const whatDocumentsAre = `Documents are files with these extensions: ${[...kinds.keys()].join(', ')}.`;

export interface DocumentFile {
  /** As the user named it, or as it was found. */
  name: string;
  path: string;
  /** Its place in a mirror of what was named. */
  place: string;
  kind: DocumentKind;
}

function kindOf(name: string): DocumentKind | undefined {
  return kinds.get(/\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? '');
}

/**
 * The documents that files and directories mean, in byte order, each once; hidden names and node_modules in
 * directories are left out, and so is the directory with the real path `except`. Rejects if one is missing, is no
 * document, or if a directory has none.
 */
export async function* findDocuments(
  inputs: readonly string[],
  cwd: string,
  except?: string,
): AsyncGenerator<DocumentFile> {
  const paths = new Set<string>();
  // Undefined for a directory that was removed meanwhile: its documents fail when they are read.
  const real = (directory: string) => realpath(directory).catch(() => undefined);
  // By the real path of its directory, so that a document is yielded once although links lead to it as well.
  const isNew = async ({path}: DocumentFile) =>
    paths.size < paths.add(join((await real(dirname(path))) ?? dirname(path), basename(path))).size;
  for (const input of inputs) {
    const path = resolveUserPath(cwd, input);
    if ((await namedStat(input, path, systemFiles)).isDirectory()) {
      let isEmpty = true;
      const realPath = except && (await real(path));
      // As `walk` sees the exception; it starts with ".." for one that is not below this directory.
      const exceptPlace = realPath && relative(realPath, except);
      for await (const document of walk({name: input, path, place: ''}, exceptPlace)) {
        isEmpty = false;
        if (await isNew(document)) yield document;
      }
      if (isEmpty)
        throw new MediaError('nothing_matched', `${input} contains no document.`, {hint: whatDocumentsAre});
      continue;
    }
    const kind = kindOf(input);
    if (kind === undefined)
      throw new MediaError('usage', `${input} is not a Markdown, HTML or CSS file.`, {
        hint: whatDocumentsAre,
      });
    const document = {name: input, path, place: basename(input), kind};
    if (await isNew(document)) yield document;
  }
}

/** The documents below a directory; a directory that cannot be read is yielded too, so that its error is reported. */
async function* walk(
  directory: Omit<DocumentFile, 'kind'>,
  exceptPlace: string | undefined,
): AsyncGenerator<DocumentFile> {
  const entries = await readdir(directory.path, {withFileTypes: true}).catch(() => undefined);
  // Reading it as a document fails, and says why; the others are rewritten.
  if (entries === undefined) return yield {...directory, kind: 'markdown'};
  for (const entry of entries.sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    const name = join(directory.name, entry.name);
    const path = join(directory.path, entry.name);
    const place = join(directory.place, entry.name);
    const kind = kindOf(entry.name);
    if (place === exceptPlace) continue;
    if (entry.isDirectory()) yield* walk({name, path, place}, exceptPlace);
    else if (kind === undefined) continue;
    // A link counts if it leads to a file.
    else if (entry.isFile() || (await inodeOf(path, 'file', systemFiles)) !== undefined)
      yield {name, path, place, kind};
  }
}

/** How large a document may be, in MiB. */
const largestMiB = 4;

/** The bytes of a document; rejects with `file_unreadable`, `not_a_file` or `document_too_complex`. */
export async function readDocument({name, path}: Pick<DocumentFile, 'name' | 'path'>): Promise<Buffer> {
  const unreadable = throwAs('file_unreadable', `${name} could not be read`);
  // Without O_NONBLOCK, a FIFO would wait for a writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(unreadable);
  try {
    const stats = await file.stat().catch(unreadable);
    if (!stats.isFile()) throw new MediaError('not_a_file', `${name} is not a regular file.`);
    if (stats.size > largestMiB * 1024 ** 2)
      throw tooComplex(`${name} is too large: more than ${largestMiB} MiB.`);
    return await file.readFile().catch(unreadable);
  } finally {
    await file.close().catch(unreadable);
  }
}
