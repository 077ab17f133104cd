import {isAbsolute, relative, resolve, sep} from 'node:path';
import {fileURLToPath} from 'node:url';

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

/** The path that a path or a file:// URL stands for; throws if the URL is not that of a local file. */
export function pathOfFileUrl(text: string): string {
  return /^file:\/\//i.test(text) ? fileURLToPath(text) : text;
}

/** Whether a real path leads below a directory, itself a real path. */
export function isBelow(path: string, directory: string): boolean {
  const rest = relative(directory, path);
  return rest !== '' && rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest);
}
