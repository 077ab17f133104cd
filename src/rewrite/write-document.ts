import {open, readFile, realpath, rm, stat} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import {renameDurably} from '../lib/files/durable.ts';

/**
 * Replaces the content of a file at once and durably, if it is still `before`; resolves to whether it was. Its mode is
 * kept, and a link stays a link.
 */
export async function replaceContent(
  path: string,
  before: Uint8Array,
  after: Uint8Array,
  token: string,
): Promise<boolean> {
  const target = await realpath(path);
  const {mode} = await stat(target);
  return write(target, after, {token, mode, isCurrent: async () => (await readFile(target)).equals(before)});
}

/** Writes a file at once and durably, in place of any other. */
export async function writeContent(path: string, content: Uint8Array, token: string): Promise<void> {
  await write(path, content, {token, isCurrent: async () => true});
}

async function write(
  path: string,
  content: Uint8Array,
  {token, mode, isCurrent}: {token: string; mode?: number; isCurrent: () => Promise<boolean>},
): Promise<boolean> {
  const temporary = join(dirname(path), `.${basename(path)}.${token}`);
  const file = await open(temporary, 'wx');
  try {
    try {
      if (mode !== undefined) await file.chmod(mode & 0o7777);
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    if (!(await isCurrent())) {
      await rm(temporary, {force: true});
      return false;
    }
    await renameDurably(temporary, path);
  } catch (error) {
    await rm(temporary, {force: true});
    throw error;
  }
  return true;
}
