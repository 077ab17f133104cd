import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {temporaryDirectory} from './media.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Puts the package as it would be published into a directory; resolves to the name of the tarball. */
export async function packInto(directory: string): Promise<string> {
  const {stdout} = await execa(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--loglevel=error', '--pack-destination', directory],
    {cwd: root},
  );
  const [{filename}] = JSON.parse(stdout);
  return filename;
}

/** A directory for the current test whose node_modules holds the package as it would be published; its path. */
export async function projectWithPackage(): Promise<string> {
  const project = await temporaryDirectory();
  const tarball = await packInto(project);
  const home = join(project, 'node_modules/media-cli');
  await mkdir(home, {recursive: true});
  await execa('tar', ['-xzf', join(project, tarball), '-C', home, '--strip-components=1']);
  return project;
}
