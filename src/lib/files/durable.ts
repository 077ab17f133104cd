import type {FileHandle} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import type {Host} from '../../host.ts';
import {failedWith, systemCode} from '../system-code.ts';
import type {FileSystem} from './file-system.ts';

/** The content of a file, or a function that writes it. */
type Content = string | Uint8Array | ((file: FileHandle) => Promise<void>);

/** Writes a new file, by default 0600, that is on disk when the promise resolves; removes it on failure. */
export async function writeDurably(
  path: string,
  content: Content,
  files: FileSystem,
  mode = 0o600,
): Promise<void> {
  const handle = await files.open(path, 'wx', mode);
  try {
    await (typeof content === 'function' ? content(handle) : handle.writeFile(content));
    await handle.sync();
  } catch (error) {
    await handle.close();
    await files.rm(path, {force: true});
    throw error;
  }
  await handle.close();
}

/** A free path beside a file, whose name may be as long as names can be. */
export function draftOf(path: string, {uuid}: Host): string {
  return join(dirname(path), `.media-${uuid()}`);
}

/** Renames a file to `target`, replacing it; the new name survives a crash once the promise resolves. */
export async function renameDurably(path: string, target: string, files: FileSystem): Promise<void> {
  await files.rename(path, target);
  await syncDirectory(dirname(target), files);
}

/** Replaces a file atomically; durable when the promise resolves. `draft`: a free path in the same directory. */
export async function replaceDurably(
  path: string,
  content: Content,
  draft: string,
  files: FileSystem,
  mode = 0o600,
): Promise<void> {
  try {
    await writeDurably(draft, content, files, mode);
    await renameDurably(draft, path, files);
  } finally {
    await files.rm(draft, {force: true});
  }
}

/**
 * Replaces the content of a file at once and durably, if it is still `before`; resolves to whether it is `after` now. A
 * link stays a link. Rejects if owner, group or mode could not be kept, unless another owner is allowed, or if other
 * names of the file would keep the old content.
 */
export async function replaceContent(
  path: string,
  before: Uint8Array,
  after: Uint8Array,
  host: Host,
  {allowsOwner = false} = {},
): Promise<boolean> {
  const {files} = host;
  const target = await files.realpath(path);
  const {mode, uid, gid, nlink} = await files.stat(target);
  if (nlink > 1) throw new Error('it has several names (hard links)');
  const write = async (file: FileHandle) => {
    // Not every user or file system may do that, or say so.
    await file.chown(uid, gid).catch(() => {});
    await file.chmod(mode & 0o7777);
    const copy = await file.stat();
    if (copy.mode !== mode || (!allowsOwner && (copy.uid !== uid || copy.gid !== gid)))
      throw new Error('it would get another owner, group or mode');
    await file.writeFile(after);
  };
  const draft = draftOf(target, host);
  try {
    await writeDurably(draft, write, files);
    if ((await files.readFile(target)).equals(before)) {
      await renameDurably(draft, target, files);
      return true;
    }
  } finally {
    await files.rm(draft, {force: true});
  }
  return (await files.readFile(target)).equals(after);
}

/** Whether `link` failed because of the file system (FAT, some network shares) or because of too many links. */
export const isWithoutHardLinks = failedWith('EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK');

/** Renames a file to `target` if that name is free; returns whether it was. `path` is removed either way. */
export async function claimName(path: string, target: string, files: FileSystem): Promise<boolean> {
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

/** Whether a directory could not be synced because the system has no such call: Windows, some file systems. */
const cannotSync = failedWith('EPERM', 'EACCES', 'EISDIR', 'EINVAL', 'ENOTSUP', 'EOPNOTSUPP');

/** Opens a directory so that its entries can be synced, if the system supports it; rejects with the system's error. */
export async function openDirectory(path: string, files: FileSystem) {
  const handle = await files.open(path, 'r').catch(ignoreWhereImpossible);
  return {
    sync: async () => handle?.sync().catch(ignoreWhereImpossible),
    close: async () => handle?.close(),
  };
}

/** Makes the entries of a directory durable, if the system supports it; rejects with the system's error. */
export async function syncDirectory(path: string, files: FileSystem): Promise<void> {
  const directory = await openDirectory(path, files);
  await directory.sync().finally(directory.close);
}

function ignoreWhereImpossible(error: unknown): undefined {
  if (!cannotSync(error)) throw error;
}

/**
 * Creates a directory and its missing parents with this mode, which survive a crash once the promise resolves; rejects
 * with the system's error. `mkdir` with `recursive` of Node 20 never returns where the system refuses a directory with
 * ENOENT although its parent exists (/proc, autofs).
 */
export async function makeDirectory(path: string, files: FileSystem, mode = 0o777): Promise<void> {
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
    await makeDirectory(dirname(path), files, mode);
    await create();
  });
}
