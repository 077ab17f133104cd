import {dirname} from 'node:path';
import {systemCode} from '../system-code.ts';
import {systemFiles} from './file-system.ts';
import {syncDirectory} from './sync-directory.ts';

/**
 * Creates a directory and its missing parents with this mode, which survive a crash once the promise resolves; rejects with the
 * system's error. `mkdir` with `recursive` of Node 20 never returns where the system refuses a directory with ENOENT although its
 * parent exists (/proc, autofs).
 */
export async function makeDirectory(path: string, mode = 0o777, files = systemFiles): Promise<void> {
  const create = async () => {
    try {
      await files.mkdir(path, {mode});
    } catch (error) {
      const there = await files.stat(path).catch(() => undefined);
      if (!there?.isDirectory()) throw error;
      return;
    }
    await syncDirectory(dirname(path), files);
  };
  await create().catch(async error => {
    if (systemCode(error) !== 'ENOENT' || dirname(path) === path) throw error;
    await makeDirectory(dirname(path), mode, files);
    await create();
  });
}
