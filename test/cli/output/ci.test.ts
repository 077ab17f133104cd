import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {errorAnnotation, outputEntry} from '../../../src/cli/output/ci.ts';
import {MediaError} from '../../../src/errors.ts';
import {connectedSandbox} from '../../support/embedded.ts';
import {fixture, sandbox} from '../../support/media.ts';
import {scriptedServer} from '../../support/scripted-server.ts';
import {commandsIn, onGithub} from './github.ts';

const photo = fixture('photo.png');
const clip = fixture('clip.mp4');

/** Reads GITHUB_OUTPUT as the runner does (actions/runner, FileCommandManager): name=value or name<<delimiter. */
async function outputsIn(path: string): Promise<Record<string, string>> {
  const outputs: Record<string, string> = {};
  const lines = (await readFile(path, 'utf8')).split('\n');
  for (let index = 0; index < lines.length; index += 1) {
    const [, name, delimiter] = /^([^=<]+)<<(.+)$/.exec(lines[index] ?? '') ?? [];
    if (name === undefined || delimiter === undefined) {
      expect(lines[index]).toBe('');
      continue;
    }
    const end = lines.indexOf(delimiter, index + 1);
    expect(end).toBeGreaterThan(index);
    outputs[name] = lines.slice(index + 1, end).join('\n');
    index = end;
  }
  return outputs;
}

