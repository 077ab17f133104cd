import {copyFile, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {formatNames} from '../../../src/cli/output/results/formats.ts';
import {connectedSandbox} from '../../support/embedded.ts';
import {fixture, sandbox} from '../../support/media.ts';
import {optionOf} from '../../support/output-formats.ts';
import {scriptedServer} from '../../support/scripted-server.ts';
import {expectedOfOne, plainFormats} from './plain-formats.ts';
import {empty, names, none, withoutUrl} from './without-url.ts';

const photo = fixture('photo.png');
const clip = fixture('clip.mp4');
const page = fixture('page-named.png');

/** Runs `media upload` against a server that answers every request with this JSON text. */
async function uploadAnswered(json: string, parameters: string[], name = 'photo.png') {
  const {url} = await scriptedServer(async connection => {
    await connection.request();
    connection.answer(200, json);
  });
  const box = await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: 'mk_some-key-for-tests'});
  await copyFile(photo, join(box.directory, name));
  return box.run(['upload', ...parameters, '--', name]);
}

describe('one file in each format', () => {
  it.each(plainFormats)('%s: nothing but the record on stdout, nothing on stderr', async format => {
    const {service, sandbox} = await connectedSandbox();
    const {stdout, stderr, exitCode} = await sandbox.run(['upload', clip, ...optionOf(format)]);
    const [stored] = await service.records();
    expect(stdout).toBe(expectedOfOne[format](clip, stored?.record ?? {}));
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(await readFile(stored?.path ?? '')).toEqual(await readFile(clip));
  });

  it('ndjson: the fields of the contract, in its order', async () => {
    const {service, sandbox} = await connectedSandbox();
    const {stdout, stderr} = await sandbox.run(['upload', photo, '--ndjson']);
    expect(stdout.split('\n')).toHaveLength(2);
    const line = JSON.parse(stdout);
    expect(Object.keys(line)).toEqual([
      'file',
      'status',
      'id',
      'url',
      'contentType',
      'size',
      'attempts',
      'elapsedMs',
      'record',
    ]);
    const [stored] = await service.records();
    expect(line).toEqual({
      file: photo,
      status: 'uploaded',
      id: stored?.record.id,
      url: stored?.record.fileUrl,
      record: stored?.record,
      contentType: 'image/png',
      size: 13582,
      attempts: 1,
      elapsedMs: expect.any(Number),
    });
    expect(stderr).toBe('');
  });

  it.each(formatNames)(
    '%s, a file that is no media: what went wrong is on stderr, stdout as the format has it',
    async format => {
      const {sandbox} = await connectedSandbox();
      const {stdout, stderr, exitCode} = await sandbox.run(['upload', page, ...optionOf(format)]);
      const expected = {json: '', url: '', markdown: '', table: ''};
      if (format === 'ndjson')
        expect(JSON.parse(stdout)).toMatchObject({status: 'failed', error: {code: 'not_media'}});
      else expect(stdout).toBe(expected[format]);
      if (format === 'json')
        expect(JSON.parse(stderr)).toMatchObject({error: {file: page, code: 'not_media'}});
      else expect(stderr).toMatch(/^media: .*page-named\.png is not recognised as an image or a video/);
      expect(exitCode).toBe(1);
    },
  );
});

