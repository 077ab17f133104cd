import {chmod, link, mkdir, readdir, readFile, stat, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {
  type Bench,
  begin,
  bench,
  header,
  inputOf,
  lookup,
  scope,
  sha256,
  upload,
} from '../../support/journal.ts';
import {checkJsonLine} from '../../support/schemas.ts';
import {contentOf, files, journalOf, media} from './media-journal.ts';

const everyEnd = {
  'a.png': ['done', 'med_1'],
  'b.png': ['failed'],
  'c.png': ['commit'],
  'd.png': ['intent'],
} as const satisfies Record<string, [string, string?]>;

describe('media journal list', () => {
  it('prints status, path and ID or reason, a line each', async () => {
    const one = await bench();
    await journalOf(one, 'j', {...everyEnd});
    expect(await media(one, 'list', 'j')).toMatchObject({
      exitCode: 0,
      stdout: [
        'uploaded  a.png  med_1',
        'failed    b.png  the service refused it',
        'unknown   c.png  sent, but no result is recorded',
        'pending   d.png  not sent completely',
        '',
      ].join('\n'),
    });
  });

  it('--json prints objects, records unchanged', async () => {
    const one = await bench();
    await journalOf(one, 'j', {...everyEnd});
    await one.run(
      async journal => {
        const entry = await begin(journal, inputOf(Buffer.from([0xff]), 'seven b'));
        await entry.commit(sha256('seven b'));
        await entry.recordStored('{"id":9007199254740993,"size":1.0}');
      },
      join(one.directory, 'j'),
    );
    const {stdout, exitCode} = await media(one, 'list', '--json', 'j');
    const lines = stdout.split('\n').slice(0, -1);
    const common = {size: 'content of a.png'.length, journal: 'j', idempotencyKey: expect.any(String)};
    expect(exitCode).toBe(0);
    expect(lines.map(line => JSON.parse(line)).slice(0, 4)).toEqual([
      {file: 'a.png', status: 'uploaded', ...common, record: {id: 'med_1'}},
      {
        file: 'b.png',
        status: 'failed',
        ...common,
        error: {code: 'rejected', message: 'the service refused it'},
      },
      {
        file: 'c.png',
        status: 'unknown',
        ...common,
        error: {code: 'outcome_unknown', message: expect.any(String)},
      },
      {file: 'd.png', status: 'pending', ...common},
    ]);
    expect(lines[4]).toContain('"record":{"id":9007199254740993,"size":1.0}');
    expect(JSON.parse(lines[4] ?? '')).toMatchObject({file: '\ufffd', fileBase64: '/w=='});
    expect((await media(one, 'list', 'j')).stdout).toContain('uploaded  \ufffd  9007199254740993\n');
  });

  it('shows what could steer the terminal as escapes', async () => {
    const one = await bench();
    await journalOf(one, 'j', {'\x1b[2Ja\n\u202eb': ['done', '\x1b]0;x\x07']});
    expect((await media(one, 'list', 'j')).stdout).toBe(
      'uploaded  \\u001b[2Ja\\n\\u202eb  \\u001b]0;x\\u0007\n',
    );
    const {stdout} = await media(one, 'list', '--json', 'j');
    for (const character of '\x1b\x07\u202e') expect(stdout).not.toContain(character);
  });

  it('a failure that a later upload made good is not shown; both contents of a changed file are', async () => {
    const one = await bench();
    await journalOf(one, 'j', {a: ['failed']});
    await journalOf(one, 'j', {a: ['done', 'med_1']});
    await journalOf(one, 'j', {a: ['done', 'med_2']}, 'other content');
    const stored = 'uploaded  a  med_1\nuploaded  a  med_2\n';
    expect((await media(one, 'list', 'j')).stdout).toBe(stored);
    await journalOf(one, 'j', {a: ['failed']}, 'and another one');
    expect((await media(one, 'list', 'j')).stdout).toBe(`${stored}failed    a  the service refused it\n`);
  });

  it('several journals, while one of them is in use', async () => {
    const one = await bench();
    await journalOf(one, 'j', {a: ['done', 'med_1']});
    await one.run(async journal => {
      await upload(journal, inputOf('b'), 'done', 'med_2');
      expect((await media(one, 'list', 'j', 'uploads.ndjson')).stdout).toBe(
        'uploaded  a  med_1\nuploaded  b  med_2\n',
      );
    });
  });

  it('what is missing or damaged: exit status 1', async () => {
    const one = await bench();
    expect(await media(one, 'list', 'missing')).toMatchObject({
      exitCode: 1,
      error: 'The journal missing does not exist.',
    });
    await one.write(`${header}\nx\n{"event":"alive","by":"w"}\n`);
    expect(await media(one, 'list', 'uploads.ndjson')).toMatchObject({
      exitCode: 1,
      stdout: '',
      error: 'The journal uploads.ndjson is damaged: line 2 is not a journal line.',
    });
  });
});

describe('media journal check', () => {
  it('a directory whose files all stand, with other mtimes: exit status 0', async () => {
    const one = await bench();
    await files(one, {'assets/a.png': contentOf('a.png'), 'assets/deep/b.png': contentOf('deep/b.png')});
    // An upload leaves it out.
    await files(one, {'assets/.hidden.png': 'hidden'});
    await journalOf(one, 'j1', {'a.png': ['done', 'med_1']});
    await journalOf(one, 'j2', {'deep/b.png': ['done', 'med_2'], 'elsewhere.png': ['commit']});
    expect(await media(one, 'check', 'j1', 'j2', '--', 'assets')).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: '2 inputs, each recorded exactly once.\n',
      error: undefined,
    });
  });

  it('names what is missing, doubled and unknown: exit status 1', async () => {
    const one = await bench();
    const names = ['absent.png', 'changed.png', 'doubled', 'failed.png', 'fine', 'not-media', 'unknown'];
    // An upload refuses plain text, but nothing that nobody recognises.
    const content = (name: string) => `${name.endsWith('.png') ? '\0'.repeat(57) : ''}${contentOf(name)}`;
    await files(one, Object.fromEntries(names.map(name => [`in/${name}`, content(name)])));
    await journalOf(one, 'j1', {
      doubled: ['done', 'med_1'],
      'failed.png': ['failed'],
      fine: ['done', 'med_2'],
      unknown: ['commit'],
    });
    await journalOf(one, 'j2', {doubled: ['done', 'med_3']});
    await journalOf(one, 'j2', {'changed.png': ['done', 'med_4']}, 'CONTENT');
    const {stdout, stderr, exitCode} = await media(one, 'check', 'j1', 'j2', '--', 'in');
    expect(stdout.split('\n')).toEqual([
      'missing   absent.png  not in any of the journals',
      'missing   changed.png  only stored with different content',
      'doubled   doubled  stored 2 times: med_1, med_3',
      'missing   failed.png  the service refused it',
      'unknown   unknown  sent, but no result is recorded in j1',
      '',
    ]);
    expect(stderr).toContain('1 of 6 inputs is recorded exactly once: 3 missing, 1 doubled, 1 unknown.');
    expect(exitCode).toBe(1);
    const json = await media(one, 'check', '--json', 'j1', 'j2', '--', 'in');
    expect(
      json.stdout
        .split('\n')
        .slice(0, -1)
        .map(line => JSON.parse(line))[2],
    ).toEqual({
      file: 'doubled',
      status: 'doubled',
      reason: 'stored 2 times',
      ids: ['med_1', 'med_3'],
    });
    expect(JSON.parse(json.stderr)).toMatchObject({
      error: {message: '1 of 6 inputs is recorded exactly once: 3 missing, 1 doubled, 1 unknown.'},
    });
  });

  it('a filtered run: --exclude, --files-from and --types as in upload; what an upload refuses is named apart', async () => {
    const one = await bench();
    const kept = contentOf('a.png');
    const because = 'is not recognised as an image or a video: the extension';
    const found = {
      'in/a.png': kept,
      'in/b.psd': '8BPS'.padEnd(40, '\0'),
      'in/page.jpg': '<html></html>',
      'in/none.png': '',
    };
    await files(one, {...found, 'page.pdf': '%PDF-1.7', list: 'in/a.png\n'});
    await journalOf(one, 'j', {'a.png': ['done', 'med_1']});
    const check = (...more: string[]) => media(one, 'check', 'j', ...more);
    expect(await check('--', 'in', 'page.pdf')).toEqual({
      error: undefined,
      exitCode: 1,
      stdout:
        'missing   b.psd  not in any of the journals\n' +
        'refused   none.png  in/none.png is empty: there is nothing to upload.\n' +
        `refused   page.jpg  in/page.jpg ${because} .jpg says image/jpeg, and the bytes are an HTML page.\n` +
        `refused   page.pdf  page.pdf ${because} .pdf is for other files, and the bytes are a PDF document.\n`,
      stderr:
        'media: 1 of 5 inputs is recorded exactly once: 1 missing, 3 refused.\n' +
        '  Upload missing inputs with the same journal. Fix refused inputs, or leave them out with --exclude.\n',
    });
    const excluded = ['--exclude', '*.psd', '--exclude', '{none,page}.*'];
    const stderr = '1 input, each recorded exactly once.\n';
    expect(await check(...excluded, '--', 'in')).toMatchObject({exitCode: 0, stdout: '', stderr});
    expect(await check('--files-from', 'list')).toMatchObject({exitCode: 0, stdout: '', stderr});
    expect(await check('--types', 'strict', '--files-from', 'list')).toMatchObject({exitCode: 0, stderr});
    const merge = (...more: string[]) => media(one, 'merge', '-o', 'all', 'j', ...more);
    expect(await merge('--exclude', '*.psd')).toMatchObject({exitCode: 2});
    expect(await merge('--all')).toMatchObject({exitCode: 2, error: 'No input was given.'});
    await files(one, {lacking: 'in/a.png\nin/b.psd\n'});
    expect(await merge('--files-from', 'lacking')).toMatchObject({
      exitCode: 1,
      stdout: 'missing   in/b.psd  not in any of the journals\n',
    });
    expect(await merge('--', 'in')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('all was not written.'),
    });
    expect(await merge(...excluded, '--', 'in')).toMatchObject({exitCode: 0, stdout: '', stderr});
    expect(await readdir(one.directory)).toContain('all');
  });

  it('renamed, copied, named in another way: its content has its record', async () => {
    const one = await bench();
    await files(one, {'in/a.png': 'content', 'in/copy.png': 'content', '-b': 'other', '--': 'other'});
    await one.run(
      async journal => {
        await upload(journal, inputOf('before.png', 'content'), 'done');
        await upload(journal, inputOf('-b', 'other'), 'done', 'med_2');
      },
      join(one.directory, 'j'),
    );
    expect(await media(one, 'check', 'j', '--', './in/.//a.png', '-b', '--')).toMatchObject({
      stderr: '3 inputs, each recorded exactly once.\n',
    });
    expect(await media(one, 'check', 'j', '--', 'in')).toMatchObject({
      exitCode: 0,
      stderr: '2 inputs, each recorded exactly once.\n',
    });
  });

  it('an input that cannot be read is missing', async () => {
    const one = await bench();
    await mkdir(join(one.directory, 'in'));
    await symlink('nowhere', join(one.directory, 'in/a.png'));
    await symlink('b.png', join(one.directory, 'in/b.png'));
    await journalOf(one, 'j', {'a.png': ['done', 'med_1']});
    expect(await media(one, 'check', 'j', '--', 'in')).toMatchObject({
      exitCode: 1,
      stdout:
        'missing   a.png  in/a.png links to a file that does not exist.\n' +
        'missing   b.png  in/b.png is a symbolic link that leads to itself.\n',
    });
  });

  it('--all, in the directory of the journal: it is not one of the inputs', async () => {
    const one = await bench();
    await files(one, {'a.png': contentOf('a.png')});
    await journalOf(one, 'j', {'a.png': ['done', 'med_1']});
    expect(await media(one, 'check', 'j', '--all', '--', '.')).toMatchObject({
      exitCode: 0,
      stderr: '1 input, each recorded exactly once.\n',
    });
  });

  it('a name that is not UTF-8', async () => {
    const one = await bench();
    const name = Buffer.concat([Buffer.from([0x61, 0xff]), Buffer.from('.png')]);
    await mkdir(join(one.directory, 'in'));
    await writeFile(Buffer.concat([Buffer.from(`${one.directory}/in/`), name]), inputOf(name).content);
    expect(await media(one, 'check', 'j', '--', 'in')).toMatchObject({exitCode: 1});
    await one.run(journal => upload(journal, inputOf(name), 'done'), join(one.directory, 'j'));
    expect(await media(one, 'check', 'j', '--', 'in')).toMatchObject({exitCode: 0});
  });

  it.each([
    ['no --', ['check', 'j', 'in']],
    ['no input', ['check', 'j', '--']],
    ['no journal', ['check', '--', 'in']],
  ])('%s: a usage error with an example', async (_name, parameters) => {
    const one = await bench();
    await journalOf(one, 'j', {});
    if (parameters[1] !== '--') {
      expect(await media(one, ...parameters)).toMatchObject({exitCode: 2, error: 'No input was given.'});
    } else {
      await expect(media(one, ...parameters)).resolves.toMatchObject({
        exitCode: 2,
        error: 'No journal was given.',
      });
    }
  });
});

