import {chmod, copyFile, mkdir, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {expect} from 'vitest';
import {embeddedService} from '../../support/embedded.ts';
import {ended} from '../../support/ended.ts';
import {exampleService} from '../../support/example-service.ts';
import {whatIsMissing} from '../../support/installed.ts';
import {fixture, program, type Sandbox, sandbox} from '../../support/media.ts';
import {slowTest} from '../../support/patience.ts';

/** The host names of the services in examples. */
const services = ['api.example.com', 'staging.example.com'];

/** What the programs of a desktop do: print a picture that was copied or taken, and take a text. */
const desktop = {
  'wl-paste': `[ "$1" = -l ] && echo image/webp || cat "${fixture('photo.webp')}"`,
  'wl-copy': 'cat > /dev/null',
  flameshot: `cat "${fixture('photo.png')}"`,
};

/** A machine for somebody who reads, with an API key in $KEY, and the service of the examples under its name. */
export async function newcomersMachine(): Promise<Sandbox> {
  const {service, key} = await embeddedService();
  const {proxyUrl, certificate} = await exampleService(new URL(service.url), services);
  const box = await readersMachine();
  const authority = join(box.directory, 'authority.pem');
  await writeFile(authority, certificate);
  Object.assign(box.env, {KEY: key, HTTPS_PROXY: proxyUrl, NODE_EXTRA_CA_CERTS: authority});
  return box;
}

/** The same, with the service and the key in the environment, for examples that name the service. */
export async function settledMachineWithNames(): Promise<Sandbox> {
  const box = await newcomersMachine();
  Object.assign(box.env, {MEDIA_BASE_URL: 'https://api.example.com', MEDIA_API_KEY: box.env['KEY']});
  return box;
}

/** The same for examples that do not name the service: without its names and TLS, which take a third of their time. */
export async function settledMachine(): Promise<Sandbox> {
  const {service, key} = await embeddedService();
  const box = await readersMachine();
  Object.assign(box.env, {KEY: key, MEDIA_BASE_URL: service.url, MEDIA_API_KEY: key});
  return box;
}

/**
 * A photo, a video and a directory of both, a picture in the clipboard, and `media`, `jq` and programs of a desktop on the
 * PATH.
 */
async function readersMachine(): Promise<Sandbox> {
  const box = await sandbox();
  const bin = join(box.directory, 'bin');
  await Promise.all([mkdir(bin), mkdir(join(box.directory, 'assets'))]);
  await executable(join(bin, 'media'), node(program));
  await executable(join(bin, 'media-url'), node(program.replace(/media\.js$/, 'media-url.js')));
  if (whatIsMissing(['jq']) !== undefined)
    await executable(join(bin, 'jq'), node(fileURLToPath(new URL('../../support/jq.js', import.meta.url))));
  for (const [name, script] of Object.entries(desktop)) await executable(join(bin, name), script);
  for (const file of ['photo.png', 'clip.mp4'])
    for (const place of [file, join('assets', file)])
      await copyFile(fixture(file), join(box.directory, place));
  Object.assign(box.env, {
    PATH: `${bin}${delimiter}${box.env['PATH']}`,
    WAYLAND_DISPLAY: 'wayland-0',
  });
  return box;
}

/** Notes which processes a block ends: the directory must not be removed while one of them still writes there. */
const notingKills = 'kill() { builtin kill "$@" && printf "%s\\n" "$@" | tail -n 1 >> .killed; }';

/** What a block that fails has left running holds its standard error open, which is waited for. */
const endingJobs = `trap '[ $? = 0 ] || builtin kill $(jobs -p) 2> /dev/null' EXIT`;

/**
 * Runs a block of shell and waits for the processes that it ends; asserts that it succeeds, without an error of ours, and prints something unless it sends that to a
 * file. Resolves to what it printed.
 */
export async function typeIn({directory, env}: Sandbox, block: string): Promise<string> {
  await rm(join(directory, '.killed'), {force: true});
  const command = `${notingKills}\n${endingJobs}\n${block}`;
  const {exitCode, stdout, stderr} = await execa('bash', ['-e', '-o', 'pipefail', '-c', command], {
    cwd: directory,
    env,
    extendEnv: false,
    reject: false,
    ...slowTest,
  });
  const killed = await readFile(join(directory, '.killed'), 'utf8').catch(() => '');
  for (const pid of killed.trim().split('\n').map(Number)) await ended(pid);
  // What the block's background jobs have said, for a person who looks for why it failed.
  const logs = exitCode === 0 ? [] : (await readdir(directory)).filter(name => name.endsWith('.log'));
  const told = await Promise.all(logs.map(name => readFile(join(directory, name), 'utf8')));
  expect({block, exitCode, stderr, told, isSilent: stdout === '' && !block.includes(' > ')}).toEqual({
    block,
    exitCode: 0,
    stderr: expect.not.stringMatching(/internal error|not found/i),
    told: [],
    isSilent: false,
  });
  return stdout;
}

async function executable(path: string, command: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\n${command}\n`);
  await chmod(path, 0o755);
}

/** The shell's command for a script of Node. */
function node(script: string): string {
  return `exec "${process.execPath}" "${script}" "$@"`;
}
