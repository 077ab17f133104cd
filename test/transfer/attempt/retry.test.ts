import {describe, expect, test} from 'vitest';
import {type ErrorCode, MediaError} from '../../../src/errors.ts';
import type {Refused} from '../../../src/service/uploader.ts';
import {
  backoffMs,
  decide,
  type Failure,
  overloadOf,
  type Phase,
  parseRetryAfter,
  RetryBudget,
  type Sign,
  signOf,
} from '../../../src/transfer/attempt/retry.ts';

const error = (code: ErrorCode): Failure => ({kind: 'error', error: new MediaError(code, 'A sentence.')});
const refused = (status: number, rest: Partial<Refused> = {}): Failure => ({
  kind: 'refused',
  status,
  ...rest,
});
const proxyAnswered = (status: number): Failure => ({
  kind: 'error',
  error: new MediaError('proxy_failed', 'A sentence.', {status}),
});
const connection: Failure = {kind: 'connection', cause: new Error('other side closed')};
const stall: Failure = {kind: 'stall', afterMs: 1};
const answerTimeout: Failure = {kind: 'answer-timeout', afterMs: 1};
const unreadable: Failure = {kind: 'unreadable', status: 200, problem: 'not JSON'};
const premature: Failure = {kind: 'premature', status: 200};
const stopped: Failure = {
  kind: 'stopped',
  error: new MediaError('interrupted', 'The run was stopped by SIGINT.'),
};

type Verdict = 'retry' | 'unknown' | 'fail' | 'fail, halt if first' | 'fail, halt';

function verdict(phase: Phase, failure: Failure): Verdict {
  const decision = decide(phase, failure);
  if (decision.action !== 'fail') return decision.action;
  return ({never: 'fail', 'if-first': 'fail, halt if first', always: 'fail, halt'} as const)[decision.halt];
}

const everyPhase: Phase[] = ['opening', 'connecting', 'held', 'released'];

const rows: [phases: Phase[], what: string, failure: Failure, expected: Verdict][] = [
  [['connecting'], 'EAI_AGAIN', error('dns_unavailable'), 'retry'],
  [['connecting'], 'ECONNREFUSED', error('connection_refused'), 'retry'],
  [['connecting'], 'a connect timeout', error('connect_timeout'), 'retry'],
  [['connecting'], 'any other failure to connect', error('connect_failed'), 'retry'],
  [['connecting'], 'ENOTFOUND', error('host_not_found'), 'fail'],
  [['connecting'], 'a bad certificate', error('tls_failed'), 'fail'],
  [['connecting'], '407 of a proxy', proxyAnswered(407), 'fail'],
  [['connecting'], '502 of a proxy', proxyAnswered(502), 'retry'],
  [['opening'], 'a missing file', error('file_missing'), 'fail'],
  [['opening'], 'an unreadable file', error('file_unreadable'), 'fail'],
  [['opening'], 'a directory or device', error('not_a_file'), 'fail'],
  [['opening'], 'an empty file', error('empty_file'), 'fail'],
  [['opening'], 'EMFILE', error('too_many_open_files'), 'retry'],
  [['connecting', 'held'], 'EPIPE, ECONNRESET, other side closed', connection, 'retry'],
  [['held'], 'a stall', stall, 'retry'],
  [['held'], 'a source that changed', error('source_changed'), 'fail'],
  [['held'], 'a read error', error('file_unreadable'), 'fail'],
  [['held'], 'a 2xx although bytes are missing', premature, 'fail'],
  [everyPhase, '401', refused(401), 'fail, halt'],
  [everyPhase, '403', refused(403), 'fail, halt if first'],
  [everyPhase, '404', refused(404), 'fail, halt if first'],
  ...[
    400, 402, 405, 406, 407, 409, 410, 411, 412, 413, 414, 415, 417, 421, 422, 423, 425, 426, 428, 431, 451,
    499,
  ].map(
    status => [everyPhase, String(status), refused(status), 'fail'] as [Phase[], string, Failure, Verdict],
  ),
  [everyPhase, '429', refused(429), 'retry'],
  [['connecting', 'held'], '503', refused(503), 'retry'],
  [['released'], '503 of a gateway', refused(503), 'unknown'],
  [['released'], '503 with half an error record', refused(503, {message: 'Busy.'}), 'unknown'],
  [everyPhase, '503 with an error record', refused(503, {message: 'Busy.', serviceCode: 1}), 'retry'],
  [everyPhase, '507 with an error record', refused(507, {message: 'Full.', serviceCode: 1}), 'fail'],
  [['released'], '507 with half an error record', refused(507, {message: 'Full.'}), 'unknown'],
  [everyPhase, '429 with a long Retry-After', refused(429, {longWaitMs: 86_400_000}), 'fail'],
  ...[300, 301, 302, 303, 304, 305, 307, 308, 399].map(
    status => [everyPhase, String(status), refused(status), 'fail'] as [Phase[], string, Failure, Verdict],
  ),
  ...[408, 500, 501, 502, 504, 505, 507, 508, 511, 520, 524, 599].flatMap(
    status =>
      [
        [['connecting', 'held'], String(status), refused(status), 'retry'],
        [['released'], String(status), refused(status), 'unknown'],
      ] as [Phase[], string, Failure, Verdict][],
  ),
  [['released'], 'a reset, a FIN, garbage or two lengths', connection, 'unknown'],
  [['released'], 'an answer timeout', answerTimeout, 'unknown'],
  [['released'], 'a 2xx that is no record', unreadable, 'unknown'],
  [['opening', 'connecting', 'held'], 'what failed in this process', error('local_failure'), 'fail, halt'],
  [['released'], 'what failed in this process', error('local_failure'), 'unknown'],
  [['opening', 'connecting', 'held'], 'a signal or the deadline', stopped, 'fail'],
  [['released'], 'a signal or the deadline', stopped, 'unknown'],
];

