import {spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, writeFileSync} from 'node:fs';
import {homedir} from 'node:os';
import {join} from 'node:path';

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'media-cli', 'node');

/** The path of the newest Node of a major version at the time of the first run: an npm package, kept in the user's cache directory. */
export function nodeOfMajor(major) {
  const name = `node-${process.platform}-${process.arch}`;
  const home = join(cache, major);
  const node = join(home, 'node_modules', name, 'bin/node');
  if (existsSync(node)) return node;
  console.error(`Fetching Node ${major}...`);
  mkdirSync(home, {recursive: true});
  writeFileSync(join(home, 'package.json'), '{"private": true}\n');
  const install = ['install', '--prefix', home, '--no-audit', '--no-fund', `${name}@${major}`];
  const {status} = spawnSync(process.execPath, [process.env.npm_execpath, ...install], {
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw new Error(`${name}@${major} could not be installed: status ${status}.`);
  return node;
}
