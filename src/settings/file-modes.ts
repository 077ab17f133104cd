import {lstat} from 'node:fs/promises';
import {dirname} from 'node:path';
import type {Host} from '../host.ts';
import {configPath} from './store.ts';

/** A path with its permission bits, such as 0o600. */
export interface PathMode {
  path: string;
  mode: number;
}

/** The modes of the settings file and its directory; empty without a file, and on Windows, which has no modes. */
export async function settingsModes(host: Host): Promise<PathMode[]> {
  if (host.platform === 'win32') return [];
  const path = configPath(host);
  try {
    const modes = [dirname(path), path].map(async place => ({
      path: place,
      mode: (await lstat(place)).mode & 0o777,
    }));
    return await Promise.all(modes);
  } catch {
    // The code that reads the file reports why it cannot be accessed.
    return [];
  }
}

/** Whether anybody but the owner can read or change it. */
export function isOpenToOthers({mode}: PathMode): boolean {
  return (mode & 0o077) !== 0;
}
