import {Readable} from 'node:stream';
import {MediaError} from '../errors.ts';
import {systemHost} from '../host.ts';
import type {OpenSource, Source} from '../sources/open/source.ts';
import {refuseSingle, refuseUnknown} from './inputs.ts';

export interface FilesOptions {
  /** Whether directories are read recursively. */
  recursive?: boolean;
  /** Takes no matching files from directories and patterns. */
  exclude?: readonly string[];
  /** Whether directories and patterns include hidden files and files that are neither images nor videos. */
  all?: boolean;
  /** The base of relative paths; the working directory by default. */
  cwd?: string;
}

/**
 * The files that paths and patterns stand for, as in `media upload`: in the order given, directories depth first, no file
 * twice. Hidden files in directories and patterns are left out; `uploadAll`, which reads the bytes, leaves out files that are
 * neither images nor videos by name or content. Rejects with a MediaError `usage` or `nothing_matched` before the first file.
 * A missing file is a source that fails when it is uploaded.
 */
export async function* filesOf(
  paths: Iterable<string>,
  options: FilesOptions = {},
): AsyncGenerator<Source, void> {
  refuseSingle(paths);
  refuseUnknown(options, 'recursive exclude all cwd');
  const {expandInputs} = await import('../sources/find/expand.ts');
  const {cwd, ...request} = options;
  // Standard input belongs to the program that uses the library.
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

/** Bytes in memory as a source. The name's extension counts for the type. The bytes must not change until uploaded. */
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
    verify: async () => 'unchanged',
    close: async () => {},
  };
}
