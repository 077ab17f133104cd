import type {FileStat} from '../../../engine/sources/open/source.ts';
import type {Clock, StopSignal} from '../../../host.ts';
import type {FileSystem} from '../../../lib/files/file-system.ts';

/** A regular file as it was at one moment. */
export interface WatchedState {
  /** Differs after every write. */
  key: string;
  /** Bytes. */
  size: number;
}

export interface SettleOptions {
  clock: Clock;
  /** How long a file must stay as it is, in milliseconds. */
  settleMs: number;
  /** The state of a file; undefined if there is none. */
  look: (path: string) => Promise<WatchedState | undefined>;
  /** Whether another sign says that a file is still being written. */
  isUnfinished: (path: string) => Promise<boolean>;
}

/**
 * The state of a file once size and times have been the same for `settleMs`; undefined if it is empty or gone, or after
 * `stop`. chokidar's awaitWriteFinish compares sizes only, but programs reserve space before they write.
 */
export async function settledState(
  path: string,
  {clock, settleMs, look, isUnfinished}: SettleOptions,
  stop: StopSignal,
): Promise<WatchedState | undefined> {
  let before: string | undefined;
  while (!stop.aborted) {
    const state = await look(path);
    if (state === undefined || (state.key === before && !(await isUnfinished(path))))
      return state?.size === 0 ? undefined : state;
    before = state.key;
    // Ends at once when nothing is waited for any more.
    await clock.sleep(settleMs, stop).catch(() => {});
  }
  return undefined;
}

/** The state of a file. Links are passed over, since what they lead to would stay when they are moved or deleted. */
export async function watchedState(path: string, files: FileSystem): Promise<WatchedState | undefined> {
  const stats = await files.lstat(path, {bigint: true}).catch(() => undefined);
  if (!stats?.isFile()) return undefined;
  const size = Number(stats.size);
  return {key: stateKey(size, stats), size};
}

/** A text that is the same for the same state of a file. A program may set the mtime back, but not the ctime. */
export function stateKey(size: number, {mtimeNs, ctimeNs, ino}: Omit<FileStat, 'dev'>): string {
  return `${size} ${mtimeNs} ${ctimeNs} ${ino}`;
}

/** What browsers, download managers and copying programs append to the name of a file that is not complete. */
const unfinishedEnding =
  /(?:\.(?:part|partial|crdownload|download|opdownload|filepart|aria2|tmp|temp|!qb|!ut|bc!|xltd|ytdl)|~)$/i;

/** Whether a name is hidden, or that of a file or directory that a program has not finished. */
export function isPassedOver(name: string): boolean {
  return /^(?:\.|~\$)/.test(name) || unfinishedEnding.test(name);
}

/** Whether aria2 keeps its control file beside this file: then it still writes the file under its final name. */
export async function hasCompanion(path: string, files: FileSystem): Promise<boolean> {
  return (await files.lstat(`${path}.aria2`).catch(() => undefined)) !== undefined;
}
