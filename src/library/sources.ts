import {Readable} from 'node:stream';
import {MediaError} from '../errors.ts';
import {systemHost} from '../host.ts';
import type {OpenSource, Source} from '../sources/open/source.ts';

export interface FilesOptions {
  /** Whether directories stand for all that is in them. */
  recursive?: boolean;
  /** Whether links to directories are directories. */
  follow?: boolean;
  /** Patterns: of directories and patterns, only what matches one of these. */
  include?: readonly string[];
  /** Patterns: of directories and patterns, nothing that matches one of these. */
  exclude?: readonly string[];
  /** Whether directories and patterns stand for hidden names, too, and for what is no image and no video. */
  all?: boolean;
  /** Whether a directory or pattern without a file in it is fine. */
  allowEmpty?: boolean;
  /** What relative paths start from; the working directory by default. */
  cwd?: string;
}

/**
 * The files that these paths and patterns stand for, as `media upload` reads them: in the order given, directories
 * depth first, no file twice. Of directories and patterns, hidden names are left out; what neither name nor bytes call an
 * image or a video is for `uploadAll` to leave out, which looks at the bytes anyway. Rejects with a MediaError `usage` or `nothing_matched` before the first file. A file
 * that is missing is a source too: it fails when its turn to be uploaded comes.
 */
export async function* filesOf(
  paths: Iterable<string>,
  options: FilesOptions = {},
): AsyncGenerator<Source, void> {
  const {expandInputs} = await import('../sources/find/expand.ts');
  const {cwd, ...request} = options;
  // Standard input belongs to the program around us.
  const inputs = [...paths].map(path => (path === '-' ? './-' : path));
  const host = systemHost();
  const context = {
    cwd: cwd ?? host.cwd(),
    stdin: () => Readable.from([]),
    temporaryDirectory: host.temporaryDirectory(),
  };
  for await (const source of expandInputs({...request, inputs}, context))
    if (!source.found?.isHidden) yield source;
}

/** Bytes in memory as a source; the name's extension speaks for their type. They must not change until uploaded. */
export function bytesSource(name: string, bytes: Uint8Array): Source {
  return {
    name,
    typeName: name,
    measure: async () => bytes.length,
    open: async () => openBytes(name, bytes),
  };
}

function openBytes(name: string, bytes: Uint8Array): OpenSource {
  if (bytes.length === 0) throw new MediaError('empty_file', `${name} is empty: there is nothing to upload.`);
  return {
    size: bytes.length,
    read: async (position, length) => bytes.subarray(position, position + length),
    verify: async () => {},
    close: async () => {},
  };
}
