import {
  appendFile,
  copyFile,
  lstat,
  mkdir,
  readdir,
  readFile,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {sandboxFor} from '../../engine/service/program.ts';
import {documentTrees} from '../../support/document-trees.ts';
import {fixture} from '../../support/media.ts';
import {scriptedServer} from '../../support/scripted-server.ts';
import {expectRewritten, machine} from './machine.ts';

test.each(Object.entries(documentTrees).filter(([program]) => program === 'Hugo'))(
  '%s: every reference is replaced, nothing else changes; a second run changes and uploads nothing',
  (_name, tree) => expectRewritten(tree),
);

describe('the modes', () => {
  const document = '# A\n\n![a](photo.png "t")\n\n![b](photo.png) [c](clip.mp4)\n';

  test('none: a report, nothing is sent or written; --ndjson: a line per reference', async () => {
    const {rewrite, text, stored} = await machine({'a.md': document});
    const report = await rewrite('a.md');
    expect(report).toMatchObject({
      stdout: 'a.md:3:6  photo.png  checked\na.md:5:6  photo.png  checked\n',
      exitCode: 0,
    });
    expect(report.stderr).toContain('2 local references in 1 document; files: 1 checked.');
    const {stdout} = await rewrite('a.md', '--ndjson', '--links');
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line)),
    ).toEqual([
      {file: 'a.md', line: 3, column: 6, source: 'photo.png', path: 'photo.png', status: 'checked'},
      {file: 'a.md', line: 5, column: 6, source: 'photo.png', path: 'photo.png', status: 'checked'},
      {file: 'a.md', line: 5, column: 21, source: 'clip.mp4', path: 'clip.mp4', status: 'checked'},
    ]);
    expect([await text('a.md'), await stored()]).toEqual([document, 0]);
  });

  test('--check --ci: status 1 with annotations at file, line and column; 0 once nothing local is left', async () => {
    const {rewrite, sandbox, stored} = await machine({
      'a.md': document,
      'b.md': '![a](https://x/y.png) `![b](c.png)`\n',
    });
    const check = await rewrite('--check', '--ci', '.');
    expect(check).toMatchObject({
      stdout: 'a.md:3:6  photo.png  local\na.md:5:6  photo.png  local\n',
      exitCode: 1,
    });
    expect(check.stderr).toContain(
      '::error file=a.md,line=3,col=6,title=media rewrite%3A local_reference::photo.png is a local file.',
    );
    sandbox.env['GITHUB_WORKSPACE'] = sandbox.directory;
    const inDirectory = await rewrite('--check', '--ci', join('..', 'work', 'a.md'));
    expect(inDirectory.stderr).toMatch(/^::error file=work\/a\.md,line=3,/m);
    const missing = await rewrite('--check', '--ci', 'gone.md');
    expect(missing).toMatchObject({
      stderr: expect.stringMatching(
        /^::error title=media rewrite%3A file_missing::gone\.md does not exist\./m,
      ),
      exitCode: 1,
    });
    expect(await rewrite('--check', 'b.md')).toMatchObject({stdout: '', exitCode: 0});
    expect(await stored()).toBe(0);
  });

  test('--stdout: the document and nothing else; --template: a line per file', async () => {
    const {rewrite, urls, text} = await machine({'a.md': document});
    const {stdout, exitCode} = await rewrite('--stdout', 'a.md');
    const url = (await urls())('photo.png');
    expect({stdout, exitCode}).toEqual({stdout: document.replaceAll('photo.png', url), exitCode: 0});
    expect(await text('a.md')).toBe(document);
    const template = await rewrite('--write', 'a.md', '--template', '{file} {url} {status}\\n');
    expect(template.stdout).toBe(`photo.png ${url} skipped\n`);
    expect(await text('a.md')).toBe(stdout);
  });

  test('--out-dir: a mirror with every document, the sources unchanged', async () => {
    const {at, rewrite, urls, text} = await machine({'a.md': document});
    await mkdir(at('docs/deep'), {recursive: true});
    await writeFile(at('docs/deep/b.md'), '![x](../../photo.png)');
    await writeFile(at('docs/c.css'), '/* nothing */');
    const run = await rewrite('--out-dir', 'out', '--root', '.', 'docs', 'a.md');
    expect(run).toMatchObject({
      stdout: 'docs/c.css: 0 URLs\ndocs/deep/b.md: 1 URL\na.md: 2 URLs\n',
      exitCode: 0,
    });
    expect(await text('out/deep/b.md')).toBe(`![x](${(await urls())('photo.png')})`);
    expect(await text('out/c.css')).toBe('/* nothing */');
    expect(await text('a.md')).toBe(document);
    // What it wrote into one of its directories is no document of the next run.
    for (let run = 0; run < 2; run += 1)
      expect(await rewrite('--out-dir', './docs/out/', '--root', '.', 'docs')).toMatchObject({
        stdout: 'docs/c.css: 0 URLs\ndocs/deep/b.md: 1 URL\n',
        exitCode: 0,
      });
  });

  test.each([
    [['--write', '--check', 'a.md'], "Option '--write' cannot be used with option '--check'."],
    [['--stdout', 'a.md', 'b.md'], '--stdout prints one document, but 2 were given'],
    [['--out-dir', '.', 'a.md'], '--out-dir would overwrite a.md'],
    [['--out-dir', 'o', 'a.md', 'other/a.md'], 'would both be written to o/a.md'],
    [
      ['--ndjson', '--template', '{id}', 'a.md'],
      "Option '--ndjson' cannot be used with option '--template <text>'.",
    ],
    [['--template', '{uri}', 'a.md'], 'unknown field'],
    [['photo.png'], 'photo.png is not a Markdown, HTML or CSS file'],
    [['empty'], 'empty contains no document'],
  ])('%j: a usage error', async (parameters, message) => {
    const {at, rewrite} = await machine({'a.md': document, 'b.md': ''});
    await mkdir(at('empty'));
    await mkdir(at('other'));
    await copyFile(at('a.md'), at('other/a.md'));
    expect(await rewrite(...parameters)).toMatchObject({
      stdout: '',
      exitCode: 2,
      stderr: expect.stringContaining(message),
    });
  });
});

