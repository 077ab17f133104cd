import {readdir, readlink} from 'node:fs/promises';
import {join} from 'node:path';

/** Whether this system tells which files a process has open. */
export const canListOpenFiles = process.platform === 'linux';

/** The files that a process has open, this one by default, by their paths: all, or those whose paths begin like this. */
export async function openFiles(beginning = '', pid: number | 'self' = 'self'): Promise<string[]> {
  const directory = `/proc/${pid}/fd`;
  const names = await readdir(directory);
  const paths = await Promise.all(names.map(name => readlink(join(directory, name)).catch(() => '')));
  return paths.filter(path => path.startsWith(beginning));
}
