import {basename, join, sep} from 'node:path';
import type {FSWatcher} from 'chokidar';
import {namedStat} from '../../../engine/sources/open/file-source.ts';
import {MediaError, systemError, throwAs} from '../../../errors.ts';
import type {Clock, Host} from '../../../host.ts';
import {makeDirectory} from '../../../lib/files/durable.ts';
import {type FileSystem, inodeOf} from '../../../lib/files/file-system.ts';
import {isWithin, resolveUserPath} from '../../../lib/files/typed-path.ts';
import {Stop} from '../../../lib/stop.ts';
import {isDenied, isOutOfDescriptors, systemCode} from '../../../lib/system-code.ts';
import {isPassedOver} from './settler.ts';

export interface DirectoryWatchOptions {
  clock: Clock;
  files: FileSystem;
  /** Whether to look at every file each second, for file systems without events. */
  poll: boolean;
  /** A directory that is not watched, though it may be inside. */
  except: string | undefined;
  onFile: (path: string) => void;
  onFileGone: (path: string) => void;
  /** Called when the directory begins to be watched, and when it has disappeared. */
  onState: (state: 'watching' | 'gone') => void;
  onError: (error: unknown) => void;
}

/** How often it is checked whether the directory is still the same one, in milliseconds. */
const checkMs = 2_000;
/** How often everything is looked at again: the system drops events when there are too many at once. */
const againMs = 10 * 60_000;
const pollMs = 1_000;
/** When a new directory is looked at again, in milliseconds after its appearance. */
const lookAgainMs = [500, 10_000];

/** Watches a directory, also when it disappears and returns, as a file system that is unmounted does. */
export class DirectoryWatch {
  readonly #path: string;
  readonly #options: DirectoryWatchOptions;
  #watcher: FSWatcher | undefined;
  /** Device and inode of the directory that is watched; undefined while there is none. */
  #identity: string | undefined;
  /** Whether the system has stopped watching it; another one of its name may get the same device and inode. */
  #isLost = false;
  /** The directories and files that were reported because they cannot be read. */
  readonly #reportedPaths = new Set<string>();
  #startMs = 0;
  /** Ends the pause before the next check. */
  #pause = new Stop();
  #isClosed = false;

  /** `path`: the absolute path of the directory, which may be a link. */
  constructor(path: string, options: DirectoryWatchOptions) {
    this.#path = path;
    this.#options = options;
  }

