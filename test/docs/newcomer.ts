import {chmod, copyFile, mkdir, writeFile} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {expect} from 'vitest';
import {embeddedService} from '../support/embedded.ts';
import {exampleService} from '../support/example-service.ts';
import {whatIsMissing} from '../support/installed.ts';
import {fixture, program, sandbox} from '../support/media.ts';

/** Where a newcomer types commands: a directory and an environment. */
export interface Newcomer {
  cwd: string;
  env: Record<string, string>;
}

/** A directory with a photo and a video, `media` and `jq` on the PATH, a key, and the service of the examples. */
export async function newcomersMachine(): Promise<Newcomer> {
  const {service, key} = await embeddedService();
  const {proxyUrl, certificate} = await exampleService(new URL(service.url), [
    'api.example.com',
    'staging.example.com',
  ]);
  const home = await sandbox();
  const bin = join(home.directory, 'bin');
  await mkdir(bin);
  await executable(join(bin, 'media'), program);
  if (whatIsMissing(['jq']) !== undefined)
    await executable(join(bin, 'jq'), fileURLToPath(new URL('../support/jq.js', import.meta.url)));
  for (const file of ['photo.png', 'clip.mp4']) await copyFile(fixture(file), join(home.directory, file));
  const authority = join(home.directory, 'authority.pem');
  await writeFile(authority, certificate);
  return {
    cwd: home.directory,
    env: {
      ...home.env,
      PATH: `${bin}${delimiter}${home.env['PATH']}`,
      KEY: key,
      HTTPS_PROXY: proxyUrl,
      NODE_EXTRA_CA_CERTS: authority,
    },
  };
}

/** The newcomer's machine after `media login`, with a directory of images and videos. */
export async function settledMachine(): Promise<Newcomer> {
  const machine = await newcomersMachine();
  await type(
    machine,
    `mkdir assets
    cp -v photo.png clip.mp4 assets
    printf '%s\\n' "$KEY" | media login --base-url https://api.example.com --key-stdin`,
  );
  return machine;
}

/** Runs a block of shell; asserts that it succeeds, prints something and meets no error of ours; what it printed. */
export async function type(machine: Newcomer, block: string): Promise<string> {
  const {exitCode, stdout, stderr} = await execa('bash', ['-e', '-o', 'pipefail', '-c', block], {
    ...machine,
    extendEnv: false,
    reject: false,
    timeout: 60_000,
  });
  expect({block, exitCode, stderr, printed: stdout !== ''}).toEqual({
    block,
    exitCode: 0,
    stderr: expect.not.stringMatching(/internal|Internal|not found/),
    printed: true,
  });
  return stdout;
}

async function executable(path: string, script: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\nexec "${process.execPath}" "${script}" "$@"\n`);
  await chmod(path, 0o755);
}