describe('media journal merge', () => {
  it('writes one journal that knows all', async () => {
    const one = await bench();
    await journalOf(one, 'j1', {a: ['done', 'med_1'], b: ['failed']});
    await journalOf(one, 'j2', {b: ['done', 'med_2']});
    await journalOf(one, 'j2', {b: ['done', 'med_3']}, 'changed');
    expect(await media(one, 'merge', '-o', 'all', 'j1', 'j2')).toMatchObject({
      exitCode: 0,
      stderr: '2 inputs, each recorded exactly once.\n',
    });
    expect((await media(one, 'list', 'all')).stdout).toBe(
      'uploaded  a  med_1\nuploaded  b  med_2\nuploaded  b  med_3\n',
    );
    await one.run(
      async journal => {
        expect(await lookup(journal, inputOf('b', 'changed', 9n))).toMatchObject({
          received: {json: '{"id":"med_3"}'},
        });
        await upload(journal, inputOf('c'), 'done');
      },
      join(one.directory, 'all'),
    );
    expect((await readdir(one.directory)).sort()).toEqual(['all', 'j1', 'j2']);
    expect((await stat(join(one.directory, 'all'))).mode & 0o777).toBe(0o600);
  });

  it('names what is missing, doubled and unknown, and writes nothing', async () => {
    const one = await bench();
    await journalOf(one, 'j1', {a: ['done', 'med_1'], b: ['commit'], c: ['intent'], d: ['done', 'med_4']});
    await journalOf(one, 'j2', {a: ['done', 'med_2'], d: ['failed']});
    await journalOf(one, 'j2', {e: ['done', 'med_5']});
    await journalOf(one, 'j2', {e: ['failed']}, 'changed since, and not stored like this');
    const {stdout, stderr, exitCode} = await media(one, 'merge', '-o', 'all', 'j1', 'j2');
    expect(stdout.split('\n')).toEqual([
      'doubled   a  stored 2 times: med_1, med_2',
      'unknown   b  sent, but no result is recorded in j1',
      'missing   c  not sent completely',
      'missing   e  the service refused it',
      '',
    ]);
    expect(stderr).toBe(
      'media: 1 of 5 inputs is recorded exactly once: 2 missing, 1 doubled, 1 unknown.\n' +
        '  Upload missing inputs with the same journal. Delete the extra copies of doubled inputs at the service. Settle unknown ones with media journal resolve. all was not written.\n',
    );
    expect(exitCode).toBe(1);
    expect((await readdir(one.directory)).sort()).toEqual(['j1', 'j2']);
  });

  it('a journal and its continued copy are one', async () => {
    const one = await bench();
    await journalOf(one, 'j1', {a: ['done', 'med_1'], b: ['commit']});
    await one.write(await one.text(join(one.directory, 'j1')), join(one.directory, 'j2'));
    expect(await media(one, 'resolve', 'j2', 'b', '--uploaded', 'med_2')).toMatchObject({exitCode: 0});
    await journalOf(one, 'j2', {a: ['done', 'med_3']}, 'changed');
    await journalOf(one, 'j2', {c: ['done', 'med_4']});
    expect(await media(one, 'merge', '-o', 'all', 'j1', 'j2', 'j1')).toMatchObject({exitCode: 0, stdout: ''});
    expect((await media(one, 'list', 'all')).stdout).toBe(
      'uploaded  a  med_1\nuploaded  a  med_3\nuploaded  b  med_2\nuploaded  c  med_4\n',
    );
  });

  it('replaces a journal that is not one of them, and nothing else', async () => {
    const one = await bench();
    await journalOf(one, 'j', {a: ['done', 'med_1']});
    await files(one, {'photo.png': 'a photo'});
    await symlink('j', join(one.directory, 'link'));
    for (let time = 0; time < 2; time += 1)
      expect(await media(one, 'merge', '-o', 'all', 'j')).toMatchObject({exitCode: 0});
    expect(await media(one, 'merge', '-o', './j', 'j')).toMatchObject({
      exitCode: 2,
      error: './j is one of the journals to be merged.',
    });
    expect(await media(one, 'merge', '-o', 'link', 'j')).toMatchObject({exitCode: 2});
    expect(await media(one, 'merge', '-o', 'photo.png', 'j')).toMatchObject({
      exitCode: 1,
      error: 'photo.png is not a journal written by media.',
    });
    expect(await one.text(join(one.directory, 'photo.png'))).toBe('a photo');
    const run = await one.open({}, join(one.directory, 'all'));
    expect(await media(one, 'merge', '-o', 'all', 'j')).toMatchObject({
      exitCode: 1,
      error: expect.stringContaining('The journal all is in use by process'),
    });
    await upload(run, inputOf('b'), 'done');
    await run.close();
    expect(await media(one, 'list', 'j')).toMatchObject({stdout: 'uploaded  a  med_1\n'});
  });

  it.each(['done', 'commit'] as const)(
    'keeps a journal with an upload that is in no other: %s',
    async end => {
      const one = await bench();
      await journalOf(one, 'j', {a: ['done', 'med_1']});
      expect(await media(one, 'merge', '-o', 'all', 'j')).toMatchObject({exitCode: 0});
      await journalOf(one, 'all', {b: ['failed']});
      expect(await media(one, 'merge', '-o', 'all', 'j')).toMatchObject({exitCode: 0});
      await journalOf(one, 'all', {b: [end, 'med_2']});
      const before = await one.text(join(one.directory, 'all'));
      expect(await media(one, 'merge', '-o', 'all', 'j')).toMatchObject({
        exitCode: 2,
        error: 'all records what the journals to be merged do not.',
      });
      expect(await one.text(join(one.directory, 'all'))).toBe(before);
      expect((await readdir(one.directory)).sort()).toEqual(['all', 'j']);
    },
  );
});

