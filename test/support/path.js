import {existsSync} from 'node:fs';
import {basename, delimiter, dirname, join} from 'node:path';

/** A search path with the `sbin` next to each `bin`, since not everybody's PATH includes daemons. */
export function withDaemons(searchPath = '') {
  const directories = searchPath.split(delimiter);
  const beside = directories
    .filter(directory => basename(directory) === 'bin')
    .map(directory => join(dirname(directory), 'sbin'));
  const more = beside.filter(directory => !directories.includes(directory) && existsSync(directory));
  return [...directories, ...new Set(more)].join(delimiter);
}
