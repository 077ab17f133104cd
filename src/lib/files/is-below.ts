import {isAbsolute, relative, sep} from 'node:path';

/** Whether a real path leads below a directory, itself a real path. */
export function isBelow(path: string, directory: string): boolean {
  const rest = relative(directory, path);
  return rest !== '' && rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest);
}