describe('media journal resolve', () => {
  it.each([
    [['--uploaded', 'med_5'], 'uploaded  a.png  med_5\n'],
    [['--resend'], 'pending   a.png  to be sent again\n'],
  ])('%j settles an unknown', async (flags, listed) => {
    const one = await bench();
    await journalOf(one, 'j', {'a.png': ['commit']});
    expect(await media(one, 'resolve', 'j', './a.png', ...flags)).toMatchObject({exitCode: 0, stdout: ''});
    expect(await media(one, 'list', 'j')).toMatchObject({stdout: listed});
  });

  it.each([
    ['a.png', ['--resend'], 'j contains no unknown upload a.png.'],
    ['b.png', ['--uploaded', 'x'], 'j contains no unknown upload b.png.'],
    ['z.png', ['--resend'], 'j contains no unknown upload z.png.'],
    [
      'c.png',
      ['--resend', '--url', 'https://a.test/b'],
      'Add either --uploaded with the media ID, or --resend.',
    ],
    ['c.png', [], 'Add either --uploaded with the media ID, or --resend.'],
    ['c.png', ['--uploaded', ''], 'Add either --uploaded with the media ID, or --resend.'],
    ['c.png', ['--uploaded', 'x', '--resend'], 'Add either --uploaded with the media ID, or --resend.'],
  ])('%s %j: exit status 2, and nothing is written', async (path, flags, error) => {
    const one = await bench();
    await journalOf(one, 'j', {...everyEnd});
    const before = await one.text(join(one.directory, 'j'));
    expect(await media(one, 'resolve', 'j', path, ...flags)).toMatchObject({exitCode: 2, error});
    expect(await one.text(join(one.directory, 'j'))).toBe(before);
  });

  it('a path with two unknown contents: not settled by the path, whose ID would be a guess, but by the key', async () => {
    const one = await bench();
    for (const content of ['one', 'two']) await journalOf(one, 'j', {'a.png': ['commit']}, content);
    await files(one, {list: 'a.png med_1\n'});
    const error = 'Several uploads match a.png.';
    for (const parameters of [
      ['a.png', '--uploaded', 'med_1'],
      ['a.png', '--resend'],
      ['--all', '--uploaded-from', 'list'],
    ])
      expect(await media(one, 'resolve', 'j', ...parameters)).toMatchObject({exitCode: 2, error});
    const [first = ''] = (await media(one, 'list', '--json', 'j')).stdout.split('\n');
    const {idempotencyKey} = JSON.parse(first);
    expect(await media(one, 'resolve', 'j', idempotencyKey, '--uploaded', 'med_1')).toMatchObject({
      exitCode: 0,
    });
    expect((await media(one, 'list', 'j')).stdout).toBe(
      'uploaded  a.png  med_1\nunknown   a.png  sent, but no result is recorded\n',
    );
    expect(await media(one, 'resolve', 'j', 'a.png', '--resend')).toMatchObject({exitCode: 0});
  });

  it.each(['commit', 'done'] as const)(
    'two paths that are shown alike, since they are not UTF-8 (%s): neither settled nor forgotten by what is shown',
    async end => {
      const one = await bench();
      await one.run(async journal => {
        for (const byte of [0xfe, 0xff])
          await upload(journal, inputOf(Buffer.from([0x61, byte]), `${byte}`), end);
      });
      await files(one, {list: 'a\ufffd med_1\n'});
      const file = 'uploads.ndjson';
      const commands = {
        commit: [
          ['resolve', file, 'a\ufffd', '--resend'],
          ['resolve', file, '--all', '--uploaded-from', 'list'],
        ],
        done: [['forget', file, 'a\ufffd']],
      };
      for (const command of commands[end])
        expect(await media(one, ...command)).toMatchObject({
          exitCode: 2,
          error: 'Several uploads match a\ufffd.',
        });
      expect((await media(one, 'list', file)).stdout).not.toMatch(/pending|forgotten/);
    },
  );

  it('a journal that is in use, not there, or that others may change', async () => {
    const one = await bench();
    await one.run(async journal => {
      await upload(journal, inputOf('a'), 'commit');
      expect(await media(one, 'resolve', 'uploads.ndjson', 'a', '--resend')).toMatchObject({
        exitCode: 1,
        error: expect.stringMatching(/^The journal uploads\.ndjson is in use by process \d+ on /),
      });
    });
    expect(await media(one, 'resolve', 'missing', 'a', '--resend')).toMatchObject({exitCode: 1});
    expect(await readdir(one.directory)).toEqual(['uploads.ndjson']);
    await chmod(one.path, 0o666);
    expect(await media(one, 'resolve', 'uploads.ndjson', 'a', '--resend')).toMatchObject({
      exitCode: 1,
      error: expect.stringMatching(/^Other users may change uploads\.ndjson/),
    });
    expect(await media(one, 'list', 'uploads.ndjson')).toMatchObject({
      stdout: 'unknown   a  sent, but no result is recorded\n',
    });
  });
});