  /** Watches until `close`; everything that is there counts as new. */
  async run(): Promise<void> {
    const {clock, onError} = this.#options;
    while (!this.#isClosed) {
      this.#pause = new Stop();
      await this.#follow().catch(onError);
      await clock.sleep(checkMs, this.#pause).catch(() => {});
    }
  }

  /** Ends run(); resolves when nothing is watched any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#pause.abort(undefined);
    await this.#watcher?.close();
  }

  /** Watches the directory that is there now: if it is another one, or if 10 minutes have passed. */
  async #follow(): Promise<void> {
    const {clock, files, onState} = this.#options;
    const identity = await inodeOf(this.#path, 'directory', files);
    const isOther = this.#isLost || identity !== this.#identity;
    const isDue = identity !== undefined && clock.monotonic() - this.#startMs >= againMs;
    this.#isLost = false;
    if (!isOther && !isDue) return;
    await this.#watcher?.close();
    this.#identity = identity;
    if (identity === undefined) onState('gone');
    else await this.#begin(isOther);
  }

  /** Starts chokidar; `isOther` is false if the same directory is only watched afresh, which is not reported. */
  async #begin(isOther: boolean): Promise<void> {
    const {clock, files, poll, except, onFile, onFileGone, onState, onError} = this.#options;
    const {watch} = await import('chokidar');
    // With followSymlinks: false, chokidar does not even follow the directory itself if that is a link.
    const root = await files.realpath(this.#path);
    if (this.#isClosed) return;
    this.#startMs = clock.monotonic();
    // chokidar asks with slashes in place of backslashes.
    const isSame = (one: string, other = '') => one.replaceAll('\\', '/') === other.replaceAll('\\', '/');
    const isIgnored = (path: string) =>
      !isSame(path, root) && (isSame(path, except) || isPassedOver(basename(path)));
    const watcher = watch(root, {
      ignored: isIgnored,
      followSymlinks: false,
      atomic: false,
      ignorePermissionErrors: true,
      usePolling: poll,
      interval: pollMs,
      binaryInterval: pollMs,
    });
    this.#watcher = watcher;
    /** The same path below the directory as it was named, which may be a link. */
    const named = (path: string) => (root === this.#path ? path : this.#path + path.slice(root.length));
    /** chokidar lists them only together with their files, which takes milliseconds where there are many. */
    const directories = new Set<string>();
    // chokidar reads a directory before it watches it, so a file that comes in between is looked for once more.
    const readAgain = async (directory: string) => {
      /** Reports, once, a path that chokidar leaves out silently. */
      const report = (path: string, error: Error) => {
        if (!this.#reportedPaths.has(path)) onError(error);
        this.#reportedPaths.add(path);
      };
      const names = await files.readdir(directory, {withFileTypes: true}).catch(error => {
        if (isDenied(error)) report(directory, error);
        return [];
      });
      for (const entry of names) {
        const path = join(directory, entry.name);
        if (isIgnored(path)) continue;
        if (entry.name.includes('\ufffd') && (await files.lstat(path).catch(() => undefined)) === undefined)
          report(path, Object.assign(new Error('its name is not UTF-8'), {path: named(path)}));
        if (watcher.closed) return;
        if (entry.isFile()) onFile(named(path));
        else if (entry.isDirectory() && !directories.has(path)) watcher.add(path);
      }
    };
    let isReady = false;
    watcher.on('ready', async () => {
      isReady = true;
      await Promise.all([...directories].map(readAgain));
      if (isOther && !watcher.closed) onState('watching');
    });
    watcher.on('addDir', path => {
      directories.add(path);
      if (isReady) for (const ms of lookAgainMs) clock.after(ms, () => void readAgain(path));
    });
    watcher.on('add', path => onFile(named(path)));
    watcher.on('change', path => onFile(named(path)));
    watcher.on('unlink', path => onFileGone(named(path)));
    /** The directory itself is gone, or no longer watched: run() looks at once whether there is another one. */
    const onLost = () => {
      this.#isLost = true;
      this.#pause.abort(undefined);
    };
    watcher.on('unlinkDir', path => {
      directories.delete(path);
      if (path === root) onLost();
    });
    watcher.on('raw', (event, name, details) => {
      // The name of the directory itself: it was unmounted, or it contains a file of this name, which does no harm.
      const {watchedPath} = details as {watchedPath?: string};
      if (event === 'rename' && watchedPath === root && name === basename(root)) onLost();
    });
    watcher.on('error', onError);
  }
}

/** The error for one of the watcher: fatal if the system allows no more watches, else only a part is not watched. */
export function watchTrouble(cause: unknown, directory: string): {isFatal: boolean; error: MediaError} {
  const code = systemCode(cause);
  if (code === 'ENOSPC' || isOutOfDescriptors(cause)) {
    const sentence = `${directory} cannot be watched: the system allows no more watches (${code}).`;
    const hint =
      'Use --poll, or raise the limits (fs.inotify.max_user_watches and max_user_instances on Linux).';
    return {isFatal: true, error: new MediaError('local_failure', sentence, {hint, cause})};
  }
  const {path = `A part of ${directory}`} = cause as NodeJS.ErrnoException;
  return {isFatal: false, error: systemError('local_failure', `${path} cannot be watched`, cause)};
}

/** A directory to watch: as it was typed, and its absolute path. */
export interface WatchedPlace {
  displayPath: string;
  path: string;
}

/** Checks that each is a directory; rejects with the first that is not. */
export async function watchedPlaces(names: readonly string[], {cwd, files}: Host): Promise<WatchedPlace[]> {
  const places: WatchedPlace[] = [];
  for (const name of names) {
    const path = withoutSlash(resolveUserPath(cwd(), name));
    if (!(await namedStat(name, path, files)).isDirectory())
      throw new MediaError('usage', `${name} is not a directory.`, {
        hint: 'Name directories to watch. To upload files: media upload',
      });
    const real = await files.realpath(path).catch(throwAs('file_missing', `${name} could not be found`));
    // chokidar takes backslashes for slashes, so it would watch another directory.
    if (sep === '/' && real.includes('\\'))
      throw new MediaError('usage', `${name} cannot be watched: its path has a backslash.`, {
        hint: 'Rename the directory, or watch the one that contains it.',
      });
    places.push({displayPath: withoutSlash(name), path});
  }
  return places;
}

/** Creates the directory that files are moved to; resolves to its real path. A watched directory is refused. */
export async function targetPlace(option: string, {cwd, files}: Host, places: readonly WatchedPlace[]) {
  const path = resolveUserPath(cwd(), option);
  await makeDirectory(path, files).catch(throwAs('local_failure', `${option} could not be created`));
  const real = await files.realpath(path);
  for (const {displayPath, path: other} of places) {
    const directory = await files.realpath(other);
    if (isWithin(directory, real))
      throw new MediaError('usage', `--move-to ${option} and the watched directory ${displayPath} overlap.`, {
        hint: 'Choose a directory beside it, or one inside it, which is then not watched.',
      });
  }
  return real;
}

/** A path without slashes at its end; a root keeps its one. */
function withoutSlash(path: string): string {
  return path.replace(/(?<=.)[/\\]+$/, '');
}
