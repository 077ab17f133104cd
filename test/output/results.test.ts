import {PassThrough} from 'node:stream';
import {describe, expect, it} from 'vitest';
import {MediaError} from '../../src/errors.ts';
import {Results} from '../../src/output/results/results.ts';
import {Stdout} from '../../src/output/stdout.ts';
import type {ReceivedRecord} from '../../src/service/record.ts';
import type {Outcome} from '../../src/transfer/outcome.ts';
import {outcomeOf} from '../support/outcomes.ts';

function checked(position: number): Outcome {
  const name = `p${position}.png`;
  return outcomeOf({name, position, status: 'checked', contentType: 'image/png', size: 1, attempts: 0});
}

/** What is printed of one uploaded file with this record. */
async function tableOf(record: ReceivedRecord['record']): Promise<string> {
  const stream = Object.assign(new PassThrough(), {isTTY: true, columns: 100});
  let text = '';
  stream.on('data', chunk => {
    text += chunk;
  });
  const options = {format: 'table', several: false, dryRun: false, isVerbose: false} as const;
  const results = new Results(new Stdout(stream), {NO_COLOR: '1'}, options);
  await results.add(outcomeOf({name: 'p0.png', status: 'uploaded', size: 1, record, json: '{}'}));
  await results.end();
  return text;
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
    const stream = new PassThrough();
    let text = '';
    stream.on('data', chunk => {
      text += chunk;
    });
    const options = {format: 'table', several: true, dryRun: false, isVerbose: false} as const;
    const results = new Results(new Stdout(stream), {}, options);
    const error = new MediaError('empty_file', 'It is empty.');
    for (let position = 0; position < 200; position += 1) {
      const isFailed = position >= firstFailure && position % 50 === 7;
      await results.add(isFailed ? {...checked(position), status: 'failed', error} : checked(position));
    }
    await results.end();
    const expected = [7, 57, 107, 157]
      .filter(position => position >= firstFailure)
      .map(position => `p${position}.png`);
    expect(text.match(/p\d+\.png/g)).toEqual(expected);
    expect(text).toMatch(new RegExp(`checked +│ ${200 - expected.length} +│ ${200 - expected.length} B `));
  });

  it('500 names of 10,000 characters: a table of all that fits, and one of the rest', async () => {
    const stream = new PassThrough();
    let text = '';
    stream.on('data', chunk => {
      text += chunk;
    });
    const options = {format: 'table', several: true, dryRun: false, isVerbose: true} as const;
    const results = new Results(new Stdout(stream), {}, options);
    for (let position = 0; position < 500; position += 1)
      await results.add({...checked(position), name: `p${position}.png`.padStart(10_000, 'x')});
    await results.end();
    expect(text.match(/│ file /g)).toHaveLength(2);
    expect(text.match(/p\d+\.png/g)).toHaveLength(500);
  });

  it('on a terminal, 101 rows and more: all of them', async () => {
    const stream = Object.assign(new PassThrough(), {isTTY: true, columns: 100});
    let text = '';
    stream.on('data', chunk => {
      text += chunk;
    });
    const options = {format: 'table', several: true, dryRun: false, isVerbose: false} as const;
    const results = new Results(new Stdout(stream), {}, options);
    for (let position = 0; position < 150; position += 1) await results.add(checked(position));
    await results.end();
    expect(text.match(/p\d+\.png/g)).toHaveLength(150);
  });

  it('2,500 rows: tables of up to 1,000, the first before the last outcome has come', async () => {
    const stream = new PassThrough();
    let text = '';
    stream.on('data', chunk => {
      text += chunk;
    });
    const options = {format: 'table', several: true, dryRun: false, isVerbose: true} as const;
    const results = new Results(new Stdout(stream), {}, options);
    for (let position = 0; position < 1000; position += 1) await results.add(checked(position));
    expect(text).toContain('p999.png');
    for (let position = 1000; position < 2500; position += 1) await results.add(checked(position));
    expect(text).not.toContain('p2499.png');
    await results.end();
    expect(text.match(/│ file /g)).toHaveLength(3);
    expect(text.match(/p\d+\.png/g)).toEqual(Array.from({length: 2500}, (_, index) => `p${index}.png`));
  });
});