test('--check of MDX: what it contains, not what Markdown would; what is not MDX is named, and read as Markdown', async () => {
  const {rewrite} = await machine({
    'steps.mdx': '<Steps>\n\n1. One\n\n    ![a](photo.png)\n\n</Steps>\n',
    'old.mdx': '<http://localhost>\n\n![a](photo.png)\n',
    'code.md': '1. One\n\n        ![a](photo.png)\n',
  });
  const {stdout, stderr, exitCode} = await rewrite('--check', '.');
  const lines = ['old.mdx:3:6  photo.png  local', 'steps.mdx:5:10  photo.png  local'];
  expect([stdout.trimEnd().split('\n'), exitCode]).toEqual([lines, 1]);
  const message =
    /^warning: old\.mdx: It was read as Markdown, since it is not valid MDX: 1:7: Unexpected character .*\.$/m;
  expect(stderr).toMatch(message);
  expect((await rewrite('--check', '--ndjson', 'old.mdx')).stderr).toMatch(message);
});

test('--check of tags in a line whose values have slashes and no quotes: local references, in MkDocs too, exit 1', async () => {
  const {rewrite, at} = await machine({
    'a.md': 'x <img src=./photo.png> y\n\n<video class=a/b src=clip.mp4></video>\n',
  });
  const found = {stdout: 'a.md:1:12  ./photo.png  local\na.md:3:22  clip.mp4  local\n', exitCode: 1};
  expect(await rewrite('--check', 'a.md')).toMatchObject(found);
  await writeFile(at('mkdocs.yml'), '');
  expect(await rewrite('--check', 'a.md')).toMatchObject(found);
});