describe('media journal resolve, of many', () => {
  const unknowns = {
    'a.png': ['commit'],
    'b c.png': ['commit'],
    'd.png': ['done', 'med_d'],
  } as const satisfies Record<string, [string, string?]>;

  it('--all --resend: all that is unknown, and nothing else', async () => {
    const one = await bench();
    await journalOf(one, 'j', {...unknowns});
    expect(await media(one, 'resolve', 'j', '--all', '--resend')).toMatchObject({
      exitCode: 0,
      stderr: '2 unknown uploads were settled.\n',
    });
    expect((await media(one, 'list', 'j')).stdout).toBe(
      'pending   a.png  to be sent again\npending   b c.png  to be sent again\nuploaded  d.png  med_d\n',
    );
  });

  it('--all: one that was sent again under another name is settled once', async () => {
    const one = await bench();
    for (const name of ['a.png', 'b.png']) await journalOf(one, 'j', {[name]: ['commit']}, 'same');
    expect(await media(one, 'resolve', 'j', '--all', '--resend')).toMatchObject({
      stderr: 'a.png: the next run sends it again.\n',
    });
    expect((await one.text(join(one.directory, 'j'))).match(/"event":"resolved"/g)).toHaveLength(1);
  });

  it.each([
    ['\n', 'https'],
    ['\r\n', 'http'],
  ])(
    '--all --uploaded-from, lines that end in %j: what the list lacks stays unknown, and is told',
    async (end, scheme) => {
      const one = await bench();
      await journalOf(one, 'j', {...unknowns, 'e.png': ['commit'], 'f.png': ['commit']});
      const lines = [`b c.png med_b ${scheme}://cdn.example/b`, '', `${sha256(contentOf('a.png'))}\tmed_a`];
      await files(one, {list: [...lines, 'z.png med_z', ''].join(end)});
      expect(await media(one, 'resolve', 'j', '--all', '--uploaded-from', 'list')).toMatchObject({
        exitCode: 0,
        stderr: '2 unknown uploads were settled.\n2 are still unknown: media journal list j\n',
      });
      expect((await media(one, 'list', 'j')).stdout).toBe(
        'uploaded  a.png  med_a\nuploaded  b c.png  med_b\nuploaded  d.png  med_d\n' +
          ['e', 'f'].map(name => `unknown   ${name}.png  sent, but no result is recorded\n`).join(''),
      );
      expect((await media(one, 'list', 'j', '--template', '{file} {url}\\n')).stdout).toContain(
        `b c.png ${scheme}://cdn.example/b\n`,
      );
      expect(await media(one, 'resolve', 'j', 'e.png', '--resend')).toMatchObject({
        stderr: 'e.png: the next run sends it again.\n1 is still unknown: media journal list j\n',
      });
    },
  );

  it('a list that is longer than what is read at once, between the bytes of a character: by that path', async () => {
    const one = await bench();
    await journalOf(one, 'j', {'é.png': ['commit']});
    await files(one, {list: `${'\n'.repeat(2 ** 16 - 1)}é.png med_e\n`});
    expect(await media(one, 'resolve', 'j', '--all', '--uploaded-from', 'list')).toMatchObject({exitCode: 0});
    expect((await media(one, 'list', 'j')).stdout).toBe('uploaded  é.png  med_e\n');
  });

  it('one, by the hash of its content', async () => {
    const one = await bench();
    await journalOf(one, 'j', {...unknowns});
    expect(await media(one, 'resolve', 'j', sha256(contentOf('a.png')), '--uploaded', 'med_a')).toMatchObject(
      {
        exitCode: 0,
      },
    );
    expect((await media(one, 'list', 'j')).stdout).toContain('uploaded  a.png  med_a\n');
  });

  it.each([
    [['j', '--resend'], 'Give the path of the upload to settle, or --all.'],
    [['j', 'a.png', '--all', '--resend'], 'Give the path of the upload to settle, or --all.'],
    [['j', '--all', '--uploaded', 'x'], '--all needs a media ID for each upload, not one for all of them.'],
    [['j', '--all', '--uploaded-from', 'bad'], 'Line 1 of bad is not a path followed by a media ID.'],
    [['settled', '--all', '--resend'], 'settled contains no unknown upload.'],
    [['j', 'a.png', '--uploaded-from', 'list'], 'Add either --uploaded with the media ID, or --resend.'],
    [
      ['j', '--all', '--uploaded-from', 'list', '--url', 'https://a.example/'],
      'Add either --uploaded with the media ID, or --resend.',
    ],
    [
      ['j', '--all', '--uploaded-from', 'list', '--resend'],
      'Add either --uploaded with the media ID, or --resend.',
    ],
  ])('%j: exit status 2, and nothing is written', async (parameters, error) => {
    const one = await bench();
    await journalOf(one, 'j', {...unknowns});
    await journalOf(one, 'settled', {'d.png': ['done']});
    await files(one, {bad: 'alone\n', list: 'a.png med_a\n'});
    const before = await one.text(join(one.directory, 'j'));
    expect(await media(one, 'resolve', ...parameters)).toMatchObject({exitCode: 2, error});
    expect(await one.text(join(one.directory, 'j'))).toBe(before);
  });
});

