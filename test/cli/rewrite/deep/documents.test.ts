import {
  chmod,
  chown,
  copyFile,
  link,
  mkdir,
  readdir,
  readFile,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, test} from 'vitest';
import {sandboxFor} from '../../../engine/service/program.ts';
import {connectedSandbox} from '../../../support/embedded.ts';
import {eventually} from '../../../support/eventually.ts';
import {rawControl} from '../../../support/experiment/hostile-text.ts';
import {fixture, mediaInShell} from '../../../support/media.ts';
import {scriptedServer} from '../../../support/scripted-server.ts';

/** A machine with these documents in its working directory, and a photo beside them. */
async function machine(documents: Readonly<Record<string, string | Uint8Array>> = {}) {
  const {sandbox, service} = await connectedSandbox();
  sandbox.env['GITHUB_ACTIONS'] = 'true';
  const at = (name: string) => join(sandbox.directory, 'work', name);
  await mkdir(at('.'));
  await copyFile(fixture('photo.png'), at('photo.png'));
  for (const [name, text] of Object.entries(documents)) await writeFile(at(name), text);
  return {
    at,
    env: sandbox.env,
    bytes: (name: string) => readFile(at(name)),
    rewrite: (...parameters: string[]) => sandbox.run(['rewrite', ...parameters], {cwd: at('.')}),
    start: (...parameters: string[]) =>
      sandbox.start(['rewrite', ...parameters], {cwd: at('.'), buffer: false}),
    url: async () => String((await service.records())[0]?.record.fileUrl),
    stored: async () => (await service.records()).length,
  };
}

const document = '![a](photo.png)\n';

describe('a document that is too complex', () => {
  // The image is a level, too.
  const deep = (levels: number) => `${'> '.repeat(levels - 1)}![a](photo.png)\n`;
  const long = (bytes: number) => `${document}${'x'.repeat(bytes - document.length)}`;
  const mebibytes4 = 4 * 1024 * 1024;

  test('more than 1,000 levels, more than 4 MiB: named, the others are rewritten, exit 3', async () => {
    const documents = {
      'a.md': deep(1_001),
      'b.md': deep(1_000),
      'c.css': long(mebibytes4 + 1),
      'd.css': 'a {background: url(photo.png)}'.padEnd(mebibytes4),
    };
    const {rewrite, bytes, url} = await machine(documents);
    const run = await rewrite('--write', '.');
    expect(run).toMatchObject({stdout: 'b.md: 1 URL\nd.css: 1 URL\n', exitCode: 3});
    expect(run.stderr).toContain('media: a.md is too complex: it is nested more than 1,000 levels deep.\n  ');
    expect(run.stderr).toContain('media: c.css is too large: more than 4 MiB.\n  ');
    expect((await bytes('b.md')).toString()).toBe(documents['b.md'].replace('photo.png', await url()));
    expect((await bytes('a.md')).toString()).toBe(documents['a.md']);
  });

  test('--check, --ndjson, --ci: a line and an annotation for it, exit 1; nothing else left: exit 1', async () => {
    const {rewrite, stored} = await machine({'a.md': deep(1_001), 'b.md': 'Text.\n'});
    const check = await rewrite('--check', '--ndjson', '--ci', '.');
    expect(check.exitCode).toBe(1);
    expect(JSON.parse(check.stdout)).toMatchObject({
      file: 'a.md',
      status: 'failed',
      error: {code: 'document_too_complex', hint: expect.any(String)},
    });
    expect(check.stderr).toMatch(
      /^::error file=a\.md,line=1,col=1,title=media rewrite%3A document_too_complex::/m,
    );
    for (const mode of [['--write'], ['--out-dir', 'out'], []])
      expect(await rewrite(...mode, '.')).toMatchObject({exitCode: 1});
    expect(await rewrite('--stdout', 'a.md')).toMatchObject({stdout: '', exitCode: 1});
    expect(await stored()).toBe(0);
  });
});

