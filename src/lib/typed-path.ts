import {resolve, sep} from 'node:path';

/** A path as node:fs takes it: its text where that is exact, else its bytes. */
export type FilePath = string | Buffer;

/**
 * What the system takes for a path that was typed in a directory. Nothing is folded: where `current` is a link, the system
 * finds `current/../photo.png` elsewhere than `photo.png`. An empty path stays empty, which is no file.
 */
export function typedPath(directory: string, path: string): string {
  if (path === '' || path.startsWith('/')) return path;
  // Windows folds before it looks at links, and has roots of its own.
  if (sep !== '/') return resolve(directory, path);
  return `${directory.endsWith('/') ? directory : `${directory}/`}${path}`;
}
