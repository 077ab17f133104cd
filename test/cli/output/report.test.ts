import {PassThrough} from 'node:stream';
import {expect, it} from 'vitest';
import {Report} from '../../../src/cli/output/report.ts';
import {MediaError} from '../../../src/errors.ts';
import {inWords} from '../../support/hints.ts';

it.each(['json', 'ndjson', undefined] as const)(
  'a drawing is cleared before each line and drawn again after it (JSON: %s)',
  json => {
    const stream = new PassThrough();
    const events: string[] = [];
    stream.on('data', chunk =>
      events.push(
        ...String(chunk)
          .split('\n')
          .slice(0, -1)
          .map(() => 'line'),
      ),
    );
    const report = new Report({stream, json, color: false, level: 'verbose', inWords});
    report.drawing = {clear: () => events.push('clear'), draw: () => events.push('draw')};
    report.failure(
      new MediaError('empty_file', 'It is empty.', {hint: 'Fill it.', cause: new Error('why')}),
      'a.png',
      true,
    );
    report.failures(new MediaError<string>('empty_file', 'They are empty.'), '2 files', ['a', 'b'], 2);
    report.warning('Look out.');
    report.warnings('Look out.', ['a', 'b'], 3);
    report.event('GET / 200', {signIn: {url: 'http://localhost/'}});
    report.event('GET / 200', {signIn: {url: 'http://127.0.0.1/'}});
    report.note('By the way.');
    report.trace('A step.');
    expect(events.length).toBeGreaterThan(27);
    expect(events).toEqual(events.map((_, index) => ['clear', 'line', 'draw'][index % 3]));
  },
);