describe('what is not text', () => {
  test('a FIFO, zero bytes, UTF-16 without a byte order mark, UTF-32: named, the others are rewritten, exit 3', async () => {
    const {at, rewrite, bytes} = await machine({
      'a.md': document,
      'little.md': Buffer.from(document, 'utf16le'),
      'zero.md': `${document}\0`,
      'utf32le.md': Buffer.concat([Buffer.of(0xff, 0xfe, 0, 0), Buffer.from('!\0\0\0')]),
      'utf32be.md': Buffer.concat([Buffer.of(0, 0, 0xfe, 0xff), Buffer.from('\0\0\0!')]),
    });
    await execa('mkfifo', [at('pipe.md')]);
    const names = ['pipe.md', 'little.md', 'zero.md', 'utf32le.md', 'utf32be.md'];
    const run = await rewrite('--write', ...names, 'a.md');
    expect(run).toMatchObject({stdout: 'a.md: 1 URL\n', exitCode: 3});
    const failures = run.stderr.split('\n').filter(line => line.startsWith('media:'));
    expect(failures).toEqual([
      'media: pipe.md is not a regular file.',
      'media: little.md contains zero bytes, as UTF-16 and UTF-32 without a byte order mark do.',
      'media: zero.md contains zero bytes, as UTF-16 and UTF-32 without a byte order mark do.',
      'media: utf32le.md is in UTF-32, which is not supported.',
      'media: utf32be.md is in UTF-32, which is not supported.',
    ]);
    expect(await bytes('little.md')).toEqual(Buffer.from(document, 'utf16le'));
  });

  test.runIf(process.platform === 'linux')(
    'the name of the working directory: said of each local file',
    async () => {
      const {at, env} = await machine({'a.md': '![a](photo.png)\n', 'b.md': 'Text.\n'});
      const lines = `media() { ${mediaInShell} "$@"; }; d=$(printf 'caf\\351'); mkdir "$d"; cp *.md photo.png "$d"; cd "$d"`;
      const {stderr, exitCode} = await execa('bash', ['-c', `${lines}; media rewrite --write a.md b.md`], {
        ...{cwd: at('.'), env, extendEnv: false, reject: false},
      });
      const sentence =
        'photo.png cannot be looked for, since the path of the directory of a.md is not UTF-8.';
      expect(stderr).toContain(`media: a.md:1:6: ${sentence}\n  Rename`);
      expect([stderr.includes('does not exist'), stderr.includes('b.md'), exitCode]).toEqual([
        false,
        false,
        1,
      ]);
    },
  );

  test('UTF-16 with a byte order mark, either way: every other byte as before', async () => {
    const wide = (text: string) => Buffer.from(`\ufeffé 写 ${text}\r\n`, 'utf16le');
    const {rewrite, bytes, url} = await machine({
      'big.md': wide('![a](photo.png)').swap16(),
      'little.md': wide('![a](photo.png)'),
    });
    expect(await rewrite('--write', '.')).toMatchObject({exitCode: 0});
    const after = wide(`![a](${await url()})`);
    expect(await bytes('little.md')).toEqual(after);
    expect((await bytes('big.md')).swap16()).toEqual(after);
  });
});