describe('several files in each format, one failure among them', () => {
  const inputs = [photo, 'gone.png', clip];

  it('ndjson: a line each, failures with the contract’s error fields', async () => {
    const {service, sandbox} = await connectedSandbox();
    const {stdout, stderr, exitCode} = await sandbox.run(['upload', ...inputs, page, '--ndjson']);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
    const of = (file: string) => lines.find(line => line.file === file);
    const stored = await service.records();
    expect(lines).toHaveLength(4);
    expect(of(photo)).toMatchObject({
      status: 'uploaded',
      record: stored.find(({contentType}) => contentType === 'image/png')?.record,
    });
    expect(of(clip)).toMatchObject({
      status: 'uploaded',
      record: stored.find(({contentType}) => contentType === 'video/mp4')?.record,
    });
    expect(of('gone.png')).toEqual({
      file: 'gone.png',
      status: 'failed',
      error: {code: 'file_missing', message: 'gone.png does not exist.'},
      attempts: 0,
      elapsedMs: expect.any(Number),
    });
    expect(of(page)).toEqual({
      file: page,
      status: 'failed',
      error: {
        code: 'not_media',
        message: expect.stringContaining('an HTML page'),
        hint: expect.stringContaining('--content-type'),
      },
      size: 112,
      attempts: 0,
      elapsedMs: expect.any(Number),
    });
    const text = (await sandbox.run(['upload', ...inputs, page])).stderr;
    expect({stderr, exitCode}).toEqual({stderr: text, exitCode: 3});
  });

  it('table: a row each, failures included, no line between rows, no escape sequence', async () => {
    const {service, sandbox} = await connectedSandbox();
    const {stdout} = await sandbox.run(['upload', ...inputs]);
    const lines = stdout.split('\n');
    const records = new Map((await service.records()).map(({contentType, record}) => [contentType, record]));
    const image = records.get('image/png');
    const video = records.get('video/mp4');
    const cells = (line: string | undefined) =>
      line
        ?.split('│')
        .slice(1, -1)
        .map(cell => cell.trim());
    expect(lines).toHaveLength(8);
    expect(cells(lines[1])).toEqual(['file', 'status', 'size', 'url or error']);
    expect(lines[2]).toMatch(/^├[─┼]+┤$/);
    expect(cells(lines[3])).toEqual([photo, 'uploaded', '13.3 KiB', image?.fileUrl]);
    expect(cells(lines[4])).toEqual(['gone.png', 'failed', '', 'file_missing']);
    expect(cells(lines[5])).toEqual([clip, 'uploaded', '16.1 KiB', video?.fileUrl]);
    expect(lines[6]).toMatch(/^└[─┴]+┘$/);
    expect(new Set(lines.slice(0, -1).map(line => line.length)).size).toBe(1);
    expect(stdout).not.toContain('\u001b');
    const verbose = await sandbox.run(['upload', ...inputs, '--verbose']);
    const [, heading, , first] = verbose.stdout.split('\n').map(cells);
    expect(heading).toEqual(['file', 'status', 'size', 'url or error', 'id']);
    expect(first?.at(-1)).toBe((await service.records()).at(2)?.record.id);
  });

  it('an unknown outcome: counted as such', async () => {
    const {url} = await scriptedServer(async connection => {
      const {head} = await connection.request();
      if (head.includes('content-type: video/mp4')) connection.reset();
      else connection.answer(200, '{"id":"m_1"}');
    });
    const box = await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: 'mk_some-key-for-tests'});
    const {stderr, stdout, exitCode} = await box.run([
      'upload',
      photo,
      clip,
      'gone.png',
      '--template',
      '{id}\\n',
    ]);
    expect(stdout).toBe('m_1\n');
    expect(stderr).toContain('\n1 uploaded, 0 skipped, 1 failed, 1 unknown\n');
    expect(exitCode).toBe(5);
  });
});