describe('media upload --ci', () => {
  it('one file: id, url and records as outputs, a table in the summary, stdout as ever', async () => {
    const {service, sandbox: box} = await connectedSandbox();
    const {output, summary} = await onGithub(box);
    const {stdout, stderr, exitCode} = await box.run(['upload', photo, '--ci', '--json']);
    const [stored] = await service.records();
    const outputs = await outputsIn(output);
    expect(outputs).toEqual({
      id: stored?.record.id,
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1/),
      records: `[${stdout.trimEnd()}]`,
    });
    expect(JSON.parse(outputs['records'] ?? '')).toEqual([stored?.record]);
    expect(await readFile(summary, 'utf8')).toMatch(
      /^### media upload\n\n1 uploaded, 0 skipped, 0 failed, 0 unknown\n\n\| file \| status \| media \|\n\|---\|---\|---\|\n\| .*photo\.png \| uploaded \| \[m\\_.*\]\(http:\/\/127\.0\.0\.1.*\) \|\n\n$/,
    );
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    const delimiters = (await readFile(output, 'utf8')).match(/(?<=<<).*/g) ?? [];
    expect(new Set(delimiters).size).toBe(3);
    for (const delimiter of delimiters) expect(delimiter).toMatch(/^ghadelimiter_[0-9a-f-]{36}$/);
  });

  it('files of the runner that end without a line break: nothing is glued to their last line', async () => {
    const {sandbox: box} = await connectedSandbox();
    const {output, summary} = await onGithub(box);
    await writeFile(output, 'before=1');
    await writeFile(summary, 'Before.');
    expect((await box.run(['upload', photo, '--ci'])).exitCode).toBe(0);
    expect(await readFile(output, 'utf8')).toMatch(/^before=1\nid<<ghadelimiter_/);
    expect(await readFile(summary, 'utf8')).toMatch(/^Before\.\n### media upload\n/);
  });

  it('several, one of them failed: outputs a line each in their order, an annotation, failures first', async () => {
    const {service, sandbox: box} = await connectedSandbox();
    const {output, summary} = await onGithub(box);
    const {stderr, exitCode} = await box.run([
      'upload',
      photo,
      'gone.png',
      clip,
      '--ci',
      '--template',
      '{id}\\n',
    ]);
    const outputs = await outputsIn(output);
    const records = JSON.parse(outputs['records'] ?? '') as {id: string; type: string}[];
    expect(records.map(({type}) => type)).toEqual(['IMAGE', 'VIDEO']);
    expect(outputs['id']).toBe(records.map(({id}) => id).join('\n'));
    expect(outputs['url']?.split('\n')).toHaveLength(2);
    expect(await service.records()).toHaveLength(2);
    expect(commandsIn(stderr)).toEqual([
      '::error file=gone.png,title=media upload%3A file_missing::gone.png does not exist.',
    ]);
    const rows = (await readFile(summary, 'utf8')).split('\n').filter(line => /^\| [^f]/.test(line));
    expect(rows.map(line => line.split(' | ')[1])).toEqual(['failed', 'uploaded', 'uploaded']);
    expect(rows[0]).toBe('| gone.png | failed | `file_missing` gone.png does not exist. |');
    expect(exitCode).toBe(3);
  });

  it('12 failures: 10 annotations, all rows in the summary', async () => {
    const {sandbox: box} = await connectedSandbox();
    const {output, summary} = await onGithub(box);
    const names = Array.from({length: 12}, (_, index) => `gone-${index}.png`);
    const {stderr, exitCode} = await box.run(['upload', ...names, '--ci']);
    expect(commandsIn(stderr)).toHaveLength(10);
    expect((await readFile(summary, 'utf8')).match(/\| failed \|/g)).toHaveLength(12);
    expect(await outputsIn(output)).toEqual({id: '', url: '', records: '[]'});
    expect(exitCode).toBe(1);
  });

  it('no key: the whole run is annotated and summed up', async () => {
    const box = await sandbox();
    const {summary} = await onGithub(box);
    const {stderr, exitCode} = await box.run(['upload', photo, '--ci']);
    expect(commandsIn(stderr)).toEqual([
      expect.stringMatching(
        /^::error title=media upload%3A no_key::Nothing is configured yet: .*%0ASet MEDIA_BASE_URL and MEDIA_API_KEY\.$/,
      ),
    ]);
    expect(await readFile(summary, 'utf8')).toContain('Nothing is configured yet');
    expect(exitCode).toBe(4);
  });

  it('a summary that is nearly full: what still fits, and never past 1 MiB', async () => {
    const {sandbox: box} = await connectedSandbox();
    const {summary} = await onGithub(box);
    await writeFile(summary, 'x'.repeat(2 ** 20 - 1400));
    const names = Array.from({length: 30}, (_, index) => `gone-${index}.png`);
    await box.run(['upload', ...names, '--ci']);
    const text = await readFile(summary, 'utf8');
    expect(text.length).toBeLessThanOrEqual(2 ** 20);
    expect(text).toMatch(/\n\.\.\. and \d+ more\.\n\n$/);
    await writeFile(summary, 'x'.repeat(2 ** 20));
    await box.run(['upload', ...names, '--ci']);
    expect((await readFile(summary, 'utf8')).length).toBe(2 ** 20);
  });

  it('a last attempt that is refused by a page, of a file that may be stored: no words of the page are published', async () => {
    const answers = [
      '',
      'HTTP/1.1 415 No\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nrequest 4711',
    ];
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      connection.socket.end(answers.shift() ?? '');
    });
    const box = await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: 'mk_some-key'});
    const {summary} = await onGithub(box);
    const {stderr, exitCode} = await box.run(['upload', photo, '--ci', '--on-unknown', 'retry']);
    const published = [await readFile(summary, 'utf8'), ...commandsIn(stderr)];
    for (const text of published) expect(text).toMatch(/The last attempt: .*415/);
    expect(published.join('\n')).not.toContain('4711');
    expect(exitCode).toBe(5);
  });

  it('outputs that are too large together: those that fit, and a warning of the others', async () => {
    const record = {id: 'm_1', type: 'IMAGE', fileUrl: `https://cdn.example/${'x'.repeat(280_000)}`};
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      connection.answer(200, JSON.stringify(record));
    });
    const box = await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: 'mk_some-key'});
    const {output} = await onGithub(box);
    const {stderr} = await box.run(['upload', photo, '--ci', '--template', '{id}\\n']);
    expect(await outputsIn(output)).toEqual({id: record.id, url: record.fileUrl});
    expect(stderr).toContain('The output records is larger than GitHub accepts, so it was not set.');
  });

  it('records past what outputs may hold: that output is left out, with a warning', async () => {
    const big = JSON.stringify({id: 'm_1', type: 'IMAGE', note: 'x'.repeat(300_000)});
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      connection.answer(200, big);
    });
    const box = await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: 'mk_some-key'});
    const {output} = await onGithub(box);
    const {stderr, exitCode} = await box.run(['upload', photo, clip, '--ci', '--template', '{id}\\n']);
    expect(stderr).toContain(
      'warning: The output records is larger than GitHub accepts, so it was not set.\n',
    );
    expect(await outputsIn(output)).toEqual({id: 'm_1\nm_1', url: '\n'});
    expect(exitCode).toBe(0);
  });

  it('an output file that cannot be written: a failure, though the upload stays', async () => {
    const {service, sandbox: box} = await connectedSandbox();
    await onGithub(box);
    await mkdir(join(box.directory, 'directory'));
    box.env['GITHUB_OUTPUT'] = join(box.directory, 'directory');
    const {stderr, exitCode} = await box.run(['upload', photo, '--ci', '--json']);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'output_failed',
      message: expect.stringContaining('it is a directory'),
      hint: expect.stringContaining('The uploads themselves succeeded'),
    });
    expect(exitCode).toBe(1);
    expect(await service.records()).toHaveLength(1);
  });

  it('an output file that cannot be written, and uploads that failed: the status is theirs', async () => {
    const {sandbox: box} = await connectedSandbox();
    await onGithub(box);
    box.env['GITHUB_OUTPUT'] = box.directory;
    const {stderr, exitCode} = await box.run(['upload', photo, 'gone.png', '--ci', '--json']);
    expect(stderr).toContain('"code":"output_failed"');
    expect(stderr).not.toContain('The uploads themselves succeeded');
    expect(exitCode).toBe(3);
  });

  it('elsewhere: nothing of it', async () => {
    const {sandbox: box} = await connectedSandbox();
    const {output, summary} = await onGithub(box);
    delete box.env['GITHUB_ACTIONS'];
    expect(await box.run(['upload', 'gone.png', '--ci'])).toMatchObject({
      stderr: 'media: gone.png does not exist.\n',
      exitCode: 1,
    });
    expect([await readFile(output, 'utf8'), await readFile(summary, 'utf8')]).toEqual(['', '']);
  });

  it('--ci=github: a usage error, since it takes no value', async () => {
    const {stderr, exitCode} = await (await sandbox()).run(['upload', photo, '--ci=github']);
    expect(stderr).toContain('The option --ci takes no value.');
    expect(exitCode).toBe(2);
  });
});

