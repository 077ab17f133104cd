import {lstat} from 'node:fs/promises';
import {dirname} from 'node:path';
import type {Host} from '../host.ts';
import {configPath} from './store.ts';

/** A path with its permission bits, such as 0o600. */
export interface PathMode {
  path: string;
  mode: number;
}

/** The settings file and its directory as they are; empty without a file, and on Windows, which has no such modes. */
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
    // Why a file that is there cannot be looked at is told by whoever reads it.
    return [];
  }
}

/** Whether anybody but the owner may read or change it. */
export function isOpenToOthers({mode}: PathMode): boolean {
  return (mode & 0o077) !== 0;
}
