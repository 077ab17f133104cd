import {randomUUID} from 'node:crypto';
import type {BigIntStats} from 'node:fs';
import type {FileHandle} from 'node:fs/promises';
import {basename, dirname, extname, join, normalize, sep} from 'node:path';
import {streamHash} from '../../../../lib/files/content-hash.ts';
import {
  isWithoutHardLinks,
  makeDirectory,
  renameDurably,
  syncDirectory,
} from '../../../../lib/files/durable.ts';
import {constants, type FileSystem, inodeOf} from '../../../../lib/files/file-system.ts';
import {systemCode} from '../../../../lib/system-code.ts';

/** The bytes that the name of a file may have. */
const longestName = 255;

/** The second place of a file: another name of it, or a durable copy on another file system. */
export interface Placement {
  path: string;
  isCopy: boolean;
}

/** Gives an open file a second place below a directory, under a free name; undefined if it is there already. */
export async function place(
  path: string,
  handle: FileHandle,
  {moveTo, relative}: {moveTo: string; relative: string},
  files: FileSystem,
): Promise<Placement | undefined> {
  const to = join(moveTo, relative);
  await makeDirectory(dirname(to), files);
  if (await isBelowAlready(path, moveTo, relative, files)) return undefined;
  let temporary: string | undefined;
  for (let number = 0; ; ) {
    const target = number === 0 ? to : withNumber(to, number);
    try {
      await (temporary === undefined ? files.link(path, target) : giveName(temporary, target, files));
    } catch (error) {
      if (systemCode(error) === 'EEXIST') {
        // A run that was killed between link and unlink has linked this very file there.
        if (temporary !== undefined || !(await isFileOf(handle, await files.lstat(target, {bigint: true})))) {
          number += 1;
          continue;
        }
      } else {
        const isOtherDisk = systemCode(error) === 'EXDEV' || isWithoutHardLinks(error);
        if (temporary !== undefined || !isOtherDisk) throw error;
        // A file that cannot be removed would be copied again at each try.
        await files.access(dirname(path), constants.W_OK);
        temporary = await copyDurably(path, handle, dirname(to), files);
        continue;
      }
    }
    await syncNames(target, moveTo, files);
    return {path: target, isCopy: temporary !== undefined};
  }
}

/** A link or a mount may lead from one directory to the other: then the name in the target is the file's only one. */
async function isBelowAlready(path: string, moveTo: string, relative: string, files: FileSystem) {
  const idOf = async (directory: string) => {
    const id = await inodeOf(directory, 'directory', files);
    // Some network file systems number nothing.
    return id === undefined || id.endsWith(':0') ? directory : id;
  };
  // The directories from that of the file up to the watched one.
  const parents = [];
  for (let at = dirname(path), left = relative.split(sep).length; left > 0; at = dirname(at), left -= 1)
    parents.push(await idOf(at));
  return parents.includes(await idOf(moveTo)) || parents[0] === (await idOf(dirname(join(moveTo, relative))));
}

/** Makes a new name and its directories durable: a power cut must not lose them and keep that the old name is gone. */
async function syncNames(target: string, moveTo: string, files: FileSystem): Promise<void> {
  const last = dirname(normalize(moveTo));
  for (let directory = dirname(target); ; directory = dirname(directory)) {
    await syncDirectory(directory, files);
    if (directory === last || directory === dirname(directory)) return;
  }
}

/** Whether a status is that of the open file. */
async function isFileOf(handle: FileHandle, there: BigIntStats): Promise<boolean> {
  const here = await handle.stat({bigint: true});
  return here.dev === there.dev && here.ino === there.ino;
}

/** Copies a file durably, with its times and mode, and compares the copy; returns the copy's temporary path. */
async function copyDurably(path: string, handle: FileHandle, directory: string, files: FileSystem) {
  // Not a name that somebody else may have used: what is there could be lost, or lead to another file.
  const temporary = join(directory, `.media-${randomUUID()}.part`);
  try {
    await files.copyFile(path, temporary, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    const {atimeMs, mtimeMs} = await handle.stat();
    await files.utimes(temporary, atimeMs / 1000, mtimeMs / 1000);
    const copy = await files.open(temporary, 'r');
    try {
      await copy.sync();
      if ((await hashOf(copy)) !== (await hashOf(handle))) throw new Error('its copy differs from it');
    } finally {
      await copy.close();
    }
    return temporary;
  } catch (error) {
    await Promise.allSettled([files.unlink(temporary)]);
    throw error;
  }
}

/** Renames a copy; rejects with EEXIST if the name is taken. Without hard links, it reserves the name first. */
async function giveName(temporary: string, target: string, files: FileSystem): Promise<void> {
  let isOurs = false;
  try {
    let isLinked = true;
    await files.link(temporary, target).catch(error => {
      if (!isWithoutHardLinks(error)) throw error;
      isLinked = false;
    });
    if (!isLinked) await (await files.open(target, 'wx', 0o600)).close();
    isOurs = true;
    await (isLinked ? files.unlink(temporary) : renameDurably(temporary, target, files));
  } catch (error) {
    const names = isOurs ? [temporary, target] : [temporary];
    if (isOurs || systemCode(error) !== 'EEXIST')
      await Promise.allSettled(names.map(name => files.unlink(name)));
    throw error;
  }
}

function hashOf(handle: FileHandle): Promise<string> {
  return streamHash(handle.createReadStream({start: 0, autoClose: false}));
}

/** The path with a number at the end of its name, which is cut if it would be longer than names can be. */
function withNumber(path: string, number: number): string {
  const extension = extname(path);
  const ending = `-${number}${extension}`;
  let stem = basename(path, extension);
  while (stem !== '' && Buffer.byteLength(stem + ending) > longestName) stem = stem.replace(/.$/su, '');
  return join(dirname(path), stem + ending);
}
