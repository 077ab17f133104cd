import {lstat} from 'node:fs/promises';

/** What browsers, download managers and copying programs append to the name of a file that is not complete. */
const unfinishedEnding =
  /(?:\.(?:part|partial|crdownload|download|opdownload|filepart|aria2|tmp|temp|!qb|!ut|bc!|xltd|ytdl)|~)$/i;

/** Whether a name is hidden, or that of a file or directory that a program has not finished. */
export function isPassedOver(name: string): boolean {
  return /^(?:\.|~\$)/.test(name) || unfinishedEnding.test(name);
}

/** What stands beside a file while Firefox or aria2 writes it under its final name. */
const companions = ['.part', '.aria2'];

/** Whether a program has a file beside this one that says that it is still being written. */
export async function hasCompanion(path: string): Promise<boolean> {
  const there = await Promise.all(
    companions.map(ending =>
      lstat(path + ending).then(
        () => true,
        () => false,
      ),
    ),
  );
  return there.includes(true);
}
