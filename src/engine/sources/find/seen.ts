import {CompactMap} from '../../../lib/compact-map.ts';
import type {FileSystem} from '../../../lib/files/file-system.ts';
import type {ByteName} from '../../../lib/files/typed-path.ts';
import {isNamedMedia} from '../../../media/type/decide.ts';
import type {Source} from '../open/source.ts';
import {normalizeName, resolveName} from './walk/names.ts';
import {realPath} from './walk/walk.ts';

/** A file, by the name that led to it. */
export interface NamedFile {
  name: ByteName;
  /** Whether the name is known not to be a link. */
  isPlain: boolean;
  /** Set if an argument or a list names it. */
  isNamed?: true;
  /** For a link: the name under which the same walk finds the file itself. */
  target?: string;
}

/** Tells whether a file is a repeat: seen by its real path, or a link to a file of the same walk. Hard links differ. */
export function seenIn(cwd: string, fileSystem: FileSystem) {
  /** For each file, by its path, whether it is certainly sent (1); otherwise its bytes decide (0). */
  const files = new CompactMap();
  const hiddenFiles = new CompactMap();
  /** The last directory, since a walk asks about the files of a directory in sequence. */
  let directory: {name: ByteName; real: ByteName} | undefined;
  /** The real path of a file, or its absolute path if that cannot be found out. */
  const realPathOf = async ({name, isPlain}: NamedFile): Promise<ByteName> => {
    const absolute = resolveName(cwd, name);
    if (!isPlain) return realPathOrName(absolute, fileSystem);
    // For a name that is not a link, only the directory has to be resolved.
    const slash = absolute.lastIndexOf('/');
    const parent = absolute.slice(0, slash);
    if (directory?.name !== parent)
      directory = {name: parent, real: await realPathOrName(parent || '/', fileSystem)};
    return `${directory.real === '/' ? '' : directory.real}${absolute.slice(slash)}`;
  };
  return async (file: NamedFile, source: Source): Promise<boolean> => {
    if (source.found?.isHidden) return hiddenFiles.set(await realPathOf(file), 1) !== undefined;
    const isSent = source.found === undefined || (await source.found.isNamedMedia());
    if (file.target !== undefined) {
      const isTargetSent = source.found === undefined || (await isNamedMedia(file.target));
      return isTargetSent || !isSent || (await isMedia(source));
    }
    const path = await realPathOf(file);
    const first = files.get(path);
    if (first === 1 || (first === 0 && (!isSent || (await isMedia(source))))) return true;
    files.set(path, isSent ? 1 : 0);
    return false;
  };
}

/** Whether the bytes of a source are an image or a video; false if unreadable: then no other name is a repeat. */
async function isMedia(source: Source): Promise<boolean> {
  const {sniff} = await import('../../../media/type/sniff/sniff.ts');
  try {
    const file = await source.open(new AbortController().signal);
    return (await sniff(file).finally(() => file.close(true)))?.isMedia === true;
  } catch {
    return false;
  }
}

/** The path without links; a file that does not exist or cannot be reached is identified by its name. */
async function realPathOrName(absolute: ByteName, files: FileSystem): Promise<ByteName> {
  return realPath(absolute, files).catch(() => normalizeName(absolute));
}
