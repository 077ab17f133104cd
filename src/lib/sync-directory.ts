import {open} from 'node:fs/promises';

const directoriesCannotSync = new Set(['EPERM', 'EACCES', 'EISDIR', 'EINVAL', 'ENOTSUP', 'EOPNOTSUPP']);

/** Makes the names in a directory durable, where the system can; rejects with the system's error where that fails. */
export async function syncDirectory(path: string): Promise<void> {
  try {
    const handle = await open(path, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!directoriesCannotSync.has(code)) throw error;
  }
}
