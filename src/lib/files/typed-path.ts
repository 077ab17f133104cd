import {resolve, sep} from 'node:path';

/** A path for node:fs: a string if that is exact, otherwise bytes. */
export type FilePath = string | Buffer;

/**
 * The absolute form of a path that was typed in a directory. It is not normalised: if `current` is a link,
 * `current/../photo.png` is not `photo.png`. An empty path stays empty.
 */
export function typedPath(directory: string, path: string): string {
  if (path === '' || path.startsWith('/')) return path;
  // Windows normalises paths before it follows links, and has several roots.
  if (sep !== '/') return resolve(directory, path);
  return `${directory.endsWith('/') ? directory : `${directory}/`}${path}`;
}
