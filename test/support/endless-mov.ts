import {readdir, readFile, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fixture, type Sandbox} from './media.ts';

/** A MOV of 16 kB with four changed bytes: its reader counts to 2^32, and takes more and more memory. */
export async function endlessMov(directory: string): Promise<string> {
  const path = join(directory, 'endless.mov');
  await writeFile(path, endless(await readFile(fixture('clip.mov'))));
  return path;
}

/** The fixture `clip.mov` with those bytes changed. */
export function endless<Bytes extends Buffer>(clip: Bytes): Bytes {
  clip.writeUInt32BE(0xffff_fff0, clip.indexOf('ctts') + 12);
  return clip;
}

/** Whether the embedded service has received all of it and is about to read it. */
export async function isAboutToBeRead(box: Sandbox): Promise<boolean> {
  const directory = join(box.directory, 'data/media/embedded/temporary');
  const names = await readdir(directory).catch(() => []);
  const stats = await Promise.all(names.map(name => stat(join(directory, name)).catch(() => undefined)));
  return stats.some(found => found?.size === 16_519);
}
