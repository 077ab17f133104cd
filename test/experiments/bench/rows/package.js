import {spawnSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {inRounds, timed} from '../measure.js';
import {within} from '../within.js';

export async function packageSize(directory) {
  const root = fileURLToPath(new URL('../../../../', import.meta.url));
  const packed = spawnSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', directory], {
    cwd: root,
    encoding: 'utf8',
  });
  const [{filename, unpackedSize, files}] = JSON.parse(packed.stdout);
  const mebibytes = unpackedSize / 2 ** 20;
  const results = [within(`package, ${files.length} files, unpacked`, 'MiB', [mebibytes], 3)];
  const bare = join(directory, 'empty');
  mkdirSync(bare, {recursive: true});
  writeFileSync(join(bare, 'package.json'), '{"name":"empty","version":"1.0.0"}');
  spawnSync('npm', ['pack', '--pack-destination', directory], {cwd: bare});
  const {ours, empty} = await inRounds(3, () => ({
    ours: installTime(directory, join(directory, filename)),
    empty: installTime(directory, join(directory, 'empty-1.0.0.tgz')),
  }));
  results.push({what: 'install', unit: 's', ours, against: 'of an empty package', peer: empty});
  return results;
}

/** How long installing takes in an empty directory with an empty cache, in seconds. */
function installTime(directory, name) {
  const place = mkdtempSync(join(directory, 'install-'));
  const flags = ['--no-audit', '--no-fund', '--loglevel=error', '--cache', join(place, 'cache')];
  const {wall} = timed(['npm', 'install', '--prefix', place, ...flags, name]);
  rmSync(place, {recursive: true});
  return wall / 1000;
}
