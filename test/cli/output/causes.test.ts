import {describe, expect, test} from 'vitest';
import {causesOf} from '../../../src/cli/output/failure-text.ts';
import {MediaError} from '../../../src/errors.ts';

const reset = Object.assign(new Error('read ECONNRESET'), {code: 'ECONNRESET'});
const closed = Object.assign(new Error('other side closed'), {code: 'UND_ERR_SOCKET'});
const lost = (cause: unknown) => new MediaError('connection_lost', 'The connection broke.', {cause});

describe('the causes of', () => {
  test.each<[string, unknown, string[]]>([
    ['nothing', undefined, []],
    ['a system error, whose words hold its code', reset, ['  cause: read ECONNRESET']],
    ['an error with a code of its own', closed, ['  cause: other side closed (UND_ERR_SOCKET)']],
    ['an error without words', new TypeError(), ['  cause: TypeError']],
    [
      'JSON that cannot be read, which its words quote',
      new SyntaxError('"secret" is not valid JSON'),
      ['  cause: SyntaxError'],
    ],
    ['what is no error', 'a text', ['  cause: a text']],
    ['null', null, []],
    [
      'several addresses',
      new AggregateError([reset, closed]),
      ['  cause: read ECONNRESET; other side closed (UND_ERR_SOCKET)'],
    ],
    ['a chain', new Error('outer', {cause: reset}), ['  cause: outer', '  cause: read ECONNRESET']],
  ])('a failure by %s', (_, cause, lines) => {
    expect(causesOf(lost(cause))).toEqual(lines);
  });

  test('a failure whose sentence repeats that of its cause: only what is new', () => {
    const unknown = new MediaError('outcome_unknown', 'The connection broke. It may be stored.', {
      cause: lost(reset),
    });
    expect(causesOf(unknown)).toEqual(['  cause: read ECONNRESET']);
  });

  test('a failure that is its own cause: an end', () => {
    const first = new Error('first');
    first.cause = new Error('second', {cause: first});
    expect(causesOf(lost(first)).length).toBeLessThanOrEqual(10);
  });

  test('a bug: its stack', () => {
    const error = new MediaError('internal', 'Internal error.', {
      cause: new TypeError('x is not a function'),
    });
    const [first, second] = causesOf(error);
    expect(first).toBe('  TypeError: x is not a function');
    expect(second).toMatch(/^ {6}at .*causes\.test\.ts/);
  });
});
