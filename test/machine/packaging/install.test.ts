import {copyFile, cp, mkdir, readdir, readFile, rm, symlink, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {expect, test} from 'vitest';
import {needPrograms} from '../../support/installed.ts';
import {fixture, program, type Sandbox, sandbox} from '../../support/media.ts';
import {slowTest} from '../../support/patience.ts';

const root = dirname(dirname(program));
const reporter = fileURLToPath(new URL('../../support/compile-reporter.cjs', import.meta.url));

/** A clone as git leaves it, but with the packages of this one, which take half a minute to install. */
async function freshClone(box: Sandbox): Promise<string> {
  const clone = join(box.directory, "a clone's directory");
  const files = [
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    '.ci',
    'bin',
    'completions',
    'man',
    'src',
    'test/fixtures',
  ];
  for (const file of [...files, 'README.md', 'LICENSE', 'CHANGELOG.md'])
    await cp(join(root, file), join(clone, file), {recursive: true});
  const packages = join(clone, 'node_modules');
  await mkdir(packages);
  // Each by itself: beside them stands what tells of which sources dist is.
  for (const name of await readdir(join(root, 'node_modules')))
    if (!name.startsWith('.') || name === '.bin')
      await symlink(join(root, 'node_modules', name), join(packages, name));
  await copyFile(join(root, 'node_modules/.prepared'), join(packages, '.prepared'));
  return clone;
}

const installGlobally = ['install', '--global', '--no-audit', '--no-fund'];

test(
  'a fresh clone: not built is one sentence with what to do, exit 7; npm install --global builds it',
  slowTest,
  async () => {
    const box = await sandbox();
    const clone = await freshClone(box);
    const options = {cwd: box.directory, env: box.env, extendEnv: false, reject: false} as const;
    const missing = await execa(process.execPath, [join(clone, 'bin/media.js'), '--version'], options);
    expect(missing).toMatchObject({stdout: '', exitCode: 7});
    const [sentence, hint, ...rest] = missing.stderr.split('\n');
    expect(sentence).toBe(`media: The program is not built: ${join(clone, 'dist/main.cjs')} is missing.`);
    expect(rest).toEqual([]);

    const prefix = join(box.directory, 'prefix');
    const install = await execa('npm', [...installGlobally, '--prefix', prefix, '.'], {
      ...options,
      cwd: clone,
    });
    expect(install.exitCode, install.stderr).toBe(0);
    const media = (...parameters: string[]) => execa(join(prefix, 'bin/media'), parameters, options);
    expect((await media('--version')).stdout).toMatch(/^\d+\.\d+\.\d+$/);
    // The build has stored the compiled code for this Node, so that the first run finds it.
    const report = join(box.directory, 'report');
    const env = {...box.env, NODE_OPTIONS: `--require=${reporter}`, COMPILED_REPORT: report};
    const words = ['upload', fixture('photo.png'), '--base-url', 'embedded', '--json'];
    const upload = await execa(join(prefix, 'bin/media'), words, {...options, env});
    expect(new Set((await readFile(report, 'utf8')).match(/\w+$/gm))).toEqual(new Set(['taken']));
    expect(JSON.parse(upload.stdout)).toMatchObject({type: 'IMAGE', width: 640, height: 400});

    // A busy machine, whose runs take longer than the 5 s after which nothing is kept.
    await rm(join(clone, 'dist/compiled'), {recursive: true});
    const slowNode = join(box.directory, 'slow-node');
    const lateStart = "--import='data:text/javascript,process.uptime=()=>10'";
    await writeFile(slowNode, `#!/bin/sh\nexec '${process.execPath}' ${lateStart} "$@"\n`, {mode: 0o755});
    const compiling = await execa(process.execPath, [join(clone, '.ci/compiled.js'), slowNode], options);
    expect(compiling).toMatchObject({exitCode: 0, stderr: ''});
    expect(await readdir(join(clone, 'dist/compiled'))).toContainEqual(
      expect.stringMatching(/^main\.cjs-.*-upload$/),
    );

    const command = /^ {2}Build it: (.*)$/.exec(hint ?? '')?.[1] ?? 'false';
    expect(await execa('sh', ['-c', command], options)).toMatchObject({stdout: '', stderr: '', exitCode: 0});
  },
);

test('man media after npm install --global: the manual page', slowTest, async context => {
  needPrograms(context, ['man']);
  const box = await sandbox();
  const options = {cwd: root, env: box.env, extendEnv: false, reject: false} as const;
  const install = await execa(
    'npm',
    [...installGlobally, '--ignore-scripts', '--prefix', box.directory, '.'],
    options,
  );
  expect(install.exitCode, install.stderr).toBe(0);
  const env = {...box.env, MANPATH: join(box.directory, 'share/man')};
  expect(await execa('man', ['-w', 'media'], {...options, env})).toMatchObject({
    stdout: join(root, 'man/media.1'),
    exitCode: 0,
  });
});