describe('decide', () => {
  for (const [phases, what, failure, expected] of rows) {
    test(`${phases.join(', ')}: ${what}: ${expected}`, () => {
      expect(phases.map(phase => verdict(phase, failure))).toEqual(phases.map(() => expected));
    });
  }
});

test.each(everyPhase)('%s: 409 after an earlier attempt with the same key', phase => {
  const conflict = refused(409);
  expect(decide(phase, conflict, {isHonoured: true, wasReleased: false})).toEqual({action: 'retry'});
  expect(decide(phase, conflict, {isHonoured: true, wasReleased: true})).toEqual({action: 'retry'});
  const unknown = decide(phase, conflict, {isHonoured: false, wasReleased: true});
  expect(unknown).toEqual({action: 'unknown', isFinal: true});
  expect(signOf(conflict, unknown)).toBe('refused');
  const known = {isHonoured: true, wasReleased: true};
  expect(decide(phase, refused(415), known)).toEqual({action: 'fail', halt: 'never'});
});

const signs: [string, Phase, Failure, Sign][] = [
  ['502 from a gateway', 'held', refused(502), 'away'],
  ['503 from a gateway', 'held', refused(503), 'away'],
  ['504 from a gateway', 'released', refused(504), 'away'],
  ['503 with an error record', 'released', refused(503, {message: 'Busy.', serviceCode: 1}), 'refused'],
  ['429', 'held', refused(429), 'refused'],
  ['415', 'released', refused(415), 'refused'],
  ['500 after the release', 'released', refused(500), 'away'],
  ['500 before it', 'held', refused(500), 'neither'],
  ['a refused connection', 'connecting', error('connection_refused'), 'away'],
  ['a name that cannot be looked up now', 'connecting', error('dns_unavailable'), 'away'],
  ['CONNECT that got 503', 'connecting', proxyAnswered(503), 'away'],
  ['CONNECT that got 407', 'connecting', proxyAnswered(407), 'neither'],
  ['a source that changed', 'held', error('source_changed'), 'neither'],
  ['a connection that broke after the release', 'released', connection, 'away'],
  ['a connection that broke before it', 'held', connection, 'neither'],
  ['a signal after the release', 'released', stopped, 'neither'],
];

test.each(signs)('the sign of %s, %s', (_what, phase, failure, expected) => {
  expect(signOf(failure, decide(phase, failure))).toBe(expected);
});

