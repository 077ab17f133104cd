import {spawnSync} from 'node:child_process';
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterTest} from '../after-test.ts';
import {whatIsMissing} from '../installed.ts';

/** A small disk for the current test, with so much space on it. */
export async function smallDisk(kibibytes: number): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'media-disk-'));
  const options = `size=${kibibytes}k,mode=0700`;
  const {status} = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'none', directory]);
  afterTest(async () => {
    // Lazily, since what a failed test has left open may still use it.
    if (status === 0) spawnSync('umount', ['-l', directory]);
    await rm(directory, {recursive: true});
  });
  if (status !== 0) throw new Error('the small disk could not be mounted');
  return directory;
}

/** Why nobody can mount a small disk here, or undefined. */
export function cannotMount(): string | undefined {
  const missing = whatIsMissing(['mount', 'umount', 'unshare']);
  if (missing !== undefined) return missing;
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'only root on Linux may mount a small disk';
  // In a namespace of its own, so that nothing is left mounted.
  const {status} = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt']);
  return status === 0 ? undefined : 'this root may not mount a small disk';
}
