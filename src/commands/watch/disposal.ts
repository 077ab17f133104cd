import {constants} from 'node:fs';
import {copyFile, link, lstat, open, unlink, utimes} from 'node:fs/promises';
import {basename, dirname, extname, join} from 'node:path';
import {isWithoutHardLinks, renameDurably} from '../../lib/files/durable.ts';
import {makeDirectory} from '../../lib/files/make-directory.ts';
import {systemCode} from '../../lib/system-code.ts';
import type {FileStat} from '../../sources/open/source.ts';

/** What is done with a file once its record is confirmed. */
export type Disposal = 'keep' | 'delete' | {moveTo: string};

/** A file of which an upload is recorded. */
export interface UploadedFile {
  path: string;
  /** Its path below the watched directory. */
  relative: string;
  /** The state that was uploaded. */
  stat: FileStat | undefined;
}

/** What became of a file: `changed` and `gone` if it is not, or no longer, the one that was uploaded. */
export type Disposed = 'kept' | 'deleted' | 'changed' | 'gone' | {movedTo: string};

/** Moves or deletes a file, unless it has been touched since it was opened for the upload. Rejects with a system error. */
export async function dispose(file: UploadedFile, disposal: Disposal): Promise<Disposed> {
  if (disposal === 'keep') return 'kept';
  const change = await changeOf(file);
  if (change !== undefined) return change;
  if (disposal !== 'delete') return move(file, join(disposal.moveTo, file.relative));
  await unlink(file.path);
  return 'deleted';
}

async function changeOf({path, stat}: UploadedFile): Promise<'changed' | 'gone' | undefined> {
  try {
    const now = await lstat(path, {bigint: true});
    const isSame =
      stat !== undefined &&
      now.dev === stat.dev &&
      now.ino === stat.ino &&
      now.mtimeNs === stat.mtimeNs &&
      now.ctimeNs === stat.ctimeNs;
    return isSame ? undefined : 'changed';
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 'gone';
    throw error;
  }
}

/** Moves a file to a path, or to one with a number if that is taken; nothing is ever overwritten. */
async function move(file: UploadedFile, target: string): Promise<Disposed> {
  await makeDirectory(dirname(target));
  for (let number = 0; ; number += 1) {
    const movedTo = number === 0 ? target : numbered(target, number);
    const result = await linkOrCopy(file, movedTo);
    if (result === 'taken') continue;
    if (result === 'changed') return 'changed';
    await unlink(file.path);
    return {movedTo};
  }
}

/** Gives a file a second name, which fails if that exists; on another file system, copies it. */
async function linkOrCopy(file: UploadedFile, target: string): Promise<'done' | 'taken' | 'changed'> {
  try {
    await link(file.path, target);
    return 'done';
  } catch (error) {
    // A run that was killed between the two steps has linked it already.
    if (systemCode(error) === 'EEXIST') return (await isSameFile(file.path, target)) ? 'done' : 'taken';
    if (systemCode(error) !== 'EXDEV' && !isWithoutHardLinks(error)) throw error;
    return copy(file, target);
  }
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([one, other].map(path => lstat(path, {bigint: true})));
  return first?.dev === second?.dev && first?.ino === second?.ino;
}

/** Copies a file durably under a temporary name, then gives it its own, which is reserved until then. */
async function copy(file: UploadedFile, target: string): Promise<'done' | 'taken' | 'changed'> {
  try {
    await (await open(target, 'wx', 0o600)).close();
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return 'taken';
    throw error;
  }
  const temporary = join(dirname(target), `.${basename(target)}.part`);
  try {
    await copyFile(file.path, temporary, constants.COPYFILE_FICLONE);
    const {atime, mtime} = await lstat(file.path);
    await utimes(temporary, atime, mtime);
    const handle = await open(temporary, 'r');
    await handle.sync().finally(() => handle.close());
    // Copying takes time; reading has changed neither of the times that are compared.
    if ((await changeOf(file)) === undefined) {
      await renameDurably(temporary, target);
      return 'done';
    }
  } catch (error) {
    await Promise.allSettled([unlink(temporary), unlink(target)]);
    throw error;
  }
  await Promise.allSettled([unlink(temporary), unlink(target)]);
  return 'changed';
}

function numbered(path: string, number: number): string {
  const extension = extname(path);
  return `${path.slice(0, path.length - extension.length)}-${number}${extension}`;
}