describe('--write', () => {
  test('a document with another name (hard link): refused by name, the others are written', async () => {
    const {at, rewrite, bytes} = await machine({'a.md': document, 'b.md': document});
    await link(at('a.md'), at('other.txt'));
    const run = await rewrite('--write', '.');
    expect(run).toMatchObject({stdout: 'b.md: 1 URL\n', exitCode: 3});
    expect(run.stderr).toContain('media: a.md could not be written: it has several names (hard links).\n  ');
    expect((await bytes('a.md')).toString()).toBe(document);
    expect((await stat(at('other.txt'))).nlink).toBe(2);
    const inCi = await rewrite('--write', '--ndjson', '--ci', 'a.md');
    expect(inCi.exitCode).toBe(1);
    expect(inCi.stdout.split('\n', 1).map(line => JSON.parse(line))).toEqual([
      {file: 'a.md', status: 'failed', error: expect.objectContaining({code: 'local_failure'})},
    ]);
    expect(inCi.stderr).toMatch(/^::error file=a\.md,line=1,col=1,title=media rewrite%3A local_failure::/m);
  });

  test('more documents than are written at a time: all of them', async () => {
    const names = Array.from({length: 40}, (_, index) => `${10 + index}.md`);
    const {rewrite, bytes, url} = await machine(Object.fromEntries(names.map(name => [name, document])));
    const run = await rewrite('--write', '.');
    expect(run).toMatchObject({stdout: names.map(name => `${name}: 1 URL\n`).join(''), exitCode: 0});
    const after = document.replace('photo.png', await url());
    for (const name of names) expect((await bytes(name)).toString()).toBe(after);
  });

  test('a name as long as names can be: written, in place and to a directory', async () => {
    const name = `${'写'.repeat(84)}.md`;
    const {rewrite, bytes, url} = await machine({[name]: document});
    for (const mode of [['--out-dir', 'out'], ['--write']])
      expect(await rewrite(...mode, name)).toMatchObject({stdout: `${name}: 1 URL\n`, exitCode: 0});
    for (const path of [name, `out/${name}`])
      expect((await bytes(path)).toString()).toBe(document.replace('photo.png', await url()));
  });

  test.skipIf(process.getuid?.() !== 0)('as root: owner, group and mode are kept', async () => {
    const {at, rewrite} = await machine({'a.md': document});
    await chown(at('a.md'), 1234, 4321);
    await chmod(at('a.md'), 0o2640);
    expect((await rewrite('--write', 'a.md')).stdout).toBe('a.md: 1 URL\n');
    expect(await stat(at('a.md'))).toMatchObject({uid: 1234, gid: 4321, mode: 0o102640});
  });

  test('what another run has put in place during the upload is no conflict; anything else is', async () => {
    let change = async () => {};
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      await change();
      connection.answer(200, '{"id":"m_1","fileUrl":"https://cdn.test/a.png"}');
    });
    const box = await sandboxFor(url);
    const [a, b, c] = ['a.md', 'b.md', 'c.md'].map(name => join(box.directory, name)) as [
      string,
      string,
      string,
    ];
    await copyFile(fixture('photo.png'), join(box.directory, 'photo.png'));
    const before = 'é ![a](photo.png) and ![[photo.png|b]] and <img src=photo.png>\r\n';
    const placed = 'https://cdn.test/a.png';
    const after = `é ![a](${placed}) and ![photo.png|b](${placed}) and <img src="${placed}">\r\n`;
    for (const path of [a, b, c]) await writeFile(path, before);
    change = async () => {
      await writeFile(a, after);
      await writeFile(b, `${after}More.\n`);
      await writeFile(c, before.replace('photo.png', 'https://cdn.test/a.png'));
    };
    const {stderr, exitCode} = await box.run(['rewrite', '--write', 'a.md', 'b.md', 'c.md']);
    expect(exitCode).toBe(1);
    expect(stderr.match(/^media: .*/gm)).toEqual([
      'media: b.md changed during the upload; it was not overwritten.',
      'media: c.md changed during the upload; it was not overwritten.',
    ]);
    expect(await readFile(a, 'utf8')).toBe(after);
    for (const path of [a, b, c]) await writeFile(path, before);
    change = () => writeFile(a, after);
    const again = await box.run(['rewrite', '--write', '--no-once', 'a.md', 'b.md', 'c.md']);
    expect(again).toMatchObject({stdout: 'b.md: 3 URLs\nc.md: 3 URLs\n', exitCode: 0});
    for (const path of [a, b, c]) expect(await readFile(path, 'utf8')).toBe(after);
    expect((await readdir(box.directory)).filter(name => name.startsWith('.media-'))).toEqual([]);
  });
});