describe('what names local media and is left alone', () => {
  const documents = {
    'hugo.md':
      '---\ncover: a.png\ntitle: T\n---\n{{< figure src="a.png" >}} {{% video b.mp4 %}} {{< x "https://x/a.png" >}}\n\n    {{< figure src="code.png" >}}\n\n{{</* figure src="shown.png" */>}} <!-- {{< figure src="a.png" >}} -->\n',
    'jekyll.md':
      '![a]({{ site.url }}/a.png) ![b]({{site.url}}/b.png) {% include figure src="c.png" %} [a](clip.mp4) [b](page.md)\n',
    'page.html':
      '<img src="<%= root %>/a.png"> <a href=clip.mp4>a</a> <a href=https://x/a.png>b</a> <img src="{{ logo }}">\n',
    'page.mdx':
      "import Hero from './a.png';\nimport Tabs from './tabs.js';\n\n<img src={require('./b.png').default} style={{width: 3}} /> {/* './c.png' */}\n",
  };
  const lines = [
    '2 Hugo shortcodes were left unchanged.',
    '4 template expressions were left unchanged.',
    '1 import was left unchanged.',
    '1 JavaScript expression was left unchanged.',
    '2 links were left unchanged.',
    '1 front matter value was left unchanged.',
  ];

  test.each([['--check'], ['--write']])('%s: counted by kind, exit 0', async mode => {
    const {rewrite} = await machine(documents);
    const {stdout, stderr, exitCode} = await rewrite(mode, '.');
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 0});
    expect(stderr.split('\n').filter(line => line.includes('unchanged'))).toEqual(lines);
  });

  test('--ndjson: a line per document and kind; what an option takes is none of it', async () => {
    const {rewrite} = await machine(documents);
    const {stderr} = await rewrite('--check', '--ndjson', '--links', '--front-matter', 'cover', '.');
    const lines = stderr.split('\n').filter(line => line !== '');
    expect(lines.pop()).toMatch(/^3 local references in/);
    expect(lines.map(line => JSON.parse(line))).toEqual([
      {unchanged: {file: 'hugo.md', kind: 'shortcode', count: 2}},
      {unchanged: {file: 'jekyll.md', kind: 'template', count: 3}},
      {unchanged: {file: 'page.html', kind: 'template', count: 1}},
      {unchanged: {file: 'page.mdx', kind: 'import', count: 1}},
      {unchanged: {file: 'page.mdx', kind: 'expression', count: 1}},
    ]);
    expect(await rewrite('--check', '--quiet', '--ndjson', 'hugo.md')).toMatchObject({stderr: ''});
  });
});

test('--front-matter: text, lists and maps in YAML and TOML, in Markdown and HTML', async () => {
  const blog = (a: string, b: string) =>
    `---\ntitle: "photo.png: a story"\nimages: [${a}, "${a}"]\ngallery:\n  - src: ${a} # first\n    alt: A photo\n  - {alt: B, src: ${b}}\nintro: |\n  image: photo.png\n---\n`;
  const hugo = (a: string, b: string) =>
    `+++\nimages = [\n  "${a}", # first\n  'https://x.example/a.png',\n]\n\n[[resources]]\nsrc = '''${b}'''\n+++\n`;
  const [a, b] = ['photo.png', 'clip.mp4'];
  const jekyll = (a: string, b: string) =>
    `---\nlayout: page\nimages: ${a}\nteaser: <img src="photo.png">\n---\n<video src="${b}"></video> --- <img src="${a}">\n`;
  const {rewrite, text, urls} = await machine({
    'blog.md': blog(a, b),
    'hugo.md': hugo(a, b),
    'jekyll.html': jekyll(a, b),
  });
  const keys = ['images', 'gallery', 'src'].flatMap(key => ['--front-matter', key]);
  expect(await rewrite('--check', 'jekyll.html')).toMatchObject({
    stdout: 'jekyll.html:6:13  clip.mp4  local\njekyll.html:6:46  photo.png  local\n',
    stderr: '2 front matter values were left unchanged.\n2 local references in 1 document.\n',
  });
  expect(await rewrite(...keys, '--write', '.')).toMatchObject({
    stdout: 'blog.md: 4 URLs\nhugo.md: 2 URLs\njekyll.html: 3 URLs\n',
    exitCode: 0,
  });
  const url = await urls();
  expect(await text('blog.md')).toBe(blog(url(a), url(b)));
  expect(await text('hugo.md')).toBe(hugo(url(a), url(b)));
  expect(await text('jekyll.html')).toBe(jekyll(url(a), url(b)));
});