describe('untrusted text on GitHub', () => {
  it('a record with commands: one line in each output, none of them', async () => {
    const record = {id: 'm_1\n::error::there\r##[error]', name: '##[error]\u2028\u202e', urls: []};
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      connection.answer(200, JSON.stringify(record));
    });
    const box = await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: 'mk_some-key'});
    const {output} = await onGithub(box);
    expect((await box.run(['upload', photo, '--ci'])).exitCode).toBe(0);
    const {id, records} = await outputsIn(output);
    expect(commandsIn(`${id}\n${records}`)).toEqual([]);
    expect(id).not.toMatch(/[\r\n]/);
    expect(JSON.parse(records ?? '')).toEqual([record]);
    expect(records).not.toMatch(/[\u2028\u202e]/);
  });

  it('a service that responds with commands: its words form none', async () => {
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      connection.answer(
        400,
        JSON.stringify({code: 1, message: '\n::error::hello\r\n##[error]there, 100%0A'}),
      );
    });
    const box = await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: 'mk_some-key'});
    await onGithub(box);
    const {stderr} = await box.run(['upload', photo, '--ci']);
    expect(commandsIn(stderr)).toHaveLength(1);
    expect(commandsIn(stderr)[0]).toContain('there, 100%250A');
    expect(commandsIn(stderr)[0]).toContain('#\\u0023[error]');
  });
});

describe('the formats GitHub documents', () => {
  it('an annotation: % and line breaks escaped, in properties also : and ,', () => {
    const error = new MediaError('rejected', 'a: 100%, b\nc', {hint: 'd::e'});
    expect(errorAnnotation(error, 'x,y:z%\n.png')).toBe(
      '::error file=x%2Cy%3Az%25\\n.png,title=media upload%3A rejected::a: 100%25, b\\nc%0Ad::e',
    );
  });

  it('an output: name, delimiter, value, delimiter; a delimiter that occurs in the value is refused', () => {
    expect(outputEntry('id', 'a\nb', 'EOF_1')).toBe('id<<EOF_1\na\nb\nEOF_1\n');
    expect(() => outputEntry('id', 'a\nEOF_1\nb', 'EOF_1')).toThrow();
  });
});
