import {PassThrough} from 'node:stream';
import {type FormatName, formatNames} from '../../../../src/cli/output/results/formats.ts';
import {Results} from '../../../../src/cli/output/results/results.ts';
import {Stdout} from '../../../../src/cli/output/stdout.ts';
import {parseErrorRecord, parseRecord} from '../../../../src/engine/service/record.ts';
import {experiment} from '../../../support/experiment/experiment.ts';
import {outcomeOf} from '../../../support/outcomes.ts';

const mebibyte = 1024 * 1024;
const names = [
  'id',
  'type',
  'urls',
  'width',
  'imageType',
  'fileUrl',
  'duration',
  'size',
  'code',
  'message',
  '__proto__',
  'é',
];
const texts = [
  'x',
  ' ',
  '\\n',
  '\\u001b[31m',
  '\\u0000',
  '中',
  '👩‍👩‍👧 ',
  '\\ud800',
  'http://a/',
  '\\"',
  '=1+1',
  '\u0301',
  '\u202e',
];

/** JSON, or nearly, that is deep, wide or long, in at most 1 MiB. */
function answer(random: () => number): string {
  const below = (limit: number) => Math.floor(random() * limit);
  const one = <Item>(items: readonly Item[]) => items[below(items.length)] as Item;
  // Most are small, so that ten thousand are made in minutes.
  const room = random() < 0.02 ? mebibyte : 2 ** (4 + below(12));
  const long = () => `"${one(texts).repeat(Math.max(1, below(room / 4)))}"`;
  const deep = () => {
    const depth = below(Math.min(room / 2, random() < 0.5 ? 600 : mebibyte));
    return random() < 0.5
      ? '['.repeat(depth) + ']'.repeat(depth)
      : `${'{"a":'.repeat(depth / 5)}1${'}'.repeat(depth / 5)}`;
  };
  const wide = () => {
    const count = below(room / 12);
    return random() < 0.5
      ? `[${Array.from({length: count}, () => one(['1', '{}', '[]', '""', 'null', '{"url":1}'])).join(',')}]`
      : `{${Array.from({length: count}, (_, index) => `"a${index}":0`).join(',')}}`;
  };
  const value = () =>
    one([long, deep, wide, () => String(10 ** below(400)), () => '-0.0e-99', () => 'null'])();
  const fields = Array.from({length: 1 + below(6)}, () => `"${one(names)}":${value()}`);
  if (random() < 0.1) fields.push(wide().slice(1, -1) || '"b":0');
  const text = `{"id":"m_1",${fields.join(',')}}`;
  return random() < 0.1 ? text.slice(0, below(text.length)) : text;
}

/** All that is printed of an uploaded file with this record. */
async function printed(
  record: ReturnType<typeof parseRecord>,
  format: FormatName,
  several: boolean,
): Promise<number> {
  if ('problem' in record) return 0;
  let length = 0;
  const stream = Object.assign(new PassThrough(), {isTTY: true, columns: 80});
  stream.on('data', chunk => {
    length += chunk.length;
  });
  const options = {format, several, dryRun: false, isVerbose: false};
  const results = new Results(new Stdout(stream), {}, options);
  await results.add(outcomeOf({status: 'uploaded', ...record, size: 1, contentType: 'image/png'}));
  await results.end();
  return length;
}

experiment(
  'records of any depth, width and length: read and printed, or refused',
  async ({scale, random}) => {
    const tried = scale === 'long' ? 10_000 : 200;
    const broken: string[] = [];
    let largest = 0;
    for (let trial = 0; trial < tried; trial += 1) {
      const text = answer(random);
      const start = performance.now();
      try {
        parseErrorRecord(text);
        const record = parseRecord(text);
        for (const format of formatNames)
          for (const several of format === 'table' ? [true, false] : [false])
            largest = Math.max(largest, await printed(record, format, several));
      } catch (error) {
        broken.push(`${text.slice(0, 80)}: ${error}`);
      }
      const seconds = (performance.now() - start) / 1000;
      if (seconds > 20) broken.push(`${text.slice(0, 80)}: ${Math.round(seconds)} s`);
    }
    return {
      tried,
      held: tried - broken.length,
      broken,
      note: `at most ${Math.ceil(largest / mebibyte)} MiB printed of one`,
    };
  },
);
