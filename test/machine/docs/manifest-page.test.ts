import {mkdir, readdir, readFile, symlink, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {example, markdown} from '../../support/examples.ts';
import {needPrograms, notRun} from '../../support/installed.ts';
import {slowTest} from '../../support/patience.ts';
import {checkJsonLine} from '../../support/schemas.ts';
import {settledMachine, typeIn} from './newcomer.ts';

const page = 'docs/manifest.md';
const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The use of a picture that the page shows for a generator, in the sentence before its example. */
const usage = (generator: string) =>
  new RegExp(`^${generator}: \`([^\`]+)\``, 'm').exec(markdown(page))?.[1] ?? '';

/** A repository with a manifest, and these files. */
async function site(files: Record<string, string>) {
  const machine = await settledMachine();
  await typeIn(machine, 'media upload -r ./assets --manifest media.json');
  const path = (name: string) => join(machine.directory, name);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(path(name)), {recursive: true});
    await writeFile(path(name), text);
  }
  const manifest = async () => JSON.parse(await readFile(path('media.json'), 'utf8'));
  const {url} = (await manifest()).files['assets/photo.png'];
  return {machine, path, url, manifest};
}

describe(page, slowTest, () => {
  it('shows a manifest as its schema describes it', () => {
    expect(() => checkJsonLine('manifest', example(page, 'json'))).not.toThrow();
  });

  it('has at most 120 lines', () => {
    expect(markdown(page).trimEnd().split('\n').length).toBeLessThanOrEqual(120);
  });

  it('Vite', async () => {
    const {machine, path, url} = await site({
      'vite.config.mjs': example(page, 'js', 'vite.config.js'),
      'main.js': `document.body.title = ${usage('Vite')};`,
      'index.html': '<script type="module" src="/main.js"></script>',
    });
    const vite = fileURLToPath(import.meta.resolve('vite')).replace(/dist.*/, 'bin/vite.js');
    await execa(process.execPath, [vite, 'build'], {cwd: machine.directory, env: machine.env});
    const [name = ''] = await readdir(path('dist/assets'));
    const script = await readFile(path(join('dist/assets', name)), 'utf8');
    expect(script).toContain(url);
    expect(script).not.toContain('sha256');
  });

  it('Eleventy', async context => {
    const config = example(page, 'js', 'eleventy.config.js');
    const use = `<img src="${usage('Eleventy')}" alt="A photo">`;
    const {machine, path, url} = await site({
      ...{'eleventy.config.mjs': config, 'one.njk': use, 'two.liquid': use},
      'package.json': '{"private": true}',
    });
    const words = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '@11ty/eleventy@3'];
    const installed = await execa('npm', words, {cwd: machine.directory, reject: false});
    if (installed.exitCode !== 0) notRun(context, 'npm could not install @11ty/eleventy');
    await execa(path('node_modules/.bin/eleventy'), ['--input=.', '--output=out'], {cwd: machine.directory});
    for (const name of ['one', 'two'])
      expect(await readFile(path(`out/${name}/index.html`), 'utf8')).toContain(`src="${url}"`);
  });

  it('Hugo', async context => {
    needPrograms(context, ['hugo']);
    const use = usage('Hugo');
    const {machine, path, url} = await site({
      'config.toml': "baseURL = 'https://example.com/'",
      'layouts/index.html': '{{ .Content }}',
      'layouts/shortcodes/media.html': example(page, 'go-html-template'),
      'content/_index.md': use,
    });
    await execa('hugo', [], {cwd: machine.directory});
    expect(await readFile(path('public/index.html'), 'utf8')).toContain(`<img src="${url}" alt="A photo">`);
    await writeFile(path('content/_index.md'), use.replace('photo.png', 'missing.png'));
    const {exitCode, stdout, stderr} = await execa('hugo', [], {cwd: machine.directory, reject: false});
    expect(exitCode).not.toBe(0);
    expect(stdout + stderr).toContain('"assets/missing.png" is not in media.json');
  });

  it('the library', async () => {
    const {machine, path, manifest} = await site({'example.mjs': example(page, 'js', 'uploadAll')});
    await mkdir(path('node_modules'));
    await symlink(root, path('node_modules/media-cli'));
    const before = await manifest();
    const run = () =>
      execa(process.execPath, ['example.mjs'], {cwd: machine.directory, env: machine.env, extendEnv: false});
    expect((await run()).stdout).toBe('skipped');
    expect(await manifest()).toEqual(before);
    await writeFile(path('media.json'), JSON.stringify({...before, files: {}}));
    expect((await run()).stdout).toBe('uploaded');
    expect((await manifest()).files).toHaveProperty(['assets/photo.png', 'url']);
  });
});
