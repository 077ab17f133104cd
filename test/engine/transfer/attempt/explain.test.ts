import {describe, expect, test} from 'vitest';
import {describeRefusal, explain} from '../../../../src/engine/transfer/attempt/explain.ts';
import {type Failure, judge, type Phase} from '../../../../src/engine/transfer/attempt/judge.ts';
import {brokenRequestError, MediaError} from '../../../../src/errors.ts';
import {hintOf, textOf} from '../../../support/hints.ts';

const host = 'media.example:8443';

function explained(phase: Phase, failure: Failure): MediaError {
  return explain(failure, judge(phase, failure), host, false);
}

describe('a refusal', () => {
  test.each<[number, string | undefined, string, string]>([
    [400, undefined, 'rejected', `${host} refused the request (400).`],
    [400, 'Broken header', 'rejected', `${host} refused the request (400): Broken header.`],
    [401, undefined, 'unauthorized', `${host} does not know this API key (401).`],
    [401, 'bad key.', 'unauthorized', `${host} does not know this API key (401): bad key.`],
    [
      403,
      undefined,
      'forbidden',
      `${host} returned 403: the key lacks permission, or the base URL is wrong.`,
    ],
    [404, 'gone!', 'not_found', `${host} returned 404: gone!`],
    [411, undefined, 'rejected', `${host} refused the request (411): it did not receive the Content-Length.`],
    [413, undefined, 'rejected', `${host} refused the request (413): the file is larger than it accepts.`],
    [415, undefined, 'rejected', `${host} refused the request (415): it does not accept this content type.`],
    [422, 'why?', 'rejected', `${host} refused the request (422): why?`],
    [429, undefined, 'rate_limited', `${host} received too many requests (429).`],
    [503, 'maintenance', 'service_unavailable', `${host} is unavailable (503): maintenance.`],
    [408, undefined, 'service_failed', `${host} failed (408).`],
    [500, ' oops \n', 'service_failed', `${host} failed (500): oops.`],
    [502, '', 'service_failed', `${host} failed (502).`],
  ])('%i with message %j: %s', (status, message, code, sentence) => {
    const error = describeRefusal(
      {kind: 'refused', status, ...(message === undefined ? {} : {message})},
      host,
    );
    expect({code: error.code, message: error.message, status: error.status}).toEqual({
      code,
      message: sentence,
      status,
    });
  });

  test('that asks for a longer wait than permitted: the message says how long, and the hint how to wait', () => {
    const failure = {kind: 'refused', status: 429, retryAfter: '7200'} as const;
    const {message, hint} = explain(failure, judge('sending', failure, {retryMaxWaitMs: 60_000}), host);
    expect(message).toBe(`${host} received too many requests (429). It asks to wait 2 hours.`);
    expect(textOf(hint)).toContain('7200');
  });

  test('a message of 100,000 characters is shortened', () => {
    const {message} = describeRefusal({kind: 'refused', status: 400, message: 'a'.repeat(100_000)}, host);
    expect(message).toBe(`${host} refused the request (400): ${'a'.repeat(500)}...`);
  });

  test('the code of the error record is kept beside the status', () => {
    expect(
      describeRefusal({kind: 'refused', status: 400, message: 'm', serviceCode: 77}, host),
    ).toMatchObject({
      status: 400,
      serviceCode: 77,
    });
  });

  test('403 and 404 without an error record may come from a proxy, with one they do not', () => {
    for (const status of [403, 404]) {
      expect(hintOf(describeRefusal({kind: 'refused', status}, host))).toContain('may come from a proxy');
      const hint = hintOf(describeRefusal({kind: 'refused', status, message: 'no'}, host));
      expect(hint).toContain('the key may upload');
      expect(hint).toContain('base URL');
      expect(hint).not.toContain('proxy');
    }
  });
});

describe('a redirect', () => {
  test.each([
    ['https://other.example/v1/media/upload', 'other.example'],
    ['http://other.example:8080/', 'other.example:8080'],
    [`https://${host}/login`, '/login on the same host'],
    ['https://user:secret@other.example/?token=secret', 'other.example'],
    ['http://[::1', 'another URL'],
    [undefined, 'another URL'],
  ])('to %s: names %s', (location, target) => {
    const {code, message} = describeRefusal(
      {kind: 'refused', status: 307, ...(location === undefined ? {} : {location})},
      host,
    );
    expect(code).toBe('redirected');
    expect(message).toContain(`redirects to ${target} (307)`);
    expect(message).not.toContain('secret');
  });

  test('to a URL with characters that a shell heeds: the hint quotes them', () => {
    const location = 'https://other.example/$(touch$IFS/tmp/x);echo/v1/media/upload';
    const hint = hintOf(describeRefusal({kind: 'refused', status: 307, location}, host));
    expect(hint).toContain("--base-url 'https://other.example/$(touch$IFS/tmp/x);echo'");
  });
});

/** What a socket fails with. */
const reset = Object.assign(new Error('read ECONNRESET'), {code: 'ECONNRESET'});

