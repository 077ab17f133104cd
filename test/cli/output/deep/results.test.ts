import {PassThrough} from 'node:stream';
import {describe, expect, it} from 'vitest';
import {Results} from '../../../../src/cli/output/results/results.ts';
import {Stdout} from '../../../../src/cli/output/stdout.ts';
import type {ReceivedRecord} from '../../../../src/engine/service/record.ts';
import type {UploadResult} from '../../../../src/engine/transfer/outcome.ts';
import {MediaError} from '../../../../src/errors.ts';
import {outcomeOf} from '../../../support/outcomes.ts';

function checked(position: number): UploadResult {
  const name = `p${position}.png`;
  return outcomeOf({file: name, position, status: 'checked', contentType: 'image/png', size: 1, attempts: 0});
}

/** Results that are printed on a stream that is perhaps a terminal, and their text so far. */
function printing(
  given: {several?: boolean; isVerbose?: boolean} = {},
  terminal: {isTTY?: true; columns?: number} = {},
  env: Record<string, string> = {},
) {
  const stream = Object.assign(new PassThrough(), terminal);
  let text = '';
  stream.on('data', chunk => {
    text += chunk;
  });
  const options = {format: 'table', several: true, dryRun: false, isVerbose: false, ...given} as const;
  return {results: new Results(new Stdout(stream), env, options), printed: () => text};
}

/** What is printed of one uploaded file with this record. */
async function tableOf(record: ReceivedRecord['record']): Promise<string> {
  const {results, printed} = printing({several: false}, {isTTY: true, columns: 100}, {NO_COLOR: '1'});
  await results.add(outcomeOf({file: 'p0.png', status: 'uploaded', size: 1, record, json: '{}'}));
  await results.end();
  return printed();
}

describe('Results', () => {
  it.each<[string, ReceivedRecord['record'], string]>([
    [
      '90,000 fields',
      {id: 'm_1', ...Object.fromEntries(Array.from({length: 90_000}, (_, index) => [`a${index}`, 0]))},
      '89801 more fields; --json shows all',
    ],
    ['50,000 URLs', {id: 'm_1', urls: Array(50_000).fill({})}, 'characters; --json shows all'],
    ['400,000 wide characters', {id: '中 '.repeat(200_000)}, '... (400000 characters; --json shows all)'],
  ])('a record with %s: a table of as much as can be read', async (_name, record, note) => {
    const text = (await tableOf(record)).replace(/[│\s]+/g, ' ');
    expect(text).toContain(note);
    expect(text).toMatch(/^┌|^id /);
  });

  it.each([
    ['all at once', 0],
    ['failures late', 150],
  ])('brief, 101 rows and more, %s: failures and totals only', async (_when, firstFailure) => {
    const {results, printed} = printing();
    const error = new MediaError<string>('empty_file', 'It is empty.');
    for (let position = 0; position < 200; position += 1) {
      const isFailed = position >= firstFailure && position % 50 === 7;
      await results.add(isFailed ? {...checked(position), status: 'failed', error} : checked(position));
    }
    await results.end();
    const expected = [7, 57, 107, 157]
      .filter(position => position >= firstFailure)
      .map(position => `p${position}.png`);
    expect(printed().match(/p\d+\.png/g)).toEqual(expected);
    expect(printed()).toMatch(
      new RegExp(`checked +│ ${200 - expected.length} +│ ${200 - expected.length} B `),
    );
  });

  it.each([
    [100, 100],
    [101, 0],
  ])('off a terminal, %d rows without a failure: %d of them', async (count, shown) => {
    const {results, printed} = printing();
    for (let position = 0; position < count; position += 1) await results.add(checked(position));
    await results.end();
    expect(printed().match(/p\d+\.png/g) ?? []).toHaveLength(shown);
    expect(printed().includes('│ files ')).toBe(shown === 0);
  });

  it('500 names of 10,000 characters: a table of all that fits, and one of the rest', async () => {
    const {results, printed} = printing({isVerbose: true});
    for (let position = 0; position < 500; position += 1)
      await results.add({...checked(position), file: `p${position}.png`.padStart(10_000, 'x')});
    await results.end();
    expect(printed().match(/│ file /g)).toHaveLength(2);
    expect(printed().match(/p\d+\.png/g)).toHaveLength(500);
  });

  it('on a terminal, 101 rows and more: all of them', async () => {
    const {results, printed} = printing({}, {isTTY: true, columns: 100});
    for (let position = 0; position < 150; position += 1) await results.add(checked(position));
    await results.end();
    expect(printed().match(/p\d+\.png/g)).toHaveLength(150);
  });

  it('2,500 rows: tables of up to 1,000, the first before the last outcome has come', async () => {
    const {results, printed} = printing({isVerbose: true});
    for (let position = 0; position < 1000; position += 1) await results.add(checked(position));
    expect(printed()).toContain('p999.png');
    for (let position = 1000; position < 2500; position += 1) await results.add(checked(position));
    expect(printed()).not.toContain('p2499.png');
    await results.end();
    expect(printed().match(/│ file /g)).toHaveLength(3);
    expect(printed().match(/p\d+\.png/g)).toEqual(Array.from({length: 2500}, (_, index) => `p${index}.png`));
  });
});
