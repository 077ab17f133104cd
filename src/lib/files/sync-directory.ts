import {systemFiles} from './file-system.ts';

const directoriesCannotSync = new Set(['EPERM', 'EACCES', 'EISDIR', 'EINVAL', 'ENOTSUP', 'EOPNOTSUPP']);

/** A directory whose entries can be made durable without another descriptor. */
export interface OpenDirectory {
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a directory for syncing, if the system supports it; rejects with the system's error. */
export async function openDirectory(path: string, files = systemFiles): Promise<OpenDirectory> {
  const handle = await files.open(path, 'r').catch(ignoreWhereImpossible);
  return {
    sync: async () => handle?.sync().catch(ignoreWhereImpossible),
    close: async () => handle?.close(),
  };
}

/** Makes the entries of a directory durable, if the system supports it; rejects with the system's error. */
export async function syncDirectory(path: string, files = systemFiles): Promise<void> {
  const directory = await openDirectory(path, files);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function ignoreWhereImpossible(error: unknown): undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (!directoriesCannotSync.has(code)) throw error;
}