const ofPeers = [
  ...[
    'ECONNRESET',
    'ECONNABORTED',
    'EPIPE',
    'ETIMEDOUT',
    'EHOSTUNREACH',
    'ENETDOWN',
    'EAI_AGAIN',
    'ENOTFOUND',
  ],
  ...['UND_ERR_SOCKET', 'UND_ERR_INFO', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'HPE_INVALID_CONSTANT'],
  ...['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_TLS_CERT_ALTNAME_INVALID', 'CERT_HAS_EXPIRED', 'EPROTO'],
];
const ofOurs = [
  'ENOMEM',
  'EMFILE',
  'ERR_ASSERTION',
  'ERR_INVALID_ARG_TYPE',
  'ERR_OUT_OF_RANGE',
  'UND_ERR_INVALID_ARG',
];

test('what counts as a failure of a connection: a list of codes, and nothing that nobody knows', () => {
  const codeOf = (code?: string) => brokenRequestError(Object.assign(new Error('x'), {code}), host).code;
  expect(ofPeers.filter(code => codeOf(code) === 'local_failure')).toEqual([]);
  expect([...ofOurs, undefined].filter(code => codeOf(code) !== 'local_failure')).toEqual([]);
  expect(brokenRequestError(new RangeError('Array buffer allocation failed'), host)).toMatchObject({
    code: 'local_failure',
    message: 'The request failed in this process: Array buffer allocation failed.',
  });
});

describe('a failure without a response', () => {
  test.each<[string, Phase, Failure, string, string]>([
    [
      'a broken connection',
      'sending',
      {kind: 'connection', cause: reset},
      'connection_lost',
      `The connection to ${host} broke.`,
    ],
    [
      'a stall',
      'sending',
      {kind: 'stall', afterMs: 500},
      'stalled',
      `${host} accepted no more data for 500 ms.`,
    ],
    [
      'a stall',
      'sending',
      {kind: 'stall', afterMs: 60_000},
      'stalled',
      `${host} accepted no more data for 60 s.`,
    ],
    [
      'a 2xx too early',
      'sending',
      {kind: 'premature', status: 201},
      'premature_response',
      `${host} returned 201 before it had received the whole file.`,
    ],
  ])('%s while %s', (_, phase, failure, code, message) => {
    expect(explained(phase, failure)).toMatchObject({code, message});
  });

  test('an error that has its sentence keeps it', () => {
    const error = new MediaError('source_changed', 'a.png changed.');
    expect(explained('sending', {kind: 'error', error})).toBe(error);
  });
});

describe('an unknown outcome', () => {
  const sent = 'The whole file had been sent, so it may or may not be stored.';

  test.each<[string, Failure, string]>([
    ['a broken connection', {kind: 'connection', cause: reset}, `The connection to ${host} broke. ${sent}`],
    [
      'no response',
      {kind: 'response-timeout', afterMs: 1_500},
      `${host} did not respond within 1.5 s of the last byte. ${sent}`,
    ],
    [
      '502',
      {kind: 'refused', status: 502},
      `${host} failed (502). ${sent} A gateway that responds like this has often stored nothing.`,
    ],
    [
      'a signal',
      {kind: 'stopped', error: new MediaError('interrupted', 'The run was stopped by SIGINT.')},
      `The run was stopped by SIGINT. ${sent}`,
    ],
  ])('%s', (_, failure, message) => {
    const error = explained('released', failure);
    expect(error).toMatchObject({code: 'outcome_unknown', message});
    expect(hintOf(error)).toContain('--on-unknown retry');
  });

  test('a response that is no record: sent again, the file would be stored twice, unless its key is honoured', () => {
    const failure: Failure = {kind: 'unreadable', status: 200, problem: 'not JSON'};
    const error = explained('released', failure);
    expect(error.message).toBe(`${host} returned 200, but the response was not JSON. ${sent}`);
    expect(hintOf(error)).toBe(
      'Check whether the service has the file, and do not send it again before the cause is found. Check the base URL: the media service does not respond like this.',
    );
    expect(hintOf(explain(failure, judge('released', failure), host, true))).toContain(
      'run the command again',
    );
  });

  test.each([
    ['sends such files again by itself', true, 'run the command again'],
    ['does not know other files, which it would send again', undefined, 'upload only that file'],
  ])('a run that %s: no advice to let it', (_, isSentAgain, way) => {
    const failure: Failure = {kind: 'connection', cause: reset};
    const error = explain(failure, judge('released', failure), host, isSentAgain);
    expect(hintOf(error)).toBe(`Check whether the service has the file. To send it again, ${way}.`);
  });

  test('500 with an error record: the status and the code of the record are kept', () => {
    const error = explained('released', {kind: 'refused', status: 500, message: 'oops', serviceCode: 9});
    expect(error).toMatchObject({code: 'outcome_unknown', status: 500, serviceCode: 9});
    expect(error.cause).toMatchObject({code: 'service_failed'});
  });
});
