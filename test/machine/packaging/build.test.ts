import {isAscii} from 'node:buffer';
import {cp, mkdir, readdir, readFile, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {gunzipSync} from 'node:zlib';
import {execa} from 'execa';
import {expect, test} from 'vitest';
import {program, temporaryDirectory} from '../../support/media.ts';

const root = dirname(dirname(program));
const {keepReachableTypes} = await import(join(root, '.ci/reachable-types.js'));

test('a build into a dist that has been used: compiled code stays, types that nothing leads to go', async () => {
  const directory = await temporaryDirectory();
  await cp(join(root, 'dist'), directory, {
    recursive: true,
    filter: source => !source.endsWith('compiled'),
  });
  const built = (await readdir(directory, {recursive: true})).sort();
  await mkdir(join(directory, 'compiled'));
  const compiled = 'compiled/main.cjs-0123456789abcdef-v20-x64-1-upload';
  await writeFile(join(directory, compiled), 'code');
  await mkdir(join(directory, 'commands/old'), {recursive: true});
  await writeFile(join(directory, 'commands/old/upload.d.ts'), 'export declare const old: string;\n');

  keepReachableTypes(directory);

  expect((await readdir(directory, {recursive: true})).sort()).toEqual(
    ['compiled', compiled, ...built].sort(),
  );
  expect(await readFile(join(directory, compiled), 'utf8')).toBe('code');
});

test('without libdeflate-gzip, an executable is compressed by zlib, which is said', async () => {
  const script = `import {compress} from ${JSON.stringify(join(root, '.ci/compress.js'))};
    process.stdout.write(compress(Buffer.alloc(100_000, 'media')).archive);`;
  const {stdout, stderr} = await execa(process.execPath, ['--input-type=module', '--eval', script], {
    ...{env: {PATH: ''}, extendEnv: false, encoding: 'buffer'},
  });
  expect(gunzipSync(stdout)).toEqual(Buffer.alloc(100_000, 'media'));
  expect(Buffer.from(stderr).toString()).toContain('Compressed by zlib, which takes about 7 % more');
});

// One other character, which esbuild escapes in a string but not in a regular expression, makes V8 keep the whole source in two bytes
// per character: 10 ms of CPU at each start.
test.each(['main.cjs', 'undici.cjs', 'conf.cjs'])('%s, which each upload loads, is ASCII', async name => {
  expect(isAscii(await readFile(join(root, 'dist', name)))).toBe(true);
});

// When an assertion fails, Node parses the line of the source to quote it, which took 5 s for a bundle: any server could do that.
test('undici has no assertions of Node, nor its HTTP', async () => {
  const undici = await readFile(join(root, 'dist', 'undici.cjs'), 'utf8');
  expect(undici).toContain('an assertion of undici failed');
  expect(undici).not.toMatch(/["'](node:)?(assert|http)["']/);
});
