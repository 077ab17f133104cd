import {basename, dirname} from 'node:path';
import type {Source} from '../../../engine/sources/open/source.ts';
import {OwnFileError} from '../../../errors.ts';
import type {Host} from '../../../host.ts';
import {inodeOf} from '../../../lib/files/file-system.ts';
import {resolveUserPath} from '../../../lib/files/typed-path.ts';

/** Makes sources refuse these journals, their lock files and the file of standard output, under any name. */
export function withoutOwnFiles(journals: readonly string[], host: Host): (source: Source) => Source {
  const output = host.fileOf('stdout');
  let ofJournals: readonly (string | undefined)[] | undefined;
  const identityOf = (path: string) => inodeOf(resolveUserPath(host.cwd(), path), 'file');
  const refuseOwn = async (name: string, file: string | undefined) => {
    ofJournals ??= await Promise.all(journals.map(identityOf));
    if (file !== undefined && [output, ...ofJournals].includes(file)) throw new OwnFileError(name);
  };
  const directoryOf = (path: string) => inodeOf(resolveUserPath(host.cwd(), dirname(path)), 'directory');
  const isOwnName = async (name: string) => {
    // The first upload with a manifest creates its journal, so that it has no identity before.
    const journal = journals.filter(
      path => basename(name) === basename(path) || `${basename(name)}.`.startsWith(`${basename(path)}.lock.`),
    );
    const directories = await Promise.all(journal.map(directoryOf));
    return journal.length > 0 && directories.includes(await directoryOf(name));
  };
  return source => ({
    ...source,
    async open(signal) {
      const {name} = source;
      if (await isOwnName(name)) throw new OwnFileError(name);
      const file = await source.open(signal).catch(async error => {
        // Results that nothing was written to yet.
        if (error.code === 'empty_file') await refuseOwn(name, await identityOf(name));
        throw error;
      });
      const {dev, ino} = file.stat ?? {};
      await refuseOwn(name, `${dev}:${ino}`).catch(async error => {
        await file.close();
        throw error;
      });
      return file;
    },
  });
}
