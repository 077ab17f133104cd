import {copyFile, readFile, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {embeddedService} from '../../support/embedded.ts';
import {example} from '../../support/examples.ts';
import {fixture} from '../../support/media.ts';
import {packedPackage} from '../../support/packed.ts';
import {patienceMs, slowTest} from '../../support/patience.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const packed = packedPackage();
const documented = example('docs/library.md', 'js', 'startService');

/** Runs a module in a project that has the package and a photo and a video; asserts that it ends well. */
async function run(
  module: string,
  files: readonly string[] = ['photo.png', 'clip.mp4'],
  {name = 'example.mjs', env = {}}: {name?: string; env?: Record<string, string>} = {},
) {
  const project = await packed.project();
  await writeFile(join(project, name), module);
  for (const file of files) await copyFile(fixture(file), join(project, file));
  const {stdout, stderr, exitCode} = await execa(process.execPath, [name], {
    cwd: project,
    env,
    reject: false,
    input: 'for the program around it',
    timeout: patienceMs,
  });
  return {stdout, stderr, exitCode};
}

describe('the packed library', () => {
  it('runs the documented example as printed', async () => {
    const {stdout, stderr, exitCode} = await run(documented);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(stdout.split('\n').sort()).toEqual([
      expect.stringMatching(/^clip\.mp4 m_[\w-]+ http:\S+$/),
      expect.stringMatching(/^photo\.png m_[\w-]+ http:\S+$/),
    ]);
  });

  it('runs the documented examples with a journal, and of one file, as printed', async () => {
    const {service, key} = await embeddedService();
    const env = {MEDIA_BASE_URL: service.url, MEDIA_API_KEY: key};
    const continued = await run(example('docs/library.md', 'js', 'journal'), undefined, {env});
    expect(continued).toMatchObject({stderr: '', exitCode: 0});
    expect(continued.stdout.split('\n').sort()).toEqual([
      'uploaded clip.mp4 16464',
      'uploaded photo.png 13582',
    ]);
    const one = await run(example('docs/library.md', 'mjs'), undefined, {env});
    expect(one).toMatchObject({stderr: '', exitCode: 0});
    expect(one.stdout).toMatch(/^m_[\w-]+\nfile_missing true$/);
  });

  it('documents every status that a result has', async () => {
    const page = await readFile(join(root, 'docs/library.md'), 'utf8');
    const source = await readFile(join(root, 'src/engine/transfer/outcome.ts'), 'utf8');
    const statuses = [...source.matchAll(/status: ((?:'\w+'(?: \| )?)+)/g)];
    const names = statuses.flatMap(([, union = '']) => [...union.matchAll(/\w+/g)].map(([status]) => status));
    expect(names.length).toBe(6);
    expect(names.filter(status => !page.includes(`\`${status}\``))).toEqual([]);
  });

  it('runs the documented example with a file that is not there: its sentence, and the others are uploaded', async () => {
    const {stdout, stderr, exitCode} = await run(documented, ['photo.png']);
    expect({stderr, exitCode}).toEqual({stderr: 'clip.mp4 does not exist.', exitCode: 0});
    expect(stdout).toMatch(/^photo\.png m_[\w-]+ http:\S+$/);
  });

  it(
    'has types that strict TypeScript takes the same example with, and its own declarations',
    slowTest,
    async () => {
      const project = await packed.project();
      await writeFile(join(project, 'package.json'), '{"type": "module"}');
      await writeFile(join(project, 'example.ts'), documented);
      await symlink(join(root, 'node_modules/@types'), join(project, 'node_modules/@types'));
      const flags = [
        '--strict',
        '--noEmit',
        '--target',
        'es2022',
        '--lib',
        'es2022',
        '--module',
        'nodenext',
        '--types',
        'node',
      ];
      const {stdout, exitCode} = await execa(
        process.execPath,
        [join(root, 'node_modules/typescript/bin/tsc'), ...flags, 'example.ts'],
        {cwd: project, reject: false},
      );
      expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 0});
    },
  );

  it('leaves the process as it was: signals, environment, globals, directory, exit code, standard input', async () => {
    const {stdout, stderr, exitCode} = await run(
      `
      import {text} from 'node:stream/consumers';
      const state = () => ({
        listeners: process.eventNames().map(name => [String(name), process.listenerCount(name)]),
        env: {...process.env}, exitCode: process.exitCode, directory: process.cwd(), umask: process.umask(),
        globals: Reflect.ownKeys(globalThis).map(String), flags: process.execArgv, title: process.title,
      });
      const before = state();
      const {MediaClient, filesOf, startService, uploadAll} = await import('media-cli');
      const service = await startService({dataDirectory: 'data'});
      const client = new MediaClient({baseUrl: service.url, apiKey: await service.createKey()});
      const during = [];
      for await (const {status} of uploadAll(filesOf(['*.png']), {client, journal: 'photos.journal'}))
        during.push({status, ...state()});
      await client.close();
      await service.close();
      console.log(JSON.stringify({before, during, after: state(), input: await text(process.stdin)}));`,
    );
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    const {before, during, after, input} = JSON.parse(stdout);
    expect(during).toEqual([{status: 'uploaded', ...before}]);
    expect({after, input}).toEqual({after: before, input: 'for the program around it'});
  });
});
