import {describe, expect, test} from 'vitest';
import {type Refused, retryableRefusals} from '../../../../src/engine/service/uploader.ts';
import {
  backoffMs,
  type Failure,
  type FailureVerdict,
  judge,
  type Phase,
  parseRetryAfter,
} from '../../../../src/engine/transfer/attempt/judge.ts';
import {type ErrorCode, hasTrait, MediaError} from '../../../../src/errors.ts';

const error = (code: ErrorCode, status?: number): Failure => ({
  kind: 'error',
  error: new MediaError(code, 'A sentence.', {status}),
});
const refused = (status: number, rest: Partial<Refused> = {}): Failure => ({
  kind: 'refused',
  status,
  ...rest,
});
const record = {message: 'Busy.', serviceCode: 1};
const halfRecord = {message: 'Busy.'};
const connection: Failure = {kind: 'connection', cause: new Error('other side closed')};
const stall: Failure = {kind: 'stall', afterMs: 1};
const readStall: Failure = {kind: 'read-stall', afterMs: 1};
const answerTimeout: Failure = {kind: 'response-timeout', afterMs: 1};
const unreadable: Failure = {kind: 'unreadable', status: 200, problem: 'not JSON'};
const premature: Failure = {kind: 'premature', status: 200};
const stopped: Failure = {
  kind: 'stopped',
  error: new MediaError('interrupted', 'The run was stopped by SIGINT.'),
};

/** What is done, what it says of the service, and whether fewer files at a time might have prevented it. */
type Expected =
  `${'retry' | 'unknown' | 'fail' | 'abort' | 'abort if first'}, ${FailureVerdict['availability']}, ${'refused' | 'broken' | '-'}`;

function verdict(phase: Phase, failure: Failure): Expected {
  const {action, abortScope, isFinal, availability, overload = '-'} = judge(phase, failure);
  expect(isFinal).toBe(action === 'fail');
  if (action !== 'fail') expect(abortScope).toBe('never');
  const ends = ({never: 'fail', 'if-first': 'abort if first', always: 'abort'} as const)[abortScope];
  return `${action === 'fail' ? ends : action}, ${availability}, ${overload}`;
}

/** In each phase before the release, and after it. */
type Row = [what: string, failure: Failure, before: Expected, released: Expected];

const same = (what: string, failure: Failure, expected: Expected): Row => [what, failure, expected, expected];

const rows: Row[] = [
  // What failed before there was a connection, or at the source, has no release; the column holds what follows from its code.
  same('EAI_AGAIN', error('dns_unavailable'), 'retry, away, broken'),
  same('ECONNREFUSED', error('connection_refused'), 'retry, away, broken'),
  same('a connect timeout', error('connect_timeout'), 'retry, away, broken'),
  same('any other failure to connect', error('connect_failed'), 'retry, away, broken'),
  same('502 of a proxy', error('proxy_failed', 502), 'retry, away, broken'),
  same('TLS that a proxy or service refuses with 503', error('not_http', 503), 'retry, away, broken'),
  same('EMFILE', error('too_many_open_files'), 'retry, neither, broken'),
  same('ENOTFOUND', error('host_not_found'), 'fail, neither, -'),
  same('a bad certificate', error('tls_failed'), 'fail, neither, -'),
  same('407 of a proxy', error('proxy_failed', 407), 'fail, neither, -'),
  same('a page of a proxy', error('proxy_failed', 200), 'abort, neither, -'),
  same('no HTTP', error('not_http'), 'abort if first, neither, -'),
  same('a missing file', error('file_missing'), 'fail, neither, -'),
  same('an unreadable file', error('file_unreadable'), 'fail, neither, -'),
  same('a directory or device', error('not_a_file'), 'fail, neither, -'),
  same('an empty file', error('empty_file'), 'fail, neither, -'),
  same('a source that changed', error('source_changed'), 'fail, neither, -'),
  ['what failed in this process', error('local_failure'), 'abort, neither, -', 'unknown, away, -'],

  [
    'EPIPE, ECONNRESET, FIN, garbage or two lengths',
    connection,
    'retry, neither, broken',
    'unknown, away, broken',
  ],
  ['a file that cannot be read on', readStall, 'retry, neither, broken', 'unknown, away, broken'],
  ['no byte taken in time', stall, 'retry, neither, broken', 'unknown, away, broken'],
  ['no response in time', answerTimeout, 'retry, neither, broken', 'unknown, away, broken'],
  ['a 2xx that is no record', unreadable, 'retry, neither, -', 'unknown, away, -'],
  same('a 2xx although bytes are missing', premature, 'fail, neither, -'),
  ['a signal or the deadline', stopped, 'fail, neither, -', 'unknown, neither, -'],

  same('401', refused(401), 'abort, refused, -'),
  same('403', refused(403), 'abort if first, refused, -'),
  same('404', refused(404), 'abort if first, refused, -'),
  same('429', refused(429), 'retry, refused, refused'),
  ['503', refused(503), 'retry, away, refused', 'unknown, away, broken'],
  [
    '503 with half an error record',
    refused(503, halfRecord),
    'retry, away, refused',
    'unknown, away, broken',
  ],
  same('503 with an error record', refused(503, record), 'retry, refused, refused'),
  [
    '507 with half an error record',
    refused(507, halfRecord),
    'retry, neither, refused',
    'unknown, away, broken',
  ],
  same('507 with an error record', refused(507, record), 'fail, refused, -'),
  ...[502, 504].map(
    (status): Row => [String(status), refused(status), 'retry, away, refused', 'unknown, away, broken'],
  ),
  ...[408, 500, 501, 505, 507, 508, 511, 520, 524, 599].map(
    (status): Row => [String(status), refused(status), 'retry, neither, refused', 'unknown, away, broken'],
  ),
  ...[
    300, 301, 302, 303, 304, 305, 307, 308, 399, 400, 402, 405, 406, 407, 409, 410, 411, 412, 413, 414, 415,
    417, 421, 422, 423, 425, 426, 428, 431, 451, 499,
  ].map(status => same(String(status), refused(status), 'fail, refused, -')),
];