it('media journal list --template: names that are not UTF-8 in the order of all', async () => {
  const one = await bench();
  const odd = Buffer.concat([Buffer.from([0x61, 0xff]), Buffer.from('.png')]);
  await journalOf(one, 'j', {'1.png': ['done', 'med_1']});
  await one.run(journal => upload(journal, inputOf(odd), 'done', 'med_2'), join(one.directory, 'j'));
  await journalOf(one, 'j', {'3.png': ['done', 'med_3']});
  expect((await media(one, 'list', 'j', '--template', '{path}\\0{id}\\0')).stdout.match(/med_\d/g)).toEqual([
    ...['med_1', 'med_2', 'med_3'],
  ]);
});

describe('media journal forget', () => {
  it.each([
    ['a.png', 'its path'],
    ['./a.png', 'another spelling of its path'],
    ['med_1', 'its ID'],
  ])('%s, %s: the next run sends it again', async what => {
    const one = await bench();
    await journalOf(one, 'j', {'a.png': ['done', 'med_1'], 'b.png': ['done', 'med_2']});
    await files(one, {'a.png': contentOf('a.png')});
    expect(await media(one, 'forget', 'j', what)).toMatchObject({exitCode: 0});
    expect((await media(one, 'list', 'j')).stdout).toBe(
      'forgotten  a.png  forgotten; the next run sends it\nuploaded  b.png  med_2\n',
    );
    expect((await media(one, 'list', 'j', '--template', '{id}\\n')).stdout).toBe('med_2\n');
    const [line = ''] = (await media(one, 'list', '--json', 'j')).stdout.split('\n');
    expect(JSON.parse(line)).not.toHaveProperty('error');
    expect(await media(one, 'check', 'j', '--', 'a.png')).toMatchObject({exitCode: 1});
    await journalOf(one, 'j', {'a.png': ['done', 'med_3']});
    expect(await media(one, 'check', 'j', '--', 'a.png')).toMatchObject({exitCode: 0});
  });

  it('a path with two contents: not forgotten by the path, but by the ID', async () => {
    const one = await bench();
    await journalOf(one, 'j', {'a.png': ['done', 'med_1']}, 'one');
    await journalOf(one, 'j', {'a.png': ['done', 'med_2']}, 'two');
    expect(await media(one, 'forget', 'j', 'a.png')).toMatchObject({
      exitCode: 2,
      error: 'Several uploads match a.png.',
    });
    expect((await media(one, 'list', 'j')).stdout).toBe('uploaded  a.png  med_1\nuploaded  a.png  med_2\n');
    expect(await media(one, 'forget', 'j', 'med_1')).toMatchObject({exitCode: 0});
    expect((await media(one, 'list', 'j')).stdout).toBe('uploaded  a.png  med_2\n');
  });

  it.each(['a.png', sha256(contentOf('a.png'))])('%s, sent as two types: both are forgotten', async what => {
    const one = await bench();
    await journalOf(one, 'j', {'a.png': ['done', 'med_1']});
    const other = {...inputOf('a.png'), contentType: 'image/gif', typeRule: 'image/gif'};
    await one.run(journal => upload(journal, other, 'done', 'med_2'), join(one.directory, 'j'));
    expect(await media(one, 'forget', 'j', what)).toMatchObject({exitCode: 0});
    expect((await media(one, 'list', 'j')).stdout).not.toContain('uploaded');
  });

  it('stored as one type and unknown as another: only the stored one is forgotten', async () => {
    const one = await bench();
    await journalOf(one, 'j', {'a.png': ['done', 'med_1']});
    const other = {...inputOf('a.png'), contentType: 'image/gif', typeRule: 'image/gif'};
    await one.run(journal => upload(journal, other, 'commit'), join(one.directory, 'j'));
    expect(await media(one, 'forget', 'j', 'a.png')).toMatchObject({exitCode: 0});
    expect(await media(one, 'list', 'j')).toMatchObject({
      stdout: expect.stringContaining('unknown   a.png  sent, but no result is recorded\n'),
    });
  });

  it('in a merged journal, what two runs have sent under two paths: both are forgotten', async () => {
    const one = await bench();
    for (const [name, id] of [
      ['a.png', 'med_1'],
      ['b.png', 'med_2'],
    ] as const)
      await one.run(journal => upload(journal, inputOf(name, 'same'), 'done', id), join(one.directory, id));
    expect(await media(one, 'merge', '-o', 'j', 'med_1', 'med_2')).toMatchObject({exitCode: 0});
    expect(await media(one, 'forget', 'j', 'a.png')).toMatchObject({exitCode: 0});
    expect((await media(one, 'list', 'j')).stdout).not.toContain('uploaded');
  });

  it('what the journal does not have: exit status 2', async () => {
    const one = await bench();
    await journalOf(one, 'j', {'a.png': ['failed']});
    expect(await media(one, 'forget', 'j', 'a.png')).toMatchObject({
      exitCode: 2,
      error: 'j contains no stored upload a.png.',
    });
  });
});

