import {mkdir, stat} from 'node:fs/promises';
import {dirname} from 'node:path';
import {systemCode} from '../system-code.ts';

/**
 * Creates a directory and its missing parents with this mode; rejects with the system's error. `mkdir` with `recursive` of Node 20
 * never returns where the system refuses a directory with ENOENT although its parent exists (/proc, autofs).
 */
export async function makeDirectory(path: string, mode = 0o777): Promise<void> {
  const create = () =>
    mkdir(path, {mode}).catch(async error => {
      const isThere = await stat(path)
        .then(stats => stats.isDirectory())
        .catch(() => false);
      if (!isThere) throw error;
    });
  await create().catch(async error => {
    if (systemCode(error) !== 'ENOENT' || dirname(path) === path) throw error;
    await makeDirectory(dirname(path), mode);
    await create();
  });
}