test('--front-matter where it is not valid: a failure; the rest of the document is read, and nothing fails without the option', async () => {
  const broken = (a: string) => `---\nimage: photo.png\ntitle: a: b\n---\n${a}\n`;
  const {rewrite, text, urls} = await machine({
    'broken.md': broken('![a](photo.png)'),
    'only.md': broken(''),
    'fine.md': '---\nimage: https://x.example/a.png\n---\n',
  });
  const error = {
    code: 'file_unreadable',
    message:
      'The front matter of only.md could not be read, since it is not valid YAML: 3:8: Nested mappings are not allowed in compact mappings.',
  };
  const key = ['--front-matter', 'image'];
  const check = await rewrite('--check', '--ndjson', '--ci', ...key, 'fine.md', 'only.md');
  expect(check).toMatchObject({exitCode: 1, stderr: expect.stringMatching(/^::error file=only\.md,line=1/m)});
  expect(JSON.parse(check.stdout)).toMatchObject({file: 'only.md', status: 'failed', error});
  expect(await rewrite(...key, '--write', 'only.md')).toMatchObject({
    ...{stdout: '', exitCode: 1},
    stderr: expect.stringContaining(`media: ${error.message}\n`),
  });
  expect(await rewrite(...key, '--write', '.')).toMatchObject({stdout: 'broken.md: 1 URL\n', exitCode: 3});
  expect(await text('broken.md')).toBe(broken(`![a](${(await urls())('photo.png')})`));
  expect(await rewrite('--check', '.')).toMatchObject({stdout: '', exitCode: 0});
});

test('a dialect is read in its own projects only, and said once', async () => {
  const document = '!!! note\n\n    ![a](photo.png)\n\n![b](PHOTO.png)\n';
  const {at, rewrite} = await machine({'a.md': document, 'b.md': document});
  expect(await rewrite('--check', 'a.md', 'b.md')).toMatchObject({
    stdout: 'a.md:5:6  PHOTO.png  local\nb.md:5:6  PHOTO.png  local\n',
    stderr: '2 local references in 2 documents.\n',
  });
  await writeFile(at('mkdocs.yml'), 'site_name: A\n');
  await mkdir(at('.obsidian'));
  const {stdout, stderr} = await rewrite('--check', 'a.md', 'b.md');
  expect(stdout.match(/^.*photo/gm)).toEqual(['a.md:3:10  photo', 'b.md:3:10  photo']);
  expect(stderr).toBe(
    'Markdown is read as in MkDocs, since there is mkdocs.yml.\nFiles are also found by name, as in Obsidian, since there is .obsidian.\n4 local references in 2 documents.\n',
  );
  const json = await rewrite('--check', '--ndjson', 'a.md', 'b.md');
  expect(
    json.stderr
      .split('\n')
      .slice(0, 2)
      .map(line => JSON.parse(line)),
  ).toEqual([
    {dialect: {projectFile: 'mkdocs.yml', documents: 2}},
    {dialect: {projectFile: '.obsidian', documents: 2}},
  ]);
  expect(await rewrite('--check', '--ndjson', '--quiet', 'a.md')).toMatchObject({stderr: ''});
});

test('tags, attributes, extensions and definitions with the names of JavaScript: documents like any other', async () => {
  const names = Object.getOwnPropertyNames(Object.prototype);
  const tags = names.map(name => `<${name}></${name}><p ${name}="${name}.png"></p>`).join('\n');
  const labels = names.map(name => `![${name}]`).join('\n');
  const html = (src: string) => `${tags}\n<img src="${src}">\n`;
  const markdown = (src: string) => `${tags}\n\n${labels}\n\n![a](${src})\n`;
  const {rewrite, text, at, urls} = await machine();
  await mkdir(at('docs'));
  await writeFile(at('docs/a.html'), html('../photo.png'));
  await writeFile(at('docs/b.md'), markdown('../photo.png'));
  for (const name of names) await writeFile(at(`docs/x.${name}`), '![a](../photo.png)');
  const run = await rewrite('--write', '--root', '.', 'docs');
  expect(run.stderr).not.toMatch(/^media:/m);
  expect(run).toMatchObject({stdout: 'docs/a.html: 1 URL\ndocs/b.md: 1 URL\n', exitCode: 0});
  const url = (await urls())('photo.png');
  expect([await text('docs/a.html'), await text('docs/b.md')]).toEqual([html(url), markdown(url)]);
  expect(await rewrite('docs/x.constructor')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('is not a Markdown, HTML or CSS file'),
  });
});

