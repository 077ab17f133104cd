import {PassThrough} from 'node:stream';
import {describe, expect, it} from 'vitest';
import {cellsOf, cutMiddle, wrap} from '../../../src/cli/output/cells.ts';
import {
  type FormatName,
  formatOutcome,
  recordRows,
  tableColumns,
} from '../../../src/cli/output/results/formats.ts';
import {type OutputFormat, Results} from '../../../src/cli/output/results/results.ts';
import {renderTable} from '../../../src/cli/output/results/table.ts';
import {parseTemplate} from '../../../src/cli/output/results/template.ts';
import {Stdout} from '../../../src/cli/output/stdout.ts';
import {type MediaRecord, parseRecord, type ReceivedRecord} from '../../../src/engine/service/record.ts';
import type {UploadResult} from '../../../src/engine/transfer/outcome.ts';
import {MediaError} from '../../../src/errors.ts';
import {outcomeOf} from '../../support/outcomes.ts';

function uploaded(json: string, name = 'photo.png'): UploadResult {
  return outcomeOf({file: name, status: 'uploaded', ...(parseRecord(json) as ReceivedRecord), elapsedMs: 5});
}

const failed = outcomeOf({
  file: 'gone.png',
  status: 'failed',
  error: new MediaError('rejected', 'No.', {status: 418, serviceCode: 7, hint: 'Make tea.'}),
  contentType: 'image/png',
  size: 3,
  attempts: 2,
  elapsedMs: 9,
});

describe('formatOutcome', () => {
  it.each(['json', 'url', 'markdown'] as const)('%s, a failure: nothing', format => {
    expect(formatOutcome(format, failed)).toBe('');
    expect(formatOutcome(format, outcomeOf({file: 'a', status: 'checked', attempts: 0, elapsedMs: 0}))).toBe(
      '',
    );
  });

  it.each([
    ['json', '{"id":"m","type":"IMAGE","fileUrl":"https://c/1"}\n'],
    ['url', 'https://c/1\n'],
    ['markdown', '![photo.png](https://c/1)\n'],
  ] as const)(
    '%s: what was uploaded before as what was now, nothing of what is not as it was sent',
    (format, line) => {
      const outcome = uploaded('{"id":"m","type":"IMAGE","fileUrl":"https://c/1"}', 'in/photo.png');
      expect(formatOutcome(format, outcome)).toBe(line);
      expect(formatOutcome(format, {...outcome, status: 'skipped'} as UploadResult)).toBe(line);
      const error = new MediaError('record_mismatch', 'It has another size.');
      expect(formatOutcome(format, {...outcome, status: 'mismatched', error} as UploadResult)).toBe('');
    },
  );

  it('markdown: a URL forms no command to a CI runner', () => {
    const outcome = uploaded(
      '{"id":"m","type":"IMAGE","fileUrl":"https://c/1##vso[task.x]##[error]"}',
      'a.png',
    );
    expect(formatOutcome('markdown', outcome)).toBe('![a.png](https://c/1#&#35;vso[task.x]#&#35;[error])\n');
  });

  it.each(['uploaded', 'skipped', 'mismatched'] as const)('ndjson, %s: with the record', status => {
    const error = status === 'mismatched' && new MediaError('record_mismatch', 'It has another size.');
    const outcome = {...uploaded('{"id":"m","size":1.50}'), status, ...(error && {error})} as UploadResult;
    expect(formatOutcome('ndjson', outcome)).toContain(',"record":{"id":"m","size":1.50}');
  });

  it('ndjson, stored, and not in the journal: the error says so', () => {
    const unrecorded = new MediaError('journal_failed', 'The disk is full.');
    const line = formatOutcome('ndjson', {...uploaded('{"id":"m"}'), unrecorded} as UploadResult);
    const error = {code: 'journal_failed', message: 'The disk is full.'};
    expect(JSON.parse(line)).toMatchObject({status: 'uploaded', id: 'm', error});
  });

  it('ndjson, a failure: all its fields in the order of the contract', () => {
    expect(formatOutcome('ndjson', failed)).toBe(
      '{"file":"gone.png","status":"failed","error":{"code":"rejected","message":"No.","status":418,"serviceCode":7,' +
        '"hint":"Make tea."},"contentType":"image/png","size":3,"attempts":2,"elapsedMs":9}\n',
    );
  });

  it('ndjson, what a dry run checked: checked', () => {
    expect(
      formatOutcome(
        'ndjson',
        outcomeOf({file: 'a', status: 'checked', contentType: 'image/png', attempts: 0}),
      ),
    ).toBe('{"file":"a","status":"checked","contentType":"image/png","attempts":0,"elapsedMs":1}\n');
  });

  it.each(["$& $1 $' $` $$", '","status":"failed"'])('ndjson: a record with %j', text => {
    const json = JSON.stringify({id: 'm_1', text});
    expect(JSON.parse(formatOutcome('ndjson', uploaded(json))).record).toEqual(JSON.parse(json));
  });

  it('ndjson and json: the record as it came', () => {
    const outcome = uploaded('{ "id" : 12345678901234567890, "x": [1.0, 1E400] }');
    expect(formatOutcome('json', outcome)).toBe('{"id":12345678901234567890,"x":[1.0,1E400]}\n');
    expect(formatOutcome('ndjson', outcome)).toContain(
      ',"record":{"id":12345678901234567890,"x":[1.0,1E400]}}\n',
    );
  });
});