describe('a stored file without a URL', () => {
  const ofWeb = 'photo.png was stored, but the service returned no web URL for it.';

  it.each([
    ['url', '', 'https://c/jpeg\n\nhttps://c/gif\n', none],
    ['url', ',"fileUrl":""', 'https://c/jpeg\n\nhttps://c/gif\n', none],
    ['markdown', '', '![photo.jpg](https://c/jpeg)\n\n![photo.gif](https://c/gif)\n', ofWeb],
    [
      'markdown',
      ',"fileUrl":"javascript:alert(1)"',
      '![photo.jpg](https://c/jpeg)\n\n![photo.gif](https://c/gif)\n',
      ofWeb,
    ],
  ])(
    '--format %s, %s: an empty line in its place, reported, and not sent again',
    async (format, fields, expected, sentence) => {
      const box = await withoutUrl(fields);
      const upload = ['upload', '--once', '--format', format];
      const run = await box.run([...upload, ...names]);
      expect(run).toMatchObject({stdout: expected, exitCode: 3});
      expect(run.stderr).toContain(`media: ${sentence}\n`);
      expect(run.stderr).toMatch(/^3 uploaded, 0 skipped, 0 failed, 0 unknown, 1 without a URL$/m);
      const again = await box.run([...upload, 'photo.png']);
      expect(again).toMatchObject({stdout: '\n', exitCode: 1});
      expect(again.stderr).toContain(`media: ${sentence}\n`);
      expect((await box.run(['journal', 'list'])).stdout.match(/^uploaded /gm)).toHaveLength(3);
    },
  );

  it('--format url --ci: annotated', async () => {
    const box = await withoutUrl();
    box.env['GITHUB_ACTIONS'] = 'true';
    const {stderr} = await box.run(['upload', '--format', 'url', '--ci', ...names]);
    expect(stderr).toContain(`::error file=photo.png,title=media upload%3A no_url::${none}%0A`);
  });

  it('--ndjson and --json: as any other, exit 0', async () => {
    const box = await withoutUrl();
    for (const option of ['--json', '--ndjson']) {
      const {stdout, stderr, exitCode} = await box.run(['upload', option, ...names]);
      expect(stdout.split('\n')).toHaveLength(4);
      const summary = '3 uploaded, 0 skipped, 0 failed, 0 unknown\n';
      expect({stderr, exitCode}).toEqual({stderr: summary, exitCode: 0});
    }
  });

  it('--template: an empty value, with a warning if it prints the URL; the same of a journal', async () => {
    const box = await withoutUrl();
    const template = ['--template', '{file}={url}\\n'];
    const {stdout, stderr, exitCode} = await box.run(['upload', '--once', ...names, ...template]);
    expect({stdout, exitCode}).toEqual({
      stdout: 'photo.jpg=https://c/jpeg\nphoto.png=\nphoto.gif=https://c/gif\n',
      exitCode: 0,
    });
    expect(stderr).toContain(`warning: ${empty}\n`);
    const listed = await box.run(['journal', 'list', ...template]);
    expect(listed.stdout.split('\n').sort().join('\n')).toBe(
      `\n${stdout.split('\n').sort().slice(1).join('\n')}`,
    );
    expect(listed.stderr).toBe(`warning: ${empty}\n`);
    const ids = await box.run(['upload', 'photo.png', '--template', '{id}']);
    expect(ids).toMatchObject({stdout: 'm_png', stderr: '', exitCode: 0});
  });

  it('GITHUB_OUTPUT: an empty line, with a warning, exit 0', async () => {
    const box = await withoutUrl();
    box.env['GITHUB_ACTIONS'] = 'true';
    box.env['GITHUB_OUTPUT'] = join(box.directory, 'output');
    const {stderr, exitCode} = await box.run(['upload', ...names, '--ci']);
    expect(stderr).toContain(`warning: ${empty}\n`);
    expect(exitCode).toBe(0);
    expect(await readFile(box.env['GITHUB_OUTPUT'], 'utf8')).toContain('\nhttps://c/jpeg\n\nhttps://c/gif\n');
  });
});

