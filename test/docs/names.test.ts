import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {cp, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, it} from 'vitest';
import {temporaryDirectory} from '../support/media.ts';
import {slowTest} from '../support/patience.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const list = '.github/names.json';
interface Names {
  names: Record<string, string>;
  owned: Record<string, boolean>;
  written: Record<string, string>;
}

const {names, owned, written}: Names = JSON.parse(await readFile(join(root, list), 'utf8'));

/** The tracked texts that mention one of these, in any case. */
function filesWith(directory: string, mentions: readonly string[]): string[] {
  const files = execFileSync('git', ['ls-files', '-z'], {cwd: directory, encoding: 'utf8'}).split('\0');
  const pattern = new RegExp(
    `(?:${mentions.map(text => text.replaceAll('.', '\\.')).join('|')})(?!\\w)`,
    'i',
  );
  return files.filter(
    file =>
      file !== '' &&
      file !== list &&
      !file.startsWith('test/fixtures/') &&
      pattern.test(readFileSync(join(directory, file), 'latin1')),
  );
}

it('the names are those that were written, and each says whether it is owned', async () => {
  expect(written).toEqual(names);
  expect(Object.keys(owned)).toEqual(Object.keys(names));
  const read = async (file: string) => JSON.parse(await readFile(join(root, file), 'utf8'));
  expect((await read('package.json')).name).toBe(names['package']);
  const lock = await read('package-lock.json');
  expect([lock.name, lock.packages[''].name]).toEqual([names['package'], names['package']]);
});

it(
  'npm run names: one edit changes every mention and nothing else; a name that stands elsewhere is refused',
  slowTest,
  async () => {
    const copy = await temporaryDirectory();
    const mentioning = filesWith(root, Object.values(names));
    expect(mentioning.length).toBeGreaterThan(15);
    for (const file of [...mentioning, list, '.ci/names.js', 'LICENSE'])
      await cp(join(root, file), join(copy, file));
    const git = (...parameters: string[]) => execFileSync('git', parameters, {cwd: copy, encoding: 'utf8'});
    git('init', '--quiet');
    git('add', '.');
    const change = async (changed: object) => {
      const current = JSON.parse(await readFile(join(copy, list), 'utf8'));
      await writeFile(join(copy, list), JSON.stringify({...current, names: {...names, ...changed}}));
      return execFileSync(process.execPath, ['.ci/names.js'], {cwd: copy, encoding: 'utf8', stdio: 'pipe'});
    };
    await expect(change({package: 'Copyright'})).rejects.toThrow('"Copyright" stands in LICENSE already');

    await change({package: '@acme/uploads', repository: 'acme/uploader', image: 'ghcr.io/acme/uploader'});
    expect(filesWith(copy, Object.values(names))).toEqual([]);
    const readme = await readFile(join(copy, 'README.md'), 'utf8');
    expect(readme).toContain('npm install --global ./acme-uploads-*.tgz');
    expect(readme).toContain('Never install `@acme/uploads` from the npm registry');
    expect(JSON.parse(await readFile(join(copy, 'package.json'), 'utf8')).name).toBe('@acme/uploads');

    await change({});
    expect(git('diff', '--stat', '--', '.', `:!${list}`)).toBe('');
  },
);