describe('recordRows', () => {
  it.each<[MediaRecord, [string, string][]]>([
    [
      {size: 5, id: 'm'},
      [
        ['id', 'm'],
        ['size', '5'],
      ],
    ],
    [
      {id: 'm', width: null, extra: {a: 1}},
      [
        ['id', 'm'],
        ['width', '-'],
        ['extra', '{"a":1}'],
      ],
    ],
    [
      {id: 'm', urls: [{variant: 'PUBLIC', url: 'https://c/1', note: 'x'}, {url: 'https://c/2'}]},
      [
        ['id', 'm'],
        ['urls', 'PUBLIC https://c/1 {"note":"x"}\nhttps://c/2'],
      ],
    ],
    [
      {id: 'm', urls: [{variant: 'PUBLIC', url: 'https://c/1'}], fileUrl: 'https://c/1'},
      [
        ['id', 'm'],
        ['fileUrl', 'https://c/1'],
      ],
    ],
    [
      {id: 'm', urls: []},
      [
        ['id', 'm'],
        ['urls', '[]'],
      ],
    ],
  ])('%j', (record, rows) => {
    expect(recordRows(record)).toEqual(rows);
  });
});

describe('tableColumns', () => {
  it('a success, a failure, and something checked', () => {
    const row = (outcome: UploadResult, dryRun = false) =>
      tableColumns(dryRun, true).map(([, text]) => text(outcome) ?? '');
    const json = '{"id":"m","width":2,"height":3,"size":4,"fileUrl":"https://c/1"}';
    expect(row(uploaded(json))).toEqual(['photo.png', 'uploaded', '', 'https://c/1', 'm']);
    expect(row(failed)).toEqual(['gone.png', 'failed', '3 B', 'rejected', '']);
    const checked = outcomeOf({file: 'a', status: 'checked', contentType: 'image/png', size: 1, attempts: 0});
    expect(row(checked, true)).toEqual(['a', 'checked', 'image/png', '1 B', '']);
    expect(row(failed, true)).toEqual(['gone.png', 'failed', 'image/png', '3 B', 'rejected']);
  });
});

