import {mkdir, mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {afterAll} from 'vitest';
import {temporaryDirectory} from './media.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The package as it would be published, packed once per test file; call this at the top of the file. */
export function packedPackage() {
  let made: Promise<{directory: string; tarball: string}> | undefined;
  afterAll(async () => {
    if (made !== undefined) await rm((await made).directory, {recursive: true});
  });
  /** The path of its tarball. */
  const tarball = async () => {
    made ??= pack();
    return (await made).tarball;
  };
  return {
    tarball,
    /** A directory for the current test with the package in its node_modules; resolves to its path. */
    async project(): Promise<string> {
      const project = await temporaryDirectory();
      const home = join(project, 'node_modules/media-cli');
      await mkdir(home, {recursive: true});
      await execa('tar', ['-xzf', await tarball(), '-C', home, '--strip-components=1']);
      return project;
    },
  };
}

async function pack() {
  const directory = await mkdtemp(join(tmpdir(), 'media-packed-'));
  const {stdout} = await execa(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--loglevel=error', '--pack-destination', directory],
    {cwd: root},
  );
  const [{filename}] = JSON.parse(stdout);
  return {directory, tarball: join(directory, filename)};
}