test('documents that several inputs lead to: written and counted once, to --out-dir too', async () => {
  const {rewrite, bytes, at} = await machine({'a.md': document, 'b.md': document});
  await symlink('.', at('here'));
  const inputs = ['here/b.md', '.', './a.md', 'a.md'];
  const mirrored = await rewrite('--out-dir', '../out', ...inputs);
  expect(mirrored).toMatchObject({stdout: 'here/b.md: 1 URL\na.md: 1 URL\n', exitCode: 0});
  expect(await bytes('../out/a.md')).toEqual(await bytes('../out/b.md'));
  const written = await rewrite('--write', ...inputs);
  expect(written).toMatchObject({stdout: 'here/b.md: 1 URL\na.md: 1 URL\n', exitCode: 0});
  expect(written.stderr).toContain('2 local references in 2 documents');
});

test('names that may control a terminal: escaped wherever they are printed', async () => {
  const name = 'a\u001b[2J.md';
  const {rewrite} = await machine({[name]: '![a](<b\u001b[2J.png>) ![c](photo.png)\n'});
  for (const parameters of [
    ['--check'],
    ['--check', '--ndjson', '--ci'],
    ['--allow-missing'],
    ['--write', '--allow-missing'],
  ]) {
    const {stdout, stderr} = await rewrite(...parameters, name);
    expect(stdout + stderr).not.toMatch(rawControl);
    expect(stdout + stderr).toContain('\\u001b[2J');
  }
});

test('--journal: in that one, and not in the memory of this machine', async () => {
  const {rewrite, bytes, url, stored} = await machine({'a.md': document, 'b.md': document, 'c.md': document});
  for (const name of ['a.md', 'b.md']) await rewrite('--write', '--journal', 'j', name);
  expect((await bytes('j')).toString()).toContain((await url()).split('/').at(-1));
  expect(await stored()).toBe(1);
  await rewrite('--write', 'c.md');
  expect(await stored()).toBe(2);
});

test.each(['', ',"fileUrl":"javascript:alert(1)"'])(
  'a record without a URL of the web (%s): its references stay as they are, each is reported, exit 1, or 3 with others',
  async fields => {
    const {url} = await scriptedServer(async connection => {
      const {head} = await connection.request();
      const isPhoto = head.includes('content-type: image/png');
      connection.answer(200, isPhoto ? `{"id":"m_1"${fields}}` : '{"id":"m_2","fileUrl":"https://c/2"}');
    });
    const box = await sandboxFor(url, {GITHUB_ACTIONS: 'true'});
    for (const name of ['photo.png', 'photo.jpg']) await copyFile(fixture(name), join(box.directory, name));
    const text = '![a](photo.png)\n![b](photo.png)\n';
    await writeFile(join(box.directory, 'a.md'), text);
    await writeFile(join(box.directory, 'b.md'), '![a](photo.jpg)\n![b](photo.png)\n');
    const sentence = 'photo.png was stored, but the service returned no web URL for it.';
    // The second run sends nothing.
    for (let run = 0; run < 2; run += 1) {
      const {stdout, stderr, exitCode} = await box.run(['rewrite', '--write', '--ci', 'a.md']);
      expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
      for (const line of [1, 2]) {
        expect(stderr).toContain(`media: a.md:${line}:6: ${sentence}\n`);
        expect(stderr).toContain(
          `::error file=a.md,line=${line},col=6,title=media rewrite%3A no_url::${sentence}`,
        );
      }
      expect(stderr.match(/::error/g)).toHaveLength(2);
      expect(stderr).not.toContain('warning');
    }
    expect(await readFile(join(box.directory, 'a.md'), 'utf8')).toBe(text);
    const {stdout, exitCode} = await box.run(['rewrite', '--write', '--ndjson', 'b.md']);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(lines.map(({status, url, error}) => [status, url, error?.code])).toEqual([
      ['uploaded', 'https://c/2', undefined],
      ['skipped', undefined, 'no_url'],
    ]);
    expect(exitCode).toBe(3);
    expect(await readFile(join(box.directory, 'b.md'), 'utf8')).toBe('![a](https://c/2)\n![b](photo.png)\n');
  },
);