describe('backoffMs', () => {
  test.each([
    [0, 500],
    [1, 1_000],
    [2, 2_000],
    [3, 4_000],
    [4, 8_000],
    [5, 16_000],
    [6, 20_000],
    [7, 20_000],
    [2_000, 20_000],
  ])('attempt %i: anything from 0 to %i ms', (attempt, most) => {
    expect(backoffMs(attempt, () => 0)).toBe(0);
    expect(backoffMs(attempt, () => 0.5)).toBe(most / 2);
    expect(backoffMs(attempt, () => 0.999_999)).toBeLessThan(most);
  });
});

describe('overloadOf: whether fewer files at a time might have prevented a failure', () => {
  const record = {serviceCode: 1, message: 'Busy.'};
  test.each<[string, Phase, Failure, ReturnType<typeof overloadOf>]>([
    ['429', 'released', refused(429), 'refused'],
    ['503 with an error record', 'released', refused(503, record), 'refused'],
    ['503 of a gateway before the last byte', 'held', refused(503), 'refused'],
    ['503 of a gateway', 'released', refused(503), 'broken'],
    ['502 of a gateway whose service takes no more', 'released', refused(502), 'broken'],
    ['500', 'released', refused(500), 'broken'],
    ['504', 'released', refused(504), 'broken'],
    ['408', 'released', refused(408), 'broken'],
    ['413', 'released', refused(413), undefined],
    ['401', 'held', refused(401), undefined],
    ['a connection that broke', 'released', connection, 'broken'],
    ['no response in time', 'released', answerTimeout, 'broken'],
    ['no byte taken in time', 'held', stall, 'broken'],
    ['no connection', 'connecting', error('connection_refused'), 'broken'],
    ['no descriptor', 'opening', error('too_many_open_files'), 'broken'],
    ['a source that changed', 'held', error('source_changed'), undefined],
    ['a response that makes no sense', 'released', unreadable, undefined],
    ['Ctrl-C', 'released', stopped, undefined],
  ])('%s, %s', (_, phase, failure, expected) => {
    expect(overloadOf(phase, failure)).toBe(expected);
  });
});

describe('parseRetryAfter', () => {
  const now = Date.UTC(1994, 10, 6, 8, 49, 30);
  test.each([
    ['0', 0],
    ['7', 7_000],
    [' 120 ', 120_000],
    ['999999999', 999_999_999_000],
    ['10000000000', 999_999_999_000],
    ['94608000000', 999_999_999_000],
    ['9'.repeat(400), 999_999_999_000],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 7_000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 7_000],
    ['Sun Nov  6 08:49:37 1994', 7_000],
    ['Sun, 06 Nov 1994 08:49:00 GMT', 0],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ])('%s: %i ms', (value, expected) => {
    expect(parseRetryAfter(value, now)).toBe(expected);
  });

  test.each([
    '',
    ' ',
    '-1',
    '+1',
    '1.5',
    '1e3',
    '0x10',
    '10 s',
    '10, 20',
    'soon',
    'Sun, nonsense',
    'Sunday',
    '1994-11-06T08:49:37Z',
    'Infinity',
    'NaN',
  ])('%j: neither form', value => {
    expect(parseRetryAfter(value, now)).toBeUndefined();
  });
});

describe('RetryBudget', () => {
  test('an outage: 100 retries and no more', () => {
    const budget = new RetryBudget();
    expect(Array.from({length: 102}, () => budget.take())).toEqual([...Array(100).fill(true), false, false]);
  });

  test('a stored file gives its retries back, five without any give one', () => {
    const budget = new RetryBudget();
    while (budget.take());
    budget.restore(2);
    expect([budget.take(), budget.take(), budget.take()]).toEqual([true, true, false]);
    for (let file = 0; file < 5; file += 1) budget.restore(0);
    expect([budget.take(), budget.take()]).toEqual([true, false]);
  });

  test('it never holds more than it began with', () => {
    const budget = new RetryBudget();
    budget.restore(1_000);
    let taken = 0;
    while (budget.take()) taken += 1;
    expect(taken).toBe(100);
  });
});
