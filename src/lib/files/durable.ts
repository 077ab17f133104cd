import {dirname} from 'node:path';
import {systemCode} from '../system-code.ts';
import {systemFiles} from './file-system.ts';
import {syncDirectory} from './sync-directory.ts';

/** Writes a new file (0600) that is on disk when the promise resolves; removes it on failure. */
export async function writeDurably(path: string, text: string, files = systemFiles): Promise<void> {
  const handle = await files.open(path, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } catch (error) {
    await handle.close();
    await files.rm(path, {force: true});
    throw error;
  }
  await handle.close();
}

/** Renames a file to `target`, replacing it; the new name survives a crash once the promise resolves. */
export async function renameDurably(path: string, target: string, files = systemFiles): Promise<void> {
  await files.rename(path, target);
  await syncDirectory(dirname(target), files);
}

/** Replaces the text of a file at once; the new one survives a crash once the promise resolves. `draft` is a free path beside it. */
export async function replaceDurably(
  path: string,
  text: string,
  draft: string,
  files = systemFiles,
): Promise<void> {
  try {
    await writeDurably(draft, text, files);
    await renameDurably(draft, path, files);
  } finally {
    await files.rm(draft, {force: true});
  }
}

/** Whether `link` failed because of the file system (FAT, some network shares) or because of too many links. */
export function isWithoutHardLinks(error: unknown): boolean {
  return ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(systemCode(error) ?? '');
}

/** Renames a file to `target` if that name is free; returns whether it was. `path` is removed either way. */
export async function claimName(path: string, target: string, files = systemFiles): Promise<boolean> {
  try {
    await files.link(path, target);
    await syncDirectory(dirname(target), files);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    // Without hard links, only the protection against a second process is lost.
    if (!isWithoutHardLinks(error)) throw error;
    await renameDurably(path, target, files);
    return true;
  } finally {
    await files.rm(path, {force: true});
  }
}