describe('what cannot be uploaded', () => {
  const document =
    '![a](photo.png)\n![b](gone.png) <img src="page-named.png">\n![c](../secret.png) ![d](link.png) ![e](/etc/hostname)\n';

  test('missing, no media, outside the root, also by a link: each with its place, exit 1, nothing sent or written', async () => {
    const {at, sandbox, rewrite, stored, text} = await machine({'a.md': document});
    await copyFile(fixture('photo.png'), join(sandbox.directory, 'secret.png'));
    await symlink('../secret.png', at('link.png'));
    const {stdout, stderr, exitCode} = await rewrite('--write', 'a.md');
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(stderr.split('\n').filter(line => line.startsWith('media:'))).toEqual([
      'media: a.md:2:6: gone.png does not exist.',
      expect.stringMatching(/^media: a\.md:2:26: page-named\.png is not recognised as an image or a video/),
      'media: a.md:3:6: ../secret.png is outside the root directory.',
      'media: a.md:3:26: link.png is outside the root directory.',
      'media: a.md:3:41: /etc/hostname does not exist.',
    ]);
    const check = await rewrite('--check', '--ci', '--ndjson', 'a.md');
    const lines = check.stdout.trimEnd().split('\n');
    const codes = [undefined, 'file_missing', 'not_media', 'outside_root', 'outside_root', 'file_missing'];
    expect(lines.map(line => JSON.parse(line)).map(({status, error}) => [status, error?.code])).toEqual(
      codes.map(code => ['local', code]),
    );
    const annotations = check.stderr.split('\n').filter(line => line.startsWith('::error'));
    expect(annotations.filter(line => line.includes('rewrite --write'))).toEqual([
      expect.stringContaining('::photo.png is a local file.'),
    ]);
    expect(check.stderr).toContain('title=media rewrite%3A file_missing::gone.png does not exist.');
    expect([await stored(), await text('a.md')]).toEqual([0, document]);
  });

  test('among other documents: only its document stays as it is, exit 3; what only that one names is not sent', async () => {
    const {rewrite, text, urls, stored} = await machine({
      'a.md': '![a](gone.png) ![b](clip.mp4)\n',
      'b.md': '![b](photo.png)\n',
      'c.md': 'No picture.\n',
    });
    const dry = await rewrite('a.md', 'b.md');
    expect(dry).toMatchObject({stdout: 'b.md:1:6  photo.png  checked\n', exitCode: 3});
    const run = await rewrite('--write', '.');
    expect(run).toMatchObject({stdout: 'b.md: 1 URL\n', exitCode: 3});
    expect(run.stderr).toContain('media: a.md:1:6: gone.png does not exist.\n');
    expect(run.stderr).toContain('1 document stays as it is.');
    expect(await text('b.md')).toBe(`![b](${(await urls())('photo.png')})\n`);
    expect([await stored(), await text('a.md')]).toEqual([1, '![a](gone.png) ![b](clip.mp4)\n']);
    expect(await rewrite('--out-dir', 'out', 'a.md', 'c.md')).toMatchObject({
      stdout: 'c.md: 0 URLs\n',
      exitCode: 1,
    });
    expect(await rewrite('--check', 'a.md', 'c.md')).toMatchObject({exitCode: 1});
  });

  test('--allow-missing: the rest is rewritten', async () => {
    const {rewrite, text, urls} = await machine({'a.md': document});
    expect((await rewrite('--write', '--allow-missing', 'a.md')).exitCode).toBe(0);
    expect(await text('a.md')).toBe(document.replace('photo.png', (await urls())('photo.png')));
  });

  test('a service that refuses one file: the others are written, exit 3, the rest listed', async () => {
    const {url} = await scriptedServer(async connection => {
      const {head} = await connection.request();
      if (head.includes('content-type: video/mp4')) connection.answer(422, '{"message":"No videos."}');
      else connection.answer(200, '{"id":"m_1","fileUrl":"https://cdn.test/a(1).png?x=1&copy;=2"}');
    });
    const box = await sandboxFor(url);
    for (const name of ['photo.png', 'clip.mp4']) await copyFile(fixture(name), join(box.directory, name));
    const document = '![a](photo.png) <img src=photo.png>\n<video src="clip.mp4"></video>\n';
    await writeFile(join(box.directory, 'a.md'), document);
    const summary = join(box.directory, 'summary');
    Object.assign(box.env, {GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary});
    const {stderr, exitCode, stdout} = await box.run(['rewrite', '--write', '--ci', 'a.md']);
    expect({stdout, exitCode}).toEqual({stdout: 'a.md: 2 URLs\n', exitCode: 3});
    expect(stderr).toMatch(/^::error file=clip\.mp4,title=media upload%3A rejected::/m);
    expect(await readFile(summary, 'utf8')).toMatch(
      /\n\| clip\.mp4 \| failed \|.*\n\| photo\.png \| uploaded \|/,
    );
    expect(stderr).toMatch(/clip\.mp4.*No videos/);
    expect(await readFile(join(box.directory, 'a.md'), 'utf8')).toBe(
      '![a](https://cdn.test/a%281%29.png?x=1&amp;copy;=2) <img src="https://cdn.test/a%281%29.png?x=1&amp;copy;=2">\n<video src="clip.mp4"></video>\n',
    );
  });

  test('a document that changes during the upload: not overwritten, named, exit 3', async () => {
    let change = async () => {};
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      await change();
      connection.answer(200, '{"id":"m_1","fileUrl":"https://cdn.test/a.png"}');
    });
    const box = await sandboxFor(url);
    await copyFile(fixture('photo.png'), join(box.directory, 'photo.png'));
    const [a, b] = ['a.md', 'b.md'].map(name => join(box.directory, name)) as [string, string];
    for (const path of [a, b]) await writeFile(path, '![a](photo.png)');
    change = () => writeFile(a, 'Something else.');
    const {stderr, exitCode, stdout} = await box.run(['rewrite', '--write', 'a.md', 'b.md']);
    expect({stdout, exitCode}).toEqual({stdout: 'b.md: 1 URL\n', exitCode: 3});
    expect(stderr).toContain('a.md changed during the upload; it was not overwritten.');
    expect(await Promise.all([a, b].map(path => readFile(path, 'utf8')))).toEqual([
      'Something else.',
      '![a](https://cdn.test/a.png)',
    ]);
    expect((await readdir(box.directory)).filter(name => name.startsWith('.media-'))).toEqual([]);
  });
});

