// Stores the compiled code of the frequent commands in dist/compiled, for the Node that runs this file or for the one whose
// path it is given: the commands are run, and each stores its own (bin/load.js).
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [node = process.execPath] = process.argv.slice(2);
const home = mkdtempSync(join(tmpdir(), 'media-compiled-'));
const env = {
  ...{PATH: process.env.PATH, HOME: home, XDG_DATA_HOME: home, LOCALAPPDATA: home},
  MEDIA_CONFIG_DIR: join(home, 'config'),
};

/** After 5 s, a run stores nothing; at its build, also a run on a busy machine has taken 0 s. */
const inTime = '--import=data:text/javascript,process.uptime=()=>0';

function start(program, parameters, settings) {
  return spawn(node, [inTime, join(root, 'bin', program), ...parameters], {
    ...{cwd: join(root, 'test/fixtures'), env: {...env, ...settings}, stdio: ['ignore', 'pipe', 'inherit']},
  });
}

async function run(program, parameters, settings) {
  const child = start(program, parameters, settings);
  child.stdout.resume();
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`media ${parameters.join(' ')} ended with status ${status}.`);
}

try {
  await ofService();
  await run('media.js', ['upload', 'photo.png', 'clip.mp4', '--base-url', 'embedded', '--json', '--quiet']);
  await run('media.js', ['help', 'upload']);
} catch ({message}) {
  console.error(`Compiled code was not stored: ${message}`);
  process.exitCode = 1;
} finally {
  rmSync(home, {recursive: true, force: true});
}

/** The commands that talk to a service, and `serve`. */
async function ofService() {
  const service = start('media.js', ['serve', '--port', '0', '--ephemeral', '--quiet']);
  const ended = once(service, 'close');
  try {
    const settings = {};
    for await (const line of createInterface({input: service.stdout})) {
      const [name, value] = line.split(/=(.*)/s);
      settings[name] = value;
      if (name === 'MEDIA_API_KEY') break;
    }
    await run('media.js', ['upload', 'photo.png', '--quiet'], settings);
    await run('media-url.js', ['photo.png', '--quiet'], settings);
    await run('media.js', ['whoami'], settings);
  } finally {
    service.kill();
    await ended;
  }
}
