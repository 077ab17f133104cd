import type {Stats} from 'node:fs';
import {emptyFileError, MediaError, systemError, tooManyOpen} from '../../../errors.ts';
import {command, fact, type Hint, hint, option, phrase} from '../../../hint.ts';
import type {StopSignal} from '../../../host.ts';
import type {FileSystem} from '../../../lib/files/file-system.ts';
import {type FilePath, pathOfFileUrl, resolveUserPath} from '../../../lib/files/typed-path.ts';
import {shellQuoted, shellWord} from '../../../lib/shell.ts';
import {unlessStopped} from '../../../lib/stop.ts';
import {isMissing, isOutOfDescriptors, systemCode, undefinedIfThrows} from '../../../lib/system-code.ts';
import type {Disk} from './disk.ts';
import type {DiskFile} from './disk-file.ts';
import {OpenFile} from './open-file.ts';
import type {OpenSource, Source} from './source.ts';

/** Makes sources of files by their names as typed in a directory. They share what is learnt about the disk. */
export function filesIn(cwd: string, disk: Disk): (name: string) => Source {
  return name => sourceAt(disk, name, resolveUserPath(cwd, name));
}

/** The file at a path, not touched before it is opened. `isRegular`: whether it was just seen to be a regular file. */
export function sourceAt(disk: Disk, name: string, path: FilePath, isRegular = false, admit?: Admit): Source {
  const measure = () => disk.size(path);
  return {name, measure, open: signal => openFile(disk, {name, path, isRegular, admit}, signal)};
}

/** The file at a checked real path; refuses a symbolic link, and another file than the one that was checked. */
export function checkedSourceAt(disk: Disk, name: string, path: string): Source {
  let first: string | undefined;
  return sourceAt(disk, name, path, false, async file => {
    const inode = `${file.opened.dev}:${file.opened.ino}`;
    const isThere = (await file.realPath()) === path;
    if (isThere) first ??= inode;
    if (isThere && first === inode) return;
    const sentence = phrase`${fact('subject', name)} is no longer the file that was checked.`;
    throw new MediaError('source_changed', sentence, {
      hint: 'It was not sent. Try again when no program replaces it.',
    });
  });
}

/** Rejects if the open file is not to be read. */
type Admit = (file: DiskFile) => Promise<void>;

interface FileToOpen {
  name: string;
  path: FilePath;
  isRegular: boolean;
  admit: Admit | undefined;
}

/** Opens a regular file. Opening a FIFO has side effects, so its kind is checked before, and again once it is open. */
async function openFile(disk: Disk, toOpen: FileToOpen, signal: StopSignal<Error>): Promise<OpenSource> {
  const {name, path, isRegular, admit} = toOpen;
  let file: DiskFile;
  try {
    if (!isRegular) {
      const stats = await unlessStopped(disk.files.stat(path), signal);
      if (!stats.isFile()) throw notAFileError(name, stats);
    }
    file = await disk.open(path, signal);
  } catch (error) {
    throw await describeOpenError(disk.files, toOpen, error);
  }
  try {
    if (!file.opened.isFile()) throw notAFileError(name, file.opened);
    await admit?.(file);
    if (file.opened.size === 0n) throw emptyFileError(name, 'is');
    return new OpenFile(name, file, path);
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The error for what is no regular file: a directory, a FIFO, a socket or a device. */
function notAFileError(name: string, stats: Pick<Stats, 'isDirectory' | 'isFIFO' | 'isSocket'>): MediaError {
  if (stats.isDirectory())
    return new MediaError('not_a_file', phrase`${fact('subject', name)} is a directory, not a file.`, {
      hint: hint`To upload what is in it: ${command('uploadDirectory', name)}`,
    });
  const kind = stats.isFIFO() ? 'a FIFO' : stats.isSocket() ? 'a socket' : 'a device';
  return new MediaError('not_a_file', phrase`${fact('subject', name)} is ${kind}, not a regular file.`, {
    hint: hint`${command('uploadStream', stats.isFIFO() ? 'FIFO' : 'DEVICE')}`,
  });
}

/** The error for a file that the system did not open. `remedy`: what to do if its name is not UTF-8. */
async function describeOpenError(
  files: FileSystem,
  {name, path}: Pick<FileToOpen, 'name' | 'path'>,
  cause: unknown,
  remedy: Hint = hint`upload its directory with ${option('recursive')}${hint`, or name it in a list (${option('filesFrom')})`}`,
): Promise<MediaError> {
  if (cause instanceof MediaError) return cause;
  if (isMissing(cause)) {
    const link = await files.lstat(path).catch(() => undefined);
    const error = webUrlError(name);
    if (error !== undefined) return error;
    const what = link?.isSymbolicLink()
      ? phrase`${fact('subject', name)} links to a file that does not exist.`
      : phrase`${fact('subject', name, 'does')} not exist.`;
    return new MediaError('file_missing', what, {cause, hint: missingHint(name, path, remedy)});
  }
  if (isOutOfDescriptors(cause))
    return tooManyOpen(phrase`${fact('subject', name, 'could')} not be opened`, cause);
  const code = systemCode(cause);
  if (code === 'ELOOP') {
    const message = phrase`${fact('subject', name)} is a symbolic link that leads to itself.`;
    return new MediaError('file_unreadable', message, {cause});
  }
  if (code !== 'ENAMETOOLONG')
    return systemError('file_unreadable', phrase`${fact('subject', name, 'could')} not be read`, cause);
  const sentence = `${name.slice(0, 60)}... is too long to be the name of a file.`;
  return new MediaError('file_missing', sentence, {cause});
}

/** The stats of what a name leads to; rejects with the error of an upload, with hints that fit any command. */
export async function namedStat(name: string, path: string, files: FileSystem): Promise<Stats> {
  return files.stat(path).catch(async cause => {
    throw await describeOpenError(files, {name, path}, cause, 'rename it');
  });
}

/** The error for an input that is a URL of the web, if it is one. */
export function webUrlError(name: string): MediaError | undefined {
  if (!/^https?:\/\//i.test(name)) return undefined;
  return new MediaError('file_missing', phrase`${fact('subject', name)} is a URL, not a file.`, {
    hint: `Download it first: curl -LO ${shellWord(name)}`,
  });
}

/** What to do about a file that does not exist; undefined if its name gives no clue. */
function missingHint(name: string, path: FilePath, remedy: Hint): Hint | undefined {
  // In an argument, Node replaces what is not UTF-8 by U+FFFD.
  if (typeof path === 'string' && name.includes('\ufffd')) return hint`If its name is not UTF-8, ${remedy}.`;
  // Dragging a file onto a terminal may type a URL.
  const target = undefinedIfThrows(() => pathOfFileUrl(name)) ?? name;
  return target === name ? undefined : `Use the path of the file instead of its URL: ${shellQuoted(target)}`;
}
