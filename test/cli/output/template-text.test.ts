import {execFileSync} from 'node:child_process';
import {describe, expect, it, test} from 'vitest';
import {
  parseTemplate,
  renderOutcome,
  renderTemplate,
  type TemplateInput,
} from '../../../src/cli/output/results/template.ts';
import {parseRecord, type ReceivedRecord} from '../../../src/engine/service/record.ts';
import type {OutcomeFacts} from '../../../src/engine/transfer/outcome.ts';
import {MediaError} from '../../../src/errors.ts';
import {outcomeOf} from '../../support/outcomes.ts';

const json =
  '{"id":"m_1","type":"IMAGE","urls":[{"variant":"PUBLIC","url":"https://c/p"}],"width":640,"height":null,' +
  '"big":9007199254740993,"deep":{"a":[true,"x y"]}}';

function rendered(template: string, of: Partial<TemplateInput> = {}): string {
  const received = parseRecord(json) as ReceivedRecord;
  const photo = {file: 'a b/photo.png', path: '/home/a b/photo.png', status: 'uploaded', ...received};
  return String(
    renderTemplate(parseTemplate(template), {...photo, contentType: 'image/png', size: 12, ...of}),
  );
}

describe('renderTemplate', () => {
  it.each([
    ['{file}|{path}|{name}', 'a b/photo.png|/home/a b/photo.png|photo.png'],
    [
      '{id} {url} {type} {contentType} {size} {width} {height} {status}',
      'm_1 https://c/p IMAGE image/png 12 640  uploaded',
    ],
    ['{record.urls.0.url} {record.deep.a.1} {record.deep}', 'https://c/p x y {"a":[true,"x y"]}'],
    [
      '{record.big} {record.no.such} {record.urls.length} {record.urls.7.url} {record.__proto__}',
      '9007199254740993    ',
    ],
    ['{record}', json],
    ['{urls} {fileUrl} {duration}', '[{"variant":"PUBLIC","url":"https://c/p"}]  '],
    [
      '{fileUrl} {duration} {hlsUrl} {thumbnailUrl} {imageType} {size} {record.size}',
      'https://c/f 1.5 https://c/h https://c/t png 12 13',
      {
        fileUrl: 'https://c/f',
        duration: 1.5,
        hlsUrl: 'https://c/h',
        thumbnailUrl: 'https://c/t',
        imageType: 'png',
        size: 13,
      },
    ],
    ['{record|json}', json],
    [
      '{file|json} {height|json} {width|json} {record.deep|json}',
      '"a b/photo.png" null 640 {"a":[true,"x y"]}',
    ],
    ['{file|shell} {id|shell}', "'a b/photo.png' m_1"],
    ['\\t\\n\\r\\\\{{}}{{file}}', '\t\n\r\\{}{file}'],
    ['{file}\\0', 'a b/photo.png\0'],
    ['no field', 'no field'],
  ])('%s', (template, text, record?: TemplateInput['record']) => {
    expect(rendered(template, record && {record})).toBe(text);
  });

  it('each fact of a line by its name', () => {
    const facts = {sha256: '9f86', attempts: 2, elapsedMs: 40, verified: ['size'], geotags: 'none'} as const;
    const template = '{sha256} {attempts} {elapsedMs} {verified} {geotags} {warning}.';
    expect(rendered(template, facts)).toBe('9f86 2 40 ["size"] none .');
  });

  it('control characters and workflow commands in a name: escaped, but not between zero bytes', () => {
    const file = '\u001b[2J\n::error::x';
    expect(rendered('{file}\\n', {file})).toBe('\\u001b[2J\\n::error::x\n');
    expect(rendered('{file}\\0', {file})).toBe(`${file}\0`);
  });

  it.each([
    [':{file}', '\\u003a:error::x'],
    ['{id}\\n :{file}', 'm_1\n \\u003a:error::x'],
    ['{height}:{file}', '\\u003a:error::x'],
    ['{height}::{name}', '\\u003a::error::x'],
    ['##{contentType}', '#\\u0023[error]x'],
    ['{id}::{file}', 'm_1:::error::x'],
    ['::notice::{file}', '::notice:::error::x'],
  ])(
    '%s with values that complete a workflow command: escaped, unless the template has one',
    (template, text) => {
      expect(rendered(template, {file: ':error::x', contentType: '[error]x'})).toBe(text);
    },
  );

  it.each([
    ['{file}', [' :', ':error::x.png'], ' :\\u003aerror::x.png'],
    ['{file}', ['x#', '#[error]x.png'], 'x#\\u0023[error]x.png'],
    ['{file}', ['##vso', '[x]', '.png'], '##vso\\u005bx].png'],
    ['{file} ', ['a##', '[x]'], 'a## [x] '],
    ['{file}\\n', [':', ':error::x.png'], ':\n:error::x.png\n'],
  ])('%s with %j, which complete a workflow command together: escaped', (template, files, text) => {
    const parsed = parseTemplate(template);
    const of = {path: '/', status: 'uploaded'};
    expect(files.map(file => renderTemplate(parsed, {...of, file})).join('')).toBe(text);
  });

  it.each(["it's.png", 'a\nb.png', '\u001b]0;x\u0007.png', '$(id) `id`.png', '写真.png', '-rf'])(
    '{file|shell} of %j: one word with these bytes in bash, no option, without control characters',
    file => {
      const word = rendered('{file|shell}', {file});
      expect(word).not.toMatch(/\p{Cc}/u);
      expect(execFileSync('bash', ['-c', `printf %s ${word}`], {encoding: 'utf8'})).toBe(
        file.replace(/^-/, './-'),
      );
    },
  );

  it('{file|shell} of a name that is not UTF-8: its bytes', () => {
    const nameBytes = Buffer.from('n\xe9.png', 'latin1');
    const word = rendered('{file|shell}', {file: nameBytes.toString(), nameBytes});
    expect(execFileSync('bash', ['-c', `printf %s ${word}`])).toEqual(nameBytes);
  });
});

test('renderOutcome: the path of a file, the name of what is read only once, nothing of a failure', () => {
  const path = (given: Partial<OutcomeFacts>) =>
    renderOutcome(
      parseTemplate('{path}'),
      outcomeOf({status: 'checked', ...given}),
      name => `/photos/${name}`,
    );
  expect([path({}), path({file: '-', isOnce: true})]).toEqual(['/photos/a.png', '-']);
  const error = new MediaError('empty_file', 'It is empty.');
  expect(renderOutcome(parseTemplate('{path}'), outcomeOf({status: 'failed', error}), name => name)).toBe('');
});

describe('parseTemplate', () => {
  it.each([
    ['{fil}', /unknown field: \{fil\}/],
    ['{}', /unknown field/],
    ['{file.name}', /unknown field/],
    ['{record.}', /unknown field/],
    ['{record.a..b}', /unknown field/],
    ['{toString}', /unknown field/],
    ['{file|html}', /unknown filter: \{file\|html\}/],
    ['{file|json|shell}', /unknown filter/],
    ['{file', /has \{, which is not an escape/],
    ['file}', /has \}, which is not an escape/],
    ['\\x', /\\x, which is not an escape/],
    ['a\\', /\\, which is not an escape/],
  ])('%s: a usage error', (template, message) => {
    expect(() => parseTemplate(template)).toThrow(message);
  });
});
