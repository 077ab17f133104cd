// The main job, shown on this machine: starts the embedded service, uploads a photo and a video to it with the real
// program, prints each record as a table and as JSON, and ends. Nothing is kept.
import {spawn, spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';

const program = fileURLToPath(new URL('../bin/media.js', import.meta.url));
const fixtures = fileURLToPath(new URL('fixtures/', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'media-demo-'));
const env = {...process.env, MEDIA_CONFIG_DIR: join(home, 'config')};
const service = spawn(process.execPath, [program, 'serve', '--port', '0', '--ephemeral', '--quiet'], {
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
});

/** Reads NAME=value lines until both are known. */
async function addressOf(child) {
  const values = {};
  for await (const line of createInterface({input: child.stdout})) {
    const [name, value] = line.split(/=(.*)/s);
    values[name] = value;
    if (values.MEDIA_API_KEY !== undefined) return values;
  }
  throw new Error('The embedded service did not start.');
}

function media(...parameters) {
  console.log(`\n$ media ${parameters.join(' ')}`);
  const {status} = spawnSync(process.execPath, [program, ...parameters], {
    cwd: fixtures,
    env,
    stdio: ['ignore', 1, 2],
  });
  if (status !== 0) throw new Error(`media ${parameters[0]} ended with status ${status}.`);
}

try {
  Object.assign(env, await addressOf(service));
  for (const file of ['photo.png', 'clip.mp4']) {
    media('upload', file);
    media('upload', file, '--json');
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  service.kill('SIGTERM');
  service.once('exit', () => rmSync(home, {recursive: true, force: true}));
}
