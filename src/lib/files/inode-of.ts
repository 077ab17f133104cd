import {stat} from 'node:fs/promises';

/** Identifies the file or directory that a path leads to, as long as it exists; undefined if there is none. */
export async function inodeOf(path: string, kind: 'file' | 'directory'): Promise<string | undefined> {
  try {
    const found = await stat(path, {bigint: true});
    const isThere = kind === 'file' ? found.isFile() : found.isDirectory();
    return isThere ? `${found.dev}:${found.ino}` : undefined;
  } catch {
    return undefined;
  }
}