test('--out-dir: nobody may read a copy who may not read the document', async () => {
  const {at, rewrite} = await machine({'a.md': document, 'b.md': document});
  await mkdir(at('out'));
  await writeFile(at('out/a.md'), 'An earlier copy.');
  for (const name of ['a.md', 'b.md']) await chmod(at(name), 0o600);
  expect(await rewrite('--out-dir', 'out', 'a.md', 'b.md')).toMatchObject({exitCode: 0});
  for (const name of ['out/a.md', 'out/b.md']) expect((await stat(at(name))).mode & 0o777).toBe(0o600);
});

test('--out-dir that leads to the documents by links: a usage error, nothing is overwritten', async () => {
  const {at, rewrite, bytes, stored} = await machine();
  await mkdir(at('docs/deep'), {recursive: true});
  await mkdir(at('out'));
  for (const name of ['docs/a.md', 'docs/deep/b.md']) await writeFile(at(name), '![a](../photo.png)');
  await symlink('docs', at('link'));
  await symlink('../docs/deep', at('out/deep'));
  for (const [directory, inputs, name] of [
    ['link', ['docs'], 'docs/a.md'],
    ['docs', ['link'], 'link/a.md'],
    ['out', ['docs'], 'docs/deep/b.md'],
    ['docs', ['docs/deep/b.md', 'docs/a.md'], 'docs/a.md'],
  ] as const) {
    const run = await rewrite('--out-dir', directory, '--root', '.', ...inputs);
    expect(run).toMatchObject({exitCode: 2, stdout: ''});
    expect(run.stderr).toContain(`--out-dir would overwrite ${name}.`);
  }
  expect((await bytes('docs/a.md')).toString()).toBe('![a](../photo.png)');
  expect(await stored()).toBe(0);
});

test('--out-dir around the documents: a usage error, since it has others; one among them by a link: not read', async () => {
  const {at, rewrite, bytes, stored} = await machine({'a.md': 'Another document.\n'});
  await mkdir(at('docs'));
  await writeFile(at('docs/a.md'), '![a](../photo.png)');
  await symlink('.', at('link'));
  for (const [directory, input] of [
    ['.', 'docs'],
    ['link', 'docs/a.md'],
    ['.', 'link/docs'],
  ] as const) {
    const run = await rewrite('--out-dir', directory, '--root', '.', input);
    expect(run).toMatchObject({exitCode: 2, stdout: ''});
    expect(run.stderr).toContain(`--out-dir contains ${input}: other files could be overwritten.`);
  }
  expect((await bytes('a.md')).toString()).toBe('Another document.\n');
  expect(await stored()).toBe(0);
  for (let run = 0; run < 2; run += 1)
    expect(await rewrite('--out-dir', 'link/docs/out', '--root', '.', 'docs')).toMatchObject({
      stdout: 'docs/a.md: 1 URL\n',
      exitCode: 0,
    });
});

test('SIGINT while documents are written: those begun are finished, and counted', async () => {
  // More names than a pipe and its reader hold: the end is not reached before they are read.
  const names = Array.from({length: 1_500}, (_, index) => `${'name'.repeat(50)}${index}.md`);
  const {at, start} = await machine(Object.fromEntries(names.map(name => [name, 'Text.\n'])));
  const child = start('--out-dir', 'out', '.');
  let stderr = '';
  child.stderr.on('data', chunk => {
    stderr += chunk;
  });
  const written = () => readdir(at('out')).catch(() => []);
  await eventually(async () => (await written()).length > 0);
  child.kill('SIGINT');
  expect((await child).signal).toBe('SIGINT');
  const found = await written();
  expect(stderr).toContain(`media: Stopped by SIGINT: ${found.length} of 1500 documents were written.\n`);
  expect(found.filter(name => name.startsWith('.'))).toEqual([]);
});
