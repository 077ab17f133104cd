import type {FileHandle} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import type {Host} from '../host.ts';
import {renameDurably} from '../lib/files/durable.ts';

/**
 * Replaces the content of a file at once and durably, if it is still `before`; resolves to whether it is `after` now. A link stays
 * a link. Rejects if owner, group or mode could not be kept, or if other names of the file would keep the old content.
 */
export async function replaceContent(
  path: string,
  before: Uint8Array,
  after: Uint8Array,
  host: Host,
): Promise<boolean> {
  const {files} = host;
  const target = await files.realpath(path);
  const {mode, uid, gid, nlink} = await files.stat(target);
  if (nlink > 1) throw new Error('it has several names (hard links)');
  const prepare = async (file: FileHandle) => {
    // Not every user or file system may do that, or say so.
    await file.chown(uid, gid).catch(() => {});
    await file.chmod(mode & 0o7777);
    const kept = await file.stat();
    if (kept.uid !== uid || kept.gid !== gid || kept.mode !== mode)
      throw new Error('it would get another owner, group or mode');
  };
  const isCurrent = async () => (await files.readFile(target)).equals(before);
  return (
    (await write(target, after, host, prepare, isCurrent)) || (await files.readFile(target)).equals(after)
  );
}

/** Writes a file at once and durably, in place of any other. */
export async function writeContent(path: string, content: Uint8Array, host: Host): Promise<void> {
  await write(path, content, host);
}

async function write(
  path: string,
  content: Uint8Array,
  {files, uuid}: Host,
  prepare = async (_file: FileHandle) => {},
  isCurrent = async () => true,
): Promise<boolean> {
  const temporary = join(dirname(path), `.${basename(path)}.${uuid()}`);
  const file = await files.open(temporary, 'wx');
  try {
    try {
      await prepare(file);
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    const mayReplace = await isCurrent();
    if (mayReplace) await renameDurably(temporary, path, files);
    return mayReplace;
  } finally {
    await files.rm(temporary, {force: true});
  }
}
