import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {createInterface} from 'node:readline';

/**
 * Runs the frequent commands of an executable, which stores the code that V8 compiled in a cache directory of its own. Returns the
 * paths of that code by the names under which bin/load.js looks for it.
 */
export async function compiledCode(executable, scratch, fixtures) {
  const caches = join(scratch, process.platform === 'darwin' ? 'Library/Caches' : 'caches');
  mkdirSync(caches, {recursive: true, mode: 0o700});
  const env = {
    ...{PATH: process.env.PATH, HOME: scratch, LOCALAPPDATA: caches, XDG_CACHE_HOME: caches},
    ...{XDG_DATA_HOME: scratch, MEDIA_CONFIG_DIR: join(scratch, 'config')},
  };
  const media = (parameters, settings) => {
    const options = {cwd: fixtures, env: {...env, ...settings}, stdio: ['ignore', 'pipe', 'inherit']};
    return spawn(executable, parameters, options);
  };
  const run = async (parameters, settings) => {
    const child = media(parameters, settings);
    child.stdout.resume();
    const [status] = await once(child, 'close');
    if (status !== 0) throw new Error(`media ${parameters.join(' ')} ended with status ${status}.`);
  };
  const service = media(['serve', '--port', '0', '--ephemeral', '--quiet']);
  try {
    const settings = {};
    for await (const line of createInterface({input: service.stdout})) {
      const [name, value] = line.split(/=(.*)/s);
      settings[name] = value;
      if (name === 'MEDIA_API_KEY') break;
    }
    await run(['upload', 'photo.png', '--quiet'], settings);
    await run(['upload', 'photo.png', 'clip.mp4', '--base-url', 'embedded', '--json', '--quiet']);
    await run(['media-url', 'photo.png', '--quiet'], settings);
    await run(['whoami'], settings);
    await run(['help', 'upload']);
  } finally {
    service.kill();
  }
  return ofCommands(join(caches, 'media/compiled'));
}

/** The compiled code in a directory in which bin/load.js stored it: each file has the source, then the code twice. */
function ofCommands(directory) {
  const assets = {};
  for (const file of readdirSync(directory)) {
    const [, name, command] = /^(.+?\.cjs)-.*-([a-z]+)$/.exec(file);
    const bytes = readFileSync(join(directory, file));
    const {length} = readFileSync(join('dist', name));
    const path = join(directory, `../${name}-${command}`);
    writeFileSync(path, bytes.subarray(length, (bytes.length + length) / 2));
    assets[`compiled/${name}-${command}`] = path;
  }
  return assets;
}
