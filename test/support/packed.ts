import {mkdir, mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {afterAll} from 'vitest';
import {temporaryDirectory} from './media.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let made: Promise<{directory: string; tarball: string}> | undefined;

afterAll(async () => {
  if (made !== undefined) await rm((await made).directory, {recursive: true});
});

/** The package as it would be published: the path of its tarball, which all tests of a file share. */
export async function packedPackage(): Promise<string> {
  made ??= pack();
  const {directory, tarball} = await made;
  return join(directory, tarball);
}

async function pack() {
  const directory = await mkdtemp(join(tmpdir(), 'media-packed-'));
  const {stdout} = await execa(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--loglevel=error', '--pack-destination', directory],
    {cwd: root},
  );
  const [{filename}] = JSON.parse(stdout);
  return {directory, tarball: filename as string};
}

/** A directory for the current test whose node_modules holds the package as it would be published; its path. */
export async function projectWithPackage(): Promise<string> {
  const project = await temporaryDirectory();
  const home = join(project, 'node_modules/media-cli');
  await mkdir(home, {recursive: true});
  await execa('tar', ['-xzf', await packedPackage(), '-C', home, '--strip-components=1']);
  return project;
}