const everyPhase: Phase[] = ['opening', 'connecting', 'sending', 'released'];

describe('the verdict about', () => {
  test.each(rows)('%s', (_what, failure, before, released) => {
    expect(everyPhase.map(phase => verdict(phase, failure))).toEqual([before, before, before, released]);
  });

  test('no status: other than one of the rows', () => {
    for (let status = 300; status < 600; status += 1) {
      if (rows.some(([what]) => what === String(status))) continue;
      const [before, released] = [verdict('sending', refused(status)), verdict('released', refused(status))];
      if (status < 500) expect([before, released]).toEqual(['fail, refused, -', 'fail, refused, -']);
      else expect([before, released]).toEqual(['retry, neither, refused', 'unknown, away, broken']);
    }
  });

  test('a page of a proxy, where the network is waited for', () => {
    const waiting = judge('connecting', error('proxy_failed', 200), {waitsForNetwork: true});
    expect(waiting).toMatchObject({action: 'retry', availability: 'away'});
  });
});

test.each([...retryableRefusals])(
  '%i is retried in every phase, and its code says that it may pass',
  (status, [code]) => {
    for (const phase of everyPhase) expect(judge(phase, refused(status)).action).toBe('retry');
    expect(hasTrait(code, 'passing')).toBe(true);
  },
);

test.each(everyPhase)('%s: 409 after an earlier attempt with the same key', phase => {
  const conflict = refused(409);
  for (const wasReleased of [false, true])
    expect(judge(phase, conflict, {isHonoured: true, wasReleased})).toMatchObject({
      ...{action: 'retry', isFinal: false, availability: 'neither', overload: undefined},
    });
  const unknown = judge(phase, conflict, {wasReleased: true});
  expect(unknown).toMatchObject({action: 'unknown', isFinal: true, availability: 'refused'});
  const known = {isHonoured: true, wasReleased: true};
  expect(judge(phase, refused(415), known)).toMatchObject({action: 'fail', abortScope: 'never'});
});

describe('how long a file and the batch wait', () => {
  type Waits = Pick<FailureVerdict, 'action' | 'waitMs' | 'batchWait' | 'longWaitMs'>;
  const waits = (phase: Phase, failure: Failure): Waits => {
    const {action, waitMs, batchWait, longWaitMs} = judge(phase, failure, {
      isHonoured: true,
      retryMaxWaitMs: 60_000,
    });
    return JSON.parse(JSON.stringify({action, waitMs, batchWait, longWaitMs}));
  };
  const own = (retryAfter?: string) => refused(503, {...record, ...(retryAfter && {retryAfter})});
  test.each<[string, Phase, Failure, Waits]>([
    ['429', 'sending', refused(429), {action: 'retry', batchWait: 'backoff'}],
    [
      '429 with nonsense',
      'sending',
      refused(429, {retryAfter: 'soon'}),
      {action: 'retry', batchWait: 'backoff'},
    ],
    [
      '429 with 7 s',
      'released',
      refused(429, {retryAfter: '7'}),
      {action: 'retry', waitMs: 7_000, batchWait: 7_000},
    ],
    [
      '429 with an hour',
      'sending',
      refused(429, {retryAfter: '3600'}),
      {action: 'fail', longWaitMs: 3_600_000},
    ],
    ['503 of the service', 'released', own(), {action: 'retry', batchWait: 'backoff'}],
    ['503 of the service with 7 s', 'sending', own('7'), {action: 'retry', waitMs: 7_000, batchWait: 7_000}],
    [
      '429 with as long as is permitted',
      'sending',
      refused(429, {retryAfter: '60'}),
      {action: 'retry', waitMs: 60_000, batchWait: 60_000},
    ],
    ['503 of the service with an hour', 'released', own('3600'), {action: 'fail', longWaitMs: 3_600_000}],
    ['503 of a gateway', 'sending', refused(503), {action: 'retry'}],
    [
      '503 of a gateway with 7 s',
      'sending',
      refused(503, {retryAfter: '7'}),
      {action: 'retry', waitMs: 7_000, batchWait: 7_000},
    ],
    [
      '503 of a gateway with 7 s',
      'released',
      refused(503, {retryAfter: '7'}),
      {action: 'unknown', waitMs: 7_000, batchWait: 7_000},
    ],
    [
      '503 of a gateway with an hour',
      'sending',
      refused(503, {retryAfter: '3600'}),
      {action: 'fail', longWaitMs: 3_600_000},
    ],
    [
      '503 of a gateway with an hour',
      'released',
      refused(503, {retryAfter: '3600'}),
      {action: 'unknown', longWaitMs: 3_600_000},
    ],
    ['502 with 7 s', 'sending', refused(502, {retryAfter: '7'}), {action: 'retry', waitMs: 7_000}],
    [
      '500 with an hour',
      'sending',
      refused(500, {retryAfter: '3600'}),
      {action: 'retry', longWaitMs: 3_600_000},
    ],
    ['409 with 7 s', 'sending', refused(409, {retryAfter: '7'}), {action: 'retry', waitMs: 7_000}],
    ['413 with 7 s', 'sending', refused(413, {retryAfter: '7'}), {action: 'fail'}],
    ['a broken connection', 'sending', connection, {action: 'retry'}],
  ])('%s, %s', (_what, phase, failure, expected) => {
    expect(waits(phase, failure)).toEqual(expected);
  });
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
