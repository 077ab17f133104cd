import {realpath} from 'node:fs/promises';
import {relative, sep} from 'node:path';
import {MediaError} from '../../errors.ts';
import {failed} from '../../lib/files/failed.ts';
import {makeDirectory} from '../../lib/files/make-directory.ts';
import {namedStat} from '../../lib/files/named-stat.ts';
import {typedPath} from '../../lib/files/typed-path.ts';

/** A directory to watch: as it was typed, and its absolute path. */
export interface WatchedPlace {
  shown: string;
  path: string;
}

/** Checks that each is a directory; rejects with the first that is not. */
export async function watchedPlaces(typed: readonly string[], cwd: string): Promise<WatchedPlace[]> {
  const places: WatchedPlace[] = [];
  for (const name of typed) {
    const path = withoutSlash(typedPath(cwd, name));
    if (!(await namedStat(name, path)).isDirectory())
      throw new MediaError('usage', `${name} is not a directory.`, {
        hint: 'Name directories to watch; files are uploaded by: media upload',
      });
    places.push({shown: withoutSlash(name), path});
  }
  return places;
}

/** Creates the directory that files are moved to; resolves to its real path. A watched directory is refused. */
export async function targetPlace(
  typed: string,
  cwd: string,
  watched: readonly WatchedPlace[],
): Promise<string> {
  const path = typedPath(cwd, typed);
  await makeDirectory(path).catch(failed('local_failure', `${typed} could not be created`));
  const real = await realpath(path);
  for (const {shown, path: other} of watched) {
    const inside = relative(real, await realpath(other));
    if (inside === '' || !(inside === '..' || inside.startsWith(`..${sep}`)))
      throw new MediaError('usage', `--move-to ${typed} contains the watched directory ${shown}.`, {
        hint: 'Choose a directory beside it, or one inside it, which is then not watched.',
      });
  }
  return real;
}

function withoutSlash(path: string): string {
  return path.replace(/(?<=.)[/\\]+$/, '');
}