describe('manifests', () => {
  const line = (key: string, content: string, record = `{"id":"${content}"}`) =>
    `    ${JSON.stringify(key)}: {"sha256": "${sha256(content)}", "size": ${content.length}, "contentType": "image/png", "record": ${record}}`;
  const manifest = (...lines: string[]) =>
    `{\n  "version": 1,\n  "service": "${scope.service}",\n  "files": {\n${lines.join(',\n')}\n  }\n}\n`;
  const read = (one: Bench, name: string) => readFile(join(one.directory, name), 'utf8');

  /** The same with unknown content under some keys. */
  const withUnknown = (text: string, unknown: Record<string, string>) => {
    const rows = Object.entries(unknown).map(
      ([key, content]) =>
        `    ${JSON.stringify(key)}: {"sha256": "${sha256(content)}", "size": ${content.length}, "contentType": "image/png"}`,
    );
    return text.replace(/\n}\n$/, `,\n  "unknown": {\n${rows.join(',\n')}\n  }\n}\n`);
  };

  it('list prints what they know, and what a run that was cut off has left beside them', async () => {
    const one = await bench();
    await files(one, {
      'media.json': withUnknown(manifest(line('10', 'a'), line('b.png', 'a')), {'c.mp4': 'c'}),
    });
    await journalOf(one, 'media.json.journal', {'d.png': ['done', 'med_d'], 'e.png': ['commit']});
    expect(await media(one, 'list', 'media.json')).toMatchObject({
      exitCode: 0,
      stdout: [
        'uploaded  10  a',
        'uploaded  b.png  a',
        'unknown   c.mp4  sent, but no result is recorded',
        'uploaded  d.png  med_d',
        'unknown   e.png  sent, but no result is recorded',
        '',
      ].join('\n'),
    });
    const {stdout} = await media(one, 'list', '--json', 'media.json');
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map(text => JSON.parse(text));
    expect(lines[0]).toEqual({
      ...{file: '10', status: 'uploaded', size: 1, journal: 'media.json', record: {id: 'a'}},
    });
    for (const text of stdout.trimEnd().split('\n')) checkJsonLine('journal-list', text);
    expect(lines.map(({idempotencyKey}) => idempotencyKey !== undefined)).toEqual([
      ...[false, false, false, true, true],
    ]);
  });

  it('resolve works on the manifest, also with what was left beside it', async () => {
    const one = await bench();
    const before = manifest(line('a.png', 'a'));
    await files(one, {'media.json': withUnknown(before, {'c.mp4': 'c', 'd.mp4': 'd', 'g.mp4': 'g'})});
    await journalOf(one, 'media.json.journal', {'e.png': ['commit']});
    for (const [name, ...how] of [
      ['c.mp4', '--resend'],
      [sha256('d'), '--uploaded', 'med_d', '--url', 'https://cdn.example/d'],
      ['e.png', '--uploaded', 'med_e'],
    ] as const)
      expect(await media(one, 'resolve', 'media.json', name, ...how)).toMatchObject({exitCode: 0});
    const d = line('d.mp4', 'd', '{"id":"med_d","fileUrl":"https://cdn.example/d"}');
    const known = [line('a.png', 'a'), d.replace('{', '{"url": "https://cdn.example/d", ')];
    const settled = manifest(...known, line('e.png', contentOf('e.png'), '{"id":"med_e"}'));
    expect(await read(one, 'media.json')).toBe(withUnknown(settled, {'g.mp4': 'g'}));
    expect(await readdir(one.directory)).toEqual(['media.json']);
    expect(await media(one, 'resolve', 'media.json', '--all', '--resend')).toMatchObject({exitCode: 0});
    expect(await read(one, 'media.json')).toBe(settled);
    expect(await media(one, 'resolve', 'media.json', 'a.png', '--resend')).toMatchObject({
      exitCode: 2,
      error: 'media.json contains no unknown upload a.png.',
    });
  });

  it('resolve and forget of what only the journal beside it has', async () => {
    const [one, two] = [await bench(), await bench()];
    for (const {directory} of [one, two])
      await writeFile(join(directory, 'media.json'), manifest(line('a.png', 'a')));
    await journalOf(one, 'media.json.journal', {'e.png': ['commit']});
    expect(await media(one, 'resolve', 'media.json', 'e.png', '--uploaded', 'med_e')).toMatchObject({
      exitCode: 0,
    });
    const e = line('e.png', contentOf('e.png'), '{"id":"med_e"}');
    expect(await read(one, 'media.json')).toBe(manifest(line('a.png', 'a'), e));
    await journalOf(two, 'media.json.journal', {'e.png': ['done', 'med_e']});
    expect(await media(two, 'forget', 'media.json', 'e.png')).toMatchObject({exitCode: 0});
    expect(await read(two, 'media.json')).toBe(manifest(line('a.png', 'a')));
    for (const {directory} of [one, two]) expect(await readdir(directory)).toEqual(['media.json']);
  });

  it.each(['\ufeff', '\ufeff\r\n '])(
    'one that begins with %o, as an editor may leave it: known as one',
    async begin => {
      const one = await bench();
      await files(one, {'media.json': `${begin}${manifest(line('a.png', 'a'))}`});
      expect(await media(one, 'list', 'media.json')).toMatchObject({
        exitCode: 0,
        stdout: 'uploaded  a.png  a\n',
      });
      expect(await media(one, 'forget', 'media.json', 'a.png')).toMatchObject({exitCode: 0});
    },
  );

  it('resolve asks for a content type that the manifest lacks, and settles no copy of that file', async () => {
    const one = await bench();
    const text = withUnknown(manifest(line('a.png', 'a')), {'b.mp4': 'c', 'c.mp4': 'c'});
    const without = text.replace(/, "contentType": "image\/png"(?=}\n {2}}\n}\n$)/, '');
    await files(one, {'media.json': without});
    expect(await media(one, 'resolve', 'media.json', 'c.mp4', '--uploaded', 'med_c')).toMatchObject({
      exitCode: 1,
      error: 'media.json does not say with which content type c.mp4 was sent.',
    });
    expect(await read(one, 'media.json')).toBe(without);
  });

  it('resolve --resend needs no content type, and says what is left', async () => {
    const one = await bench();
    const before = manifest(line('a.png', 'a'));
    const text = withUnknown(before, {'b.mp4': 'b', 'c.mp4': 'c', 'copy-of-b.mp4': 'b'});
    const without = text.replaceAll(/(?<=mp4".*), "contentType": "image\/png"/g, '');
    expect(without).not.toBe(text);
    await files(one, {'media.json': without});
    const sentAgain = 'the next run sends it again.\n';
    for (const [what, notes] of [
      ['b.mp4', `b.mp4: ${sentAgain}1 is still unknown: media journal list media.json\n`],
      ['--all', `c.mp4: ${sentAgain}`],
    ] as const) {
      const {exitCode, stderr} = await media(one, 'resolve', 'media.json', what, '--resend');
      expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: notes});
    }
    expect(await read(one, 'media.json')).toBe(before);
  });

  it('resolve and forget where the manifest cannot be written: exit status 1', async () => {
    const one = await bench();
    const text = withUnknown(manifest(line('a.png', 'a')), {'b.mp4': 'b'});
    await files(one, {'media.json': text});
    await link(join(one.directory, 'media.json'), join(one.directory, 'copy.json'));
    for (const words of [
      ['resolve', 'media.json', 'b.mp4', '--resend'],
      ['forget', 'media.json', 'a.png'],
    ])
      expect(await media(one, ...words)).toMatchObject({
        exitCode: 1,
        stderr: '',
        error: expect.stringContaining('The manifest media.json could not be written'),
      });
    expect(await read(one, 'media.json')).toBe(text);
  });

  it('resolve --uploaded keeps how the content was sent, and fields of others, under each of its paths', async () => {
    const one = await bench();
    const sent = '"contentType": "image/png", "transform": "geotags/2", "stdin": true';
    const change = (text: string) =>
      text.replaceAll(/(?<=mp4".*)"contentType": "image\/png"(.*?)}(?=,?\n)/g, `${sent}$1, "alt": "B"}`);
    const before = manifest(line('a.png', 'a'));
    await files(one, {'media.json': change(withUnknown(before, {'b.mp4': 'b', 'copy.mp4': 'b'}))});
    expect(await media(one, 'resolve', 'media.json', 'copy.mp4', '--uploaded', 'b')).toMatchObject({
      exitCode: 0,
    });
    const after = manifest(line('a.png', 'a'), line('b.mp4', 'b'), line('copy.mp4', 'b'));
    expect(await read(one, 'media.json')).toBe(change(after));
  });

  it('forget removes a content under all its paths, by path or by media ID', async () => {
    const one = await bench();
    const text = manifest(line('a.png', 'a'), line('b.png', 'b'), line('copy.png', 'a'), line('d.png', 'd'));
    await files(one, {'media.json': text});
    expect(await media(one, 'forget', 'media.json', 'copy.png')).toMatchObject({exitCode: 0});
    expect(await media(one, 'forget', 'media.json', 'd')).toMatchObject({exitCode: 0});
    expect(await read(one, 'media.json')).toBe(manifest(line('b.png', 'b')));
  });

  it.each([['check'], ['merge', '-o', 'all.json']])(
    '%s with inputs names the command for them',
    async (...words) => {
      const one = await bench();
      await files(one, {'media.json': manifest(line('a.png', 'a')), 'a.png': 'a', list: 'a.png\n'});
      for (const inputs of [
        ['--', 'a.png'],
        ['--files-from', 'list'],
      ])
        expect(await media(one, ...words, 'media.json', ...inputs)).toMatchObject({
          exitCode: 2,
          error: 'media.json is a manifest, which media upload compares with inputs.',
        });
    },
  );

  it('merge joins them: whole entries, every digit kept', async () => {
    const one = await bench();
    const exact = '{"id":12345678901234567890,"size":1.0}';
    await files(one, {
      'part-1.json': manifest(line('b.png', 'b', exact)),
      'part-2.json': manifest(line('a.png', 'a').replace('{', '{"alt": 1.0, ')),
    });
    expect(await media(one, 'merge', '-o', 'media.json', 'part-1.json', 'part-2.json')).toMatchObject({
      exitCode: 0,
      stderr: 'media.json: 2 files, 0 unknown.\n',
    });
    const joined = manifest(line('a.png', 'a').replace(/}$/, ', "alt": 1.0}'), line('b.png', 'b', exact));
    expect(await read(one, 'media.json')).toBe(joined);
    // What the file knows is kept, and a second time changes nothing.
    for (const words of [['-o', 'media.json', 'part-1.json'], ['media.json']])
      expect(await media(one, 'merge', ...words)).toMatchObject({exitCode: 0});
    expect(await read(one, 'media.json')).toBe(joined);
    const withCrlf = joined.replaceAll('\n', '\r\n');
    await files(one, {'media.json': withCrlf});
    await media(one, 'merge', '-o', 'media.json', 'part-2.json');
    expect(await read(one, 'media.json')).toBe(withCrlf);
    await journalOf(one, 'j', {'a.png': ['done', 'med_1']});
    for (const files of [['j'], ['part-1.json', 'part-2.json']])
      expect(await media(one, 'merge', ...files)).toMatchObject({
        exitCode: 2,
        error: 'No file to write was given.',
      });
  });

  it.each([
    ['an unknown file', (text: string) => withUnknown(text, {'c.mp4': 'c'})],
    ['a field of an entry', (text: string) => text.replace(/}(?=\n)/, ', "alt": "A"}')],
    ['a field at the top', (text: string) => text.replace(/(?= {2}"files")/, '  "note": 1,\n')],
    ['the ID of the service', (text: string) => text.replace(/(?= {2}"files")/, '  "serviceId": "one",\n')],
  ])('merge: a part that has only %s beside what the output has', async (_what, change) => {
    const one = await bench();
    const text = manifest(line('a.png', 'a'));
    await files(one, {'media.json': text, 'part.json': change(text)});
    expect(await media(one, 'merge', '-o', 'media.json', 'part.json')).toMatchObject({exitCode: 0});
    expect(await read(one, 'media.json')).toBe(await read(one, 'part.json'));
    expect(await read(one, 'part.json')).not.toBe(text);
  });

  it('merge: a conflict in which one side has all that both have, or as a part: the markers go', async () => {
    const one = await bench();
    const [a, b] = [line('a.png', 'a'), line('b.png', 'b')];
    const whole = `<<<<<<< HEAD\n${manifest(a)}=======\n${manifest(b)}>>>>>>> other\n`;
    await files(one, {'part.json': whole});
    expect(await media(one, 'merge', '-o', 'all.json', 'part.json')).toMatchObject({exitCode: 0});
    expect(await read(one, 'all.json')).toBe(manifest(a, b));
    const both = `${a},\n${b}`;
    for (const [ours, theirs] of [
      [both, b],
      [a, both],
    ]) {
      const conflict = `<<<<<<< HEAD\n${ours}\n=======\n${theirs}\n>>>>>>> other`;
      await files(one, {'media.json': manifest(conflict)});
      expect(await media(one, 'merge', 'media.json')).toMatchObject({exitCode: 0});
      expect(await read(one, 'media.json')).toBe(manifest(a, b));
    }
  });

  it('merge: of two contents of a key, the one that the file on disk has; else an error that names it', async () => {
    const one = await bench();
    await files(one, {
      'part-1.json': manifest(line('assets/a.png', 'old'), line('b.png', 'b')),
      'part-2.json': manifest(line('assets/a.png', 'new')),
    });
    const command = ['merge', '-o', 'media.json', 'part-1.json', 'part-2.json'];
    for (const prepare of [async () => {}, () => files(one, {'assets/a.png': 'neither'})]) {
      await prepare();
      expect(await media(one, ...command)).toMatchObject({
        exitCode: 1,
        error: 'assets/a.png has two contents in these manifests, and the file has neither.',
      });
    }
    await expect(read(one, 'media.json')).rejects.toThrow('ENOENT');
    for (const content of ['new', 'old']) {
      await files(one, {'assets/a.png': content});
      const {exitCode, stderr} = await media(one, ...command);
      expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: 'media.json: 2 files, 0 unknown.\n'});
      expect(await read(one, 'media.json')).toBe(manifest(line('assets/a.png', content), line('b.png', 'b')));
    }
  });

  it('merge says which content is stored twice, and keeps the same record for everyone', async () => {
    const one = await bench();
    await files(one, {
      'part-1.json': manifest(line('a.png', 'a', '{"id":"med_2"}')),
      'part-2.json': manifest(line('a.png', 'a', '{"id":"med_1"}')),
    });
    for (const [output, ...parts] of [
      ['m', 'part-1.json', 'part-2.json'],
      ['n', 'part-2.json', 'part-1.json'],
    ] as const) {
      const {stderr} = await media(one, 'merge', '-o', output, ...parts);
      expect(stderr).toContain('a.png is stored twice with the same content, as med_1 and med_2.\n');
      expect(await read(one, output)).toBe(await read(one, 'part-2.json'));
    }
  });

  it.each([
    ['of another service', (text: string) => text.replace(scope.service, 'https://other.test'), 'belongs to'],
    ['missing', () => undefined, 'The manifest part-2.json does not exist.'],
    ['that is no manifest', () => '{"journal":"media"}', 'line 1 does not have "version": 1.'],
  ])('merge refuses a part %s, and writes nothing', async (_what, change, message) => {
    const one = await bench();
    const text = manifest(line('a.png', 'a'));
    const changed = change(text);
    await files(one, {'part-1.json': text, ...(changed !== undefined && {'part-2.json': changed})});
    const {exitCode, error} = await media(one, 'merge', '-o', 'media.json', 'part-1.json', 'part-2.json');
    expect({exitCode, error}).toEqual({exitCode: 1, error: expect.stringContaining(message)});
    await expect(read(one, 'media.json')).rejects.toThrow('ENOENT');
  });
});
