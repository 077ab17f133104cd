import {readdir, readlink} from 'node:fs/promises';
import {join} from 'node:path';

const directory = '/proc/self/fd';

/** Whether this system tells a process which files it has open. */
export const canListOpenFiles = process.platform === 'linux';

/** The files that this process has open, by their paths: all, or those whose paths begin like this. */
export async function openFiles(beginning = ''): Promise<string[]> {
  const names = await readdir(directory);
  const paths = await Promise.all(names.map(name => readlink(join(directory, name)).catch(() => '')));
  return paths.filter(path => path.startsWith(beginning));
}
