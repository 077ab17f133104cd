import {basename, dirname} from 'node:path';
import type {Source} from '../../../engine/sources/open/source.ts';
import {OwnFileError} from '../../../errors.ts';
import type {Host} from '../../../host.ts';
import {inodeOf} from '../../../lib/files/file-system.ts';
import {resolveUserPath} from '../../../lib/files/typed-path.ts';

/** Makes sources refuse what this run writes, under any name: the files at `paths`, their locks and standard output. */
export function withoutOwnFiles(paths: readonly string[], host: Host): (source: Source) => Source {
  const inode = (path: string, kind: 'file' | 'directory') =>
    inodeOf(resolveUserPath(host.cwd(), path), kind, host.files);
  let ownInodes: (string | undefined)[] | undefined;
  /** Whether this is the inode of a file that the run writes. */
  const isOwn = async (found: string | undefined) => {
    ownInodes ??= [host.fileOf('stdout'), ...(await Promise.all(paths.map(path => inode(path, 'file'))))];
    return found !== undefined && ownInodes.includes(found);
  };
  /** Whether a path leads to such a file by its name: the journal of a manifest and lock files may not exist yet. */
  const isOwnName = async (name: string) => {
    const alike = paths.filter(
      path => basename(name) === basename(path) || `${basename(name)}.`.startsWith(`${basename(path)}.lock.`),
    );
    const directories = await Promise.all(alike.map(path => inode(dirname(path), 'directory')));
    return alike.length > 0 && directories.includes(await inode(dirname(name), 'directory'));
  };
  return source => ({
    ...source,
    /** Opens the source; rejects if it is a file that the run writes. */
    async open(signal) {
      const {name} = source;
      if (await isOwnName(name)) throw new OwnFileError(name);
      const file = await source.open(signal).catch(async error => {
        // The file of standard output is empty before the first result.
        if (error.code === 'empty_file' && (await isOwn(await inode(name, 'file'))))
          throw new OwnFileError(name);
        throw error;
      });
      const {dev, ino} = file.stat ?? {};
      if (!(await isOwn(`${dev}:${ino}`))) return file;
      await file.close();
      throw new OwnFileError(name);
    },
  });
}
