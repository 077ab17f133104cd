import {OwnFileError} from '../../errors.ts';
import type {Host} from '../../host.ts';
import {inodeOf} from '../../lib/files/file-system.ts';
import {typedPath} from '../../lib/files/typed-path.ts';
import type {Source} from '../../sources/open/source.ts';
import type {MemoryFlags} from './flags.ts';

/** Makes sources refuse to open the journal and the file that standard output goes to, whatever their names. */
export function withoutOwnFiles({journal}: MemoryFlags, host: Host): (source: Source) => Source {
  const output = host.fileOf('stdout');
  let ofJournal: string | undefined;
  const identityOf = (path: string) => inodeOf(typedPath(host.cwd(), path), 'file');
  const refuseOwn = async (name: string, file: string | undefined) => {
    if (journal !== undefined) ofJournal ??= await identityOf(journal);
    if (file !== undefined && [output, ofJournal].includes(file)) throw new OwnFileError(name);
  };
  return source => ({
    ...source,
    async open(signal) {
      const {name} = source;
      const opened = await source.open(signal).catch(async error => {
        // Results that nothing was written to yet.
        if (error.code === 'empty_file') await refuseOwn(name, await identityOf(name));
        throw error;
      });
      const {dev, ino} = opened.stat ?? {};
      await refuseOwn(name, `${dev}:${ino}`).catch(async error => {
        await opened.close();
        throw error;
      });
      return opened;
    },
  });
}
