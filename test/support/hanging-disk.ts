import {spawn, spawnSync} from 'node:child_process';
import {accessSync, constants} from 'node:fs';
import {basename} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterTest} from './after-test.ts';
import {eventually} from './eventually.ts';
import {whatIsMissing} from './installed.ts';

const program = fileURLToPath(new URL('hanging-disk.py', import.meta.url));
/** Debian's Python, which finds the modules of Debian's packages. */
const python = '/usr/bin/python3';

/** Why no hanging disk can be mounted here; undefined if one can. */
export function whatFuseMisses(): string | undefined {
  const missing = whatIsMissing(['umount']);
  if (missing !== undefined) return missing;
  const hasModule = ['fusepy', 'fuse'].some(
    name => spawnSync(python, ['-c', `import ${name}; ${name}.FUSE`]).status === 0,
  );
  if (!hasModule) return 'not installed: fusepy (Debian and Ubuntu: apt-get install python3-fusepy)';
  try {
    accessSync('/dev/fuse', constants.R_OK | constants.W_OK);
  } catch {
    return 'a file system of its own may not be mounted here';
  }
  return undefined;
}

/** Mounts a disk with one file that hangs in a call; `end` lets waiting calls continue, with an error. */
export async function mountHanging(directory: string, file: string, call: string, count: number) {
  const daemon = spawn(python, [program, directory, file, call, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let told = '';
  daemon.stdout.on('data', chunk => {
    told += chunk;
  });
  const end = () => {
    daemon.kill('SIGKILL');
    spawnSync('umount', ['--lazy', directory]);
  };
  afterTest(end);
  await eventually(() => told.includes('ready'));
  return {name: basename(file), hangs: () => told.includes('hangs'), end};
}
