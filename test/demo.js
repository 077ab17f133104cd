// The main job, shown on this machine: starts the embedded service, uploads a photo and a video to it with the real
// program, prints each record as a table and as JSON, then where the gallery is, and ends. Nothing is kept, except with
// `npm run demo -- --keep`, which leaves the service running.
import {spawn, spawnSync} from 'node:child_process';
import {mkdtempSync, openSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';

const keep = process.argv.includes('--keep');
const program = fileURLToPath(new URL('../bin/media.js', import.meta.url));
const fixtures = fileURLToPath(new URL('fixtures/', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'media-demo-'));
const env = {...process.env, MEDIA_CONFIG_DIR: join(home, 'config')};
const [log, errors] = ['service.log', 'service-errors.log'].map(name => join(home, name));
const service = spawn(process.execPath, [program, 'serve', '--port', '0', '--data-dir', join(home, 'data')], {
  env,
  stdio: ['ignore', openSync(log, 'w'), openSync(errors, 'w')],
  // On its own, since Ctrl-C in this terminal later is not meant for it.
  detached: keep,
});

/** Waits for what the service prints at its start: its variables, and the link that signs a browser in. */
async function started() {
  while (service.exitCode === null && service.signalCode === null) {
    const variables = Object.fromEntries(
      [...readFileSync(log, 'utf8').matchAll(/^(\w+)=(.*)\n/gm)].map(([, name, value]) => [name, value]),
    );
    const [link] = /http:\S+\?token=\S+(?= )/.exec(readFileSync(errors, 'utf8')) ?? [];
    if (variables.MEDIA_API_KEY !== undefined && link !== undefined) return {variables, link};
    await sleep(20);
  }
  throw new Error(`The embedded service did not start.\n${readFileSync(errors, 'utf8')}`);
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

/** Stops the service and removes what it stored. */
function end() {
  service.once('exit', () => rmSync(home, {recursive: true, force: true}));
  service.kill('SIGTERM');
}

try {
  const {variables, link} = await started();
  Object.assign(env, variables);
  for (const file of ['photo.png', 'clip.mp4']) {
    media('upload', file);
    media('upload', file, '--json');
  }
  console.log(`\nThe gallery: ${link} (this link works once)`);
  if (keep) {
    console.log(`The service keeps running in ${home}. To stop it: kill ${service.pid}`);
    service.unref();
  } else {
    console.log('To open it, leave the service running: npm run demo -- --keep');
    end();
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
  end();
}
