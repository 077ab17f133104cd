import {link, open, rename, rm} from 'node:fs/promises';
import {dirname} from 'node:path';
import {syncDirectory} from '../../lib/files/sync-directory.ts';
import {systemCode} from '../../lib/system-code.ts';

/** Writes a new file (0600) that is on disk when the promise resolves; removes it on failure. */
export async function writeDurably(path: string, text: string): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } catch (error) {
    await handle.close();
    await rm(path, {force: true});
    throw error;
  }
  await handle.close();
}

/** Renames a file to `target`, replacing it; the new name survives a crash once the promise resolves. */
export async function renameDurably(path: string, target: string): Promise<void> {
  await rename(path, target);
  await syncDirectory(dirname(target));
}

/** Replaces the text of a file at once; the new one survives a crash once the promise resolves. `draft` is a free path beside it. */
export async function replaceDurably(path: string, text: string, draft: string): Promise<void> {
  try {
    await writeDurably(draft, text);
    await renameDurably(draft, path);
  } finally {
    await rm(draft, {force: true});
  }
}

const noHardLinks = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Renames a file to `target` if that name is free; returns whether it was. `path` is removed either way. */
export async function claimName(path: string, target: string): Promise<boolean> {
  try {
    await link(path, target);
    await syncDirectory(dirname(target));
    return true;
  } catch (error) {
    const code = systemCode(error) ?? '';
    if (code === 'EEXIST') return false;
    // File systems without hard links (FAT, some network shares) only lose the protection against a second process.
    if (!noHardLinks.has(code)) throw error;
    await renameDurably(path, target);
    return true;
  } finally {
    await rm(path, {force: true});
  }
}

/** Whether an error means that a file or directory does not exist. */
export function isMissing(error: unknown): boolean {
  return systemCode(error) === 'ENOENT';
}