describe('what the service sent', () => {
  it('numbers past 2^53 and unknown fields: in json and ndjson byte for byte', async () => {
    const json =
      '{"id":"m_1","size":9007199254740993,"count":123456789012345678901234567890,"duration":1.50,"ratio":1e400,' +
      '"text":"a \\u00e9 \\"9007199254740993\\" \\/ ü","later":{"a":[null,true,-0,[]]},"width":null}';
    const spaced = json.replaceAll('":', '" :\n\t ');
    const {stdout} = await uploadAnswered(` ${spaced}\r\n`, ['--json']);
    expect(stdout).toBe(`${json}\n`);
    const ndjson = await uploadAnswered(json, ['--ndjson']);
    expect(ndjson.stdout).toMatch(/^\{"file":.*"status":"uploaded","id":"m_1","contentType":/);
    expect(ndjson.stdout.endsWith(`,"record":${json}}\n`)).toBe(true);
  });

  it('numbers past 2^53: shown whole in the table', async () => {
    const json = '{"id":18446744073709551615,"size":9007199254740993,"later":{"a":1}}';
    expect((await uploadAnswered(json, [])).stdout).toMatch(/│ size +│ 9007199254740993 +│/);
    expect((await uploadAnswered(json, [])).stdout).toMatch(/│ later +│ {"a":1} +│/);
    expect((await uploadAnswered(json, ['--template', '{id}\\n'])).stdout).toBe('18446744073709551615\n');
  });

  it.each([
    [
      'a PUBLIC variant',
      '{"id":"1","urls":[{"variant":"SMALL","url":"https://c/s"},{"variant":"PUBLIC","url":"https://c/p"}],"fileUrl":"https://c/f"}',
      'https://c/p\n',
    ],
    [
      'no PUBLIC variant',
      '{"id":"1","urls":[{"variant":"SMALL","url":"https://c/s"}],"fileUrl":"https://c/f"}',
      'https://c/f\n',
    ],
    ['urls that are null', '{"id":"1","urls":null,"fileUrl":"https://c/f"}', 'https://c/f\n'],
  ])('--format url, %s', async (_name, json, expected) => {
    const {stdout, exitCode} = await uploadAnswered(json, ['--format', 'url']);
    expect(stdout).toBe(expected);
    expect(exitCode).toBe(0);
  });

  it.each([
    [
      'a [link](x) *b* `c`.png',
      {type: 'IMAGE', fileUrl: 'https://c/a(b) <c>.png'},
      '![a \\[link\\]\\(x\\) \\*b\\* \\`c\\`.png](https://c/a%28b%29%20%3Cc%3E.png)',
    ],
    ['<img src=x>.png', {type: 'VIDEO', fileUrl: 'https://c/v'}, '[\\<img src\\=x\\>.png](https://c/v)'],
    ['two\n# lines.png', {fileUrl: 'https://c/v'}, '[two\\\\n\\# lines.png](https://c/v)'],
  ])('--format markdown, %j and %j', async (name, record, line) => {
    const json = JSON.stringify({id: 'm_1', ...record});
    const {stdout} = await uploadAnswered(json, ['--format', 'markdown'], name);
    expect(stdout).toBe(`${line}\n`);
  });

  it('control characters in every field: escaped in the table, in url and in a template', async () => {
    const evil = 'a\u001b[2J\u009bb\u202ec\r\n';
    const shown = 'a\\u001b[2J\\u009bb\\u202ec\\r\\n';
    const json = JSON.stringify({
      id: evil,
      type: evil,
      [evil]: evil,
      urls: [{variant: 'PUBLIC', url: evil}],
      fileUrl: evil,
    });
    expect((await uploadAnswered(json, ['--template', '{id}\\n'])).stdout).toBe(`${shown}\n`);
    expect((await uploadAnswered(json, ['--format', 'url'])).stdout).toBe(`${shown}\n`);
    const table = (await uploadAnswered(json, [])).stdout;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be there
    expect(table).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(table).toContain(`│ ${shown}`);
    expect(JSON.parse((await uploadAnswered(json, ['--json'])).stdout)).toEqual(JSON.parse(json));
  });
});

describe('standard error beside each format', () => {
  const named = fixture('png-named.jpg');

  it('a PNG named .jpg, --quiet: no warning', async () => {
    const {sandbox} = await connectedSandbox();
    const {stderr, exitCode} = await sandbox.run(['upload', named, '--quiet']);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  });

  it('--json, one input: its failure, not that of the run', async () => {
    const {sandbox} = await connectedSandbox();
    sandbox.env['MEDIA_API_KEY'] = 'mk_another-key-for-tests';
    const {stderr} = await sandbox.run(['upload', '--json', photo]);
    expect(JSON.parse(stderr)).toMatchObject({error: {file: photo, code: 'unauthorized'}});
  });

  it.each(['--json', '--ndjson'])('%s, failures of the whole run: one JSON line', async option => {
    const {sandbox} = await connectedSandbox();
    const runs = await Promise.all([
      sandbox.run(['upload', option, '--retries', 'many', photo]),
      sandbox.run(['upload', option]),
      sandbox.run(['upload', option, photo], {env: {...sandbox.env, MEDIA_API_KEY: '', MEDIA_BASE_URL: ''}}),
      sandbox.run(['upload', option, photo, '--base-url', 'http://media.example']),
    ]);
    const codes = runs.map(({stderr}) => JSON.parse(stderr).error.code);
    expect(codes).toEqual(['usage', 'nothing_matched', 'no_key', 'usage']);
    expect(runs.map(({exitCode}) => exitCode)).toEqual([2, 2, 4, 2]);
  });

  it('--quiet, several files and a failure: the failure alone', async () => {
    const {sandbox} = await connectedSandbox();
    const {stderr, exitCode} = await sandbox.run(['upload', photo, 'gone.png', '-q']);
    expect({stderr, exitCode}).toEqual({stderr: 'media: gone.png does not exist.\n', exitCode: 3});
  });
});