test('mode, links, line endings, byte order marks and encodings of documents: kept', async () => {
  const latin = Buffer.from('caf\xe9 ![a](photo.png) \xff\r\n', 'latin1');
  const wide = Buffer.from('\ufeffé ![a](photo.png)\r\n', 'utf16le');
  const {at, rewrite, urls} = await machine({'latin.md': latin, 'wide.md': wide});
  await mkdir(at('real'));
  await writeFile(at('real/doc.md'), '\ufeff![a](photo.png)\r\n', {mode: 0o640});
  await symlink('real/doc.md', at('doc.md'));
  expect((await rewrite('--write', 'doc.md', 'latin.md', 'wide.md')).exitCode).toBe(0);
  const url = (await urls())('photo.png');
  expect(await readFile(at('latin.md'), 'latin1')).toBe(`caf\xe9 ![a](${url}) \xff\r\n`);
  expect(await readFile(at('wide.md'), 'utf16le')).toBe(`\ufeffé ![a](${url})\r\n`);
  expect(await readFile(at('real/doc.md'), 'utf8')).toBe(`\ufeff![a](${url})\r\n`);
  expect((await stat(at('real/doc.md'))).mode & 0o777).toBe(0o640);
  expect((await lstat(at('doc.md'))).isSymbolicLink()).toBe(true);
});

test('the same content under several names: uploaded once, even with --no-once', async () => {
  const {at, rewrite, stored, text} = await machine({'a.md': '![a](photo.png) ![b](copy.png)'});
  await copyFile(at('photo.png'), at('copy.png'));
  expect((await rewrite('--write', '--no-once', 'a.md')).exitCode).toBe(0);
  expect(await stored()).toBe(1);
  expect(await text('a.md')).toMatch(/^!\[a\]\((http\S+)\) !\[b\]\(\1\)$/);
});