describe('Results', () => {
  const outcomes = ['a', 'b', 'c', 'd'].map(id => uploaded(`{"id":"${id}","fileUrl":"${id}"}`, id));

  /** What is on stdout after each outcome, added in this order, and after the end. */
  async function printed(format: FormatName, order: number[]): Promise<string[]> {
    const stream = new PassThrough();
    const options = {format, several: true, dryRun: false, isVerbose: false};
    const results = new Results(new Stdout(stream), {}, options);
    const steps: string[] = [];
    // Since Node 26 a read gives one chunk of several.
    const written = () => {
      let text = '';
      for (let chunk = stream.read(); chunk !== null; chunk = stream.read()) text += chunk;
      return text;
    };
    for (const position of order) {
      await results.add({...(outcomes[position] as UploadResult), position});
      steps.push(written());
    }
    await results.end();
    return [...steps, written()];
  }

  it.each(['url', 'json'] as const)('%s: in the order of the inputs, as soon as it allows', async format => {
    const line = (id: string) => (format === 'url' ? `${id}\n` : `{"id":"${id}","fileUrl":"${id}"}\n`);
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(line);
    expect(await printed(format, [1, 0, 3, 2])).toEqual(['', `${a}${b}`, '', `${c}${d}`, '']);
  });

  it.each<OutputFormat>([
    'url',
    'ndjson',
    'table',
    {template: parseTemplate('{file}\\n'), pathOf: name => name},
  ])('%j: nothing of a file that was left out', async format => {
    const stream = new PassThrough();
    const options = {format, several: true, dryRun: false, isVerbose: false};
    const results = new Results(new Stdout(stream), {}, options);
    await results.add({position: 0, status: 'left out', file: 'notes.txt', isHidden: false});
    await results.end();
    expect(stream.read()).toBeNull();
  });

  it('an input that never came: the others in their order at the end', async () => {
    expect(await printed('url', [3, 2, 0])).toEqual(['', '', 'a\n', 'c\nd\n']);
  });

  it('ndjson: as they come', async () => {
    const ids = (await printed('ndjson', [2, 0, 3, 1])).slice(0, -1).map(line => JSON.parse(line).record.id);
    expect(ids).toEqual(['c', 'a', 'd', 'b']);
  });

  it('table: at the end, in the order of the inputs', async () => {
    const steps = await printed('table', [3, 1, 0, 2]);
    expect(steps.slice(0, -1).join('')).toBe('');
    const rows = steps.at(-1)?.split('\n').slice(3, 7);
    expect(rows?.map(row => row.split('│')[1]?.trim())).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('renderTable', () => {
  const headings = ['file', 'status', 'url'];
  const rows = [
    ['a.png', 'uploaded', 'https://c.example/1'],
    ['夏の写真.png', 'failed', 'It did not work.'],
  ];

  it('room for everything: one line a row, the headings set apart', () => {
    expect(renderTable(rows, {headings, width: 80, color: false})).toBe(
      [
        '┌──────────────┬──────────┬─────────────────────┐',
        '│ file         │ status   │ url                 │',
        '├──────────────┼──────────┼─────────────────────┤',
        '│ a.png        │ uploaded │ https://c.example/1 │',
        '│ 夏の写真.png │ failed   │ It did not work.    │',
        '└──────────────┴──────────┴─────────────────────┘',
        '',
      ].join('\n'),
    );
  });

  it('room for all but the last column: no borders, that one below where it does not fit', () => {
    expect(renderTable(rows, {headings, width: 30, color: false})).toBe(
      [
        'file          status    url',
        'a.png         uploaded',
        '  https://c.example/1',
        '夏の写真.png  failed',
        '  It did not work.',
        '',
      ].join('\n'),
    );
  });

  it('hardly any room: a cell a line, but URLs whole', () => {
    expect(renderTable(rows, {headings, width: 16, color: false})).toBe(
      [
        ...['file', '  status', '  url'],
        ...['a.png', '  uploaded', '  https://c.example/1'],
        ...['夏の写真.png', '  failed', '  It did not', '  work.'],
        '',
      ].join('\n'),
    );
  });

  it.each([80, 30, 16])('a status in its style, %i columns', width => {
    expect(renderTable(rows, {headings, width, color: true})).toMatch(
      // biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence begins with one
      /\u001b\[32muploaded\u001b\[39m\s[\s\S]*\u001b\[31mfailed\u001b\[39m/,
    );
    expect(renderTable(rows, {headings, width, color: false})).not.toContain('\u001b');
  });

  it('no headings: a value beside its name, or below where it does not fit', () => {
    const record = [
      ['id', 'm_1'],
      ['imageType', 'a long word for it'],
      ['fileUrl', 'https://c.example/a-long-way'],
    ];
    expect(renderTable(record, {width: 24, color: false})).toBe(
      [
        'id         m_1',
        'imageType',
        '  a long word for it',
        'fileUrl',
        '  https://c.example/a-long-way',
        '',
      ].join('\n'),
    );
  });
});

describe('cells', () => {
  it.each([
    ['abc', 3],
    ['é', 1],
    ['e\u0301', 1],
    ['夏', 2],
    ['사진', 4],
    ['👩', 2],
    ['…', 1],
    ['', 0],
  ])('%j takes %i', (text, cells) => {
    expect(cellsOf(text)).toBe(cells);
  });

  it.each([
    ['photograph.png', 14, 'photograph.png'],
    ['photograph.png', 9, 'phot….png'],
    ['photograph.png', 8, 'phot…png'],
    ['夏の写真.png', 8, '夏の…png'],
    ['photo.png', 2, 'p…'],
    ['夏の写真.png', 2, '…g'],
    ['photo.png', 1, '…'],
    ['photo.png', 0, ''],
  ])('cutMiddle(%j, %i)', (text, cells, expected) => {
    expect(cellsOf(cutMiddle(text, cells))).toBeLessThanOrEqual(cells);
    expect(cutMiddle(text, cells)).toBe(expected);
  });

  it.each([
    ['one two three', 8, ['one two', 'three']],
    ['one two', 7, ['one two']],
    ['abcdefgh', 3, ['abc', 'def', 'gh']],
    ['夏の写真', 5, ['夏の', '写真']],
    ['夏', 1, ['夏']],
    ['a\nb', 9, ['a', 'b']],
    [' lead', 3, ['lea', 'd']],
    ['', 5, ['']],
    ['in/👩‍👩‍👧.png', 12, ['in/👩‍👩‍👧.', 'png']],
    ['in/👩‍👩‍👧.png', 8, ['in/👩\u200d👩', '\u200d👧.png']],
    ['see https://c.example/1 there', 8, ['see', 'https://c.example/1', 'there']],
    ['https://c.example/1', 3, ['https://c.example/1']],
    ['abcdefhttps://c.example/1', 8, ['abcdefhttps://c.example/1']],
  ])('wrap(%j, %i)', (text, cells, lines) => {
    expect(wrap(text, cells)).toEqual(lines);
  });
});
