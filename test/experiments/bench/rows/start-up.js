import {spawnSync} from 'node:child_process';
import {cpSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {environment, media, program} from '../commands.js';
import {picturesIn} from '../files.js';
import {inRounds, timedOnce} from '../measure.js';
import {nodeVersions} from '../node-versions.js';

const compiled = fileURLToPath(new URL('../../../../dist/compiled', import.meta.url));

export async function startUp() {
  const commands = [['--version'], ['--help'], ['completion', 'bash']];
  const known = commands.filter(command => spawnSync(process.execPath, [program, ...command]).status === 0);
  const {node, ...ours} = await inRounds(21, () => {
    const [node, ...times] = timedOnce([
      [process.execPath, '-e', '0'],
      ...known.map(command => media(...command)),
    ]);
    return {node, ...Object.fromEntries(times.map((time, index) => [known[index].join(' '), time]))};
  });
  return Object.entries(ours).map(([command, times]) => ({
    what: `media ${command}`,
    unit: 'ms',
    ours: times,
    against: 'node -e 0',
    peer: node,
    atMost: 1.25,
  }));
}

export async function smallUpload(directory, sink) {
  const picture = join(picturesIn(join(directory, 'one'), 1, 3000), '0000', '0000.gif');
  const bounds = {20: 1.7, 26: 1.7};
  const results = [];
  for (const [major, node] of nodeVersions(directory)) {
    const {ours, first, peer} = await inRounds(21, () => {
      // The first run keeps what it compiled, and the second takes it.
      rmSync(compiled, {recursive: true, force: true});
      const upload = [node, program, 'upload', picture, '--json'];
      const commands = [[node, '-e', '0'], upload, upload];
      const [peer, first, ours] = timedOnce(commands, {env: environment(sink.url, directory)});
      return {ours, first, peer};
    });
    const against = `node -e 0, Node ${major}`;
    results.push({
      what: `media upload 3kB --json, Node ${major}`,
      unit: 'ms',
      ours,
      against,
      peer,
      atMost: bounds[major] ?? 3,
    });
    results.push({what: `the first one, Node ${major}`, unit: 'ms', ours: first, against, peer});
  }
  return results;
}

/** What a user's commands take where root installed the package, and no compiled code is stored for this Node. */
export async function packageOfRoot(directory, sink) {
  if (process.getuid?.() !== 0) return [];
  const root = join(directory, 'installed');
  const source = fileURLToPath(new URL('../../../..', import.meta.url));
  for (const part of ['bin', 'dist', 'package.json'])
    cpSync(join(source, part), join(root, part), {
      recursive: true,
      filter: path => !path.endsWith('compiled'),
    });
  // Root is the user here, so the package is given to another one.
  spawnSync('chown', ['--recursive', '65534:65534', root]);
  const picture = join(picturesIn(join(directory, 'one'), 1, 3000), '0000', '0000.gif');
  const env = environment(sink.url, directory);
  const commands = {
    '--version': ['--version'],
    'upload 3kB --json': ['upload', picture, '--json'],
    'whoami --json': ['whoami', '--json'],
  };
  const results = [];
  for (const [major, node] of nodeVersions(directory))
    for (const [name, parameters] of Object.entries(commands)) {
      const {ours, peer} = await inRounds(15, () => {
        const command = [node, join(root, 'bin', 'media.js'), ...parameters];
        const [peer, ours] = timedOnce([[node, '-e', '0'], command], {env});
        return {ours, peer};
      });
      const row = {unit: 'ms', against: `node -e 0, Node ${major}`, peer};
      const atMost = name === '--version' ? 1.25 : 4;
      results.push({...row, what: `media ${name}, installed by root`, ours, atMost});
    }
  return results;
}
