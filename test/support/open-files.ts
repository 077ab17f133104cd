import {readdir, readlink} from 'node:fs/promises';
import {join} from 'node:path';

const directory = '/proc/self/fd';

/** Whether this system tells a process which files it has open. */
export const canListOpenFiles = process.platform === 'linux';

/** The files that this process has open, by their paths. */
export async function openFiles(): Promise<string[]> {
  const names = await readdir(directory);
  return Promise.all(names.map(name => readlink(join(directory, name)).catch(() => '')));
}