test('--manifest: URLs come from it, by content, and what it lacks is uploaded and added', async () => {
  const {at, rewrite, stored, text, sandbox, service} = await machine({'a.md': '![a](photo.png)'});
  const manifest = async () => JSON.parse(await text('media.json'));
  const first = await rewrite('--write', 'a.md', '--manifest', 'media.json');
  expect(first).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining('media.json: 1 added, 0 changed, 0 unchanged\n'),
  });
  const {url} = (await manifest()).files['photo.png'];
  expect(await text('a.md')).toBe(`![a](${url})`);
  // The same content elsewhere has the URL, without a request or a key, from any directory.
  const bytes = await text('media.json');
  await mkdir(at('docs'));
  await copyFile(at('photo.png'), at('docs/copy.png'));
  await writeFile(at('docs/b.md'), '![b](copy.png) ![b](../photo.png)');
  await writeFile(at('media.json'), bytes.replace(/ {2}"serviceId".*\n/, ''));
  const {MEDIA_API_KEY: _, ...env} = sandbox.env;
  const words = ['rewrite', '--write', 'b.md', '--root', '..', '--manifest', '../media.json'];
  expect(await sandbox.run(words, {cwd: at('docs'), env})).toMatchObject({exitCode: 0});
  expect(await text('docs/b.md')).toBe(`![b](${url}) ![b](${url})`);
  expect((await manifest()).files['docs/copy.png'].url).toBe(url);
  expect(await stored()).toBe(1);
  // Other content under a known path has no URL there yet.
  await writeFile(at('media.json'), bytes);
  await appendFile(at('photo.png'), 'changed');
  await writeFile(at('a.md'), '![a](photo.png)');
  expect(await rewrite('--write', 'a.md', '--manifest', 'media.json')).toMatchObject({exitCode: 0});
  expect(await stored()).toBe(2);
  const changed = (await manifest()).files['photo.png'].url;
  expect(await text('a.md')).toBe(`![a](${changed})`);
  expect(changed).not.toBe(url);
  expect(await service.records()).toHaveLength(2);
});

test.each([
  ['javascript:alert(1)', 'no_url'],
  ['file:///etc/passwd', 'no_url'],
])('--manifest: %s is not inserted', async (url, code) => {
  const {at, rewrite, text} = await machine({'a.md': '![a](photo.png)'});
  await rewrite('--write', 'a.md', '--manifest', 'media.json');
  await writeFile(
    at('media.json'),
    (await text('media.json')).replaceAll(/"http:[^"]*files[^"]*"/g, `"${url}"`),
  );
  await writeFile(at('a.md'), '![a](photo.png)');
  const {exitCode, stdout} = await rewrite('--write', '--ndjson', 'a.md', '--manifest', 'media.json');
  expect({exitCode, code: JSON.parse(stdout).error.code}).toEqual({exitCode: 1, code});
  expect(await text('a.md')).toBe('![a](photo.png)');
});

test('--manifest: --check and a dry run neither need nor write it; no two memories', async () => {
  const {at, rewrite, stored} = await machine({'a.md': '![a](photo.png)'});
  expect(await rewrite('--check', 'a.md', '--manifest', 'media.json')).toMatchObject({exitCode: 1});
  expect(await rewrite('a.md', '--manifest', 'media.json')).toMatchObject({exitCode: 0});
  expect((await readdir(at('.'))).filter(name => name.includes('media'))).toEqual([]);
  for (const other of [['--journal', 'j'], ['--no-once']])
    expect((await rewrite('a.md', '--manifest', 'media.json', ...other)).exitCode).toBe(2);
  expect(await stored()).toBe(0);
  // A dry run says what the manifest has.
  expect((await rewrite('a.md', '--manifest', 'media.json')).stdout).toBe('a.md:1:6  photo.png  checked\n');
  expect(await rewrite('--write', 'a.md', '--manifest', 'media.json')).toMatchObject({exitCode: 0});
  await writeFile(at('a.md'), '![a](photo.png)');
  expect((await rewrite('a.md', '--manifest', 'media.json')).stdout).toBe('a.md:1:6  photo.png  skipped\n');
});

test("--journal: recorded there, not in this machine's own", async () => {
  const {at, rewrite, stored, text} = await machine({'a.md': '![a](photo.png)', 'b.md': '![a](photo.png)'});
  for (const name of ['a.md', 'b.md'])
    expect(await rewrite('--write', name, '--journal', 'j')).toMatchObject({exitCode: 0});
  expect(await text('b.md')).toBe(await text('a.md'));
  expect(await readFile(at('j'), 'utf8')).toContain('"event":"done"');
  expect(await stored()).toBe(1);
});
