import {describe, expect, test} from 'vitest';
import type {Uploader} from '../../../src/engine/service/uploader.ts';
import type {Source} from '../../../src/engine/sources/open/source.ts';
import type {Outcome} from '../../../src/engine/transfer/outcome.ts';
import {MediaError} from '../../../src/errors.ts';
import {systemClock} from '../../../src/host.ts';
import {eventually} from '../../support/eventually.ts';
import {bench, changedHandle, type JournalHandle} from '../../support/journal.ts';
import {type ScriptedConnection, scriptedServer, someRecord} from '../../support/scripted-server.ts';
import {codes, sources, statuses} from './batches.ts';
import {clientOf, deadUrl, memorySource, noObserver, sinkServer, uploadEach} from './support.ts';

describe('what becomes of the rest of the batch', () => {
  test.each<[string, number[], string[]]>([
    ['401', [401], ['failed unauthorized', 'failed not_tried', 'failed not_tried']],
    ['401 to the second file', [200, 401], ['uploaded', 'failed unauthorized', 'failed not_tried']],
    ['403', [403], ['failed forbidden', 'failed not_tried', 'failed not_tried']],
    ['404', [404], ['failed not_found', 'failed not_tried', 'failed not_tried']],
    ['403 to the second file', [200, 403, 200], ['uploaded', 'failed forbidden', 'uploaded']],
    ['404 after a 415', [415, 404, 200], ['failed rejected', 'failed not_found', 'uploaded']],
    ['403 after a 500', [500, 403, 200], ['unknown outcome_unknown', 'failed forbidden', 'uploaded']],
    ['415', [415, 200], ['failed rejected', 'uploaded', 'uploaded']],
    ['302', [302, 200], ['failed redirected', 'uploaded', 'uploaded']],
    ['500', [500, 200], ['unknown outcome_unknown', 'uploaded', 'uploaded']],
    ['503', [503, 200], ['failed service_unavailable', 'uploaded', 'uploaded']],
  ])('%s, with a journal or without', async (_, answers, expected) => {
    for (const journal of [undefined, await (await bench()).open()]) {
      const {url, requests} = await scriptedServer(...statuses(...answers));
      const outcomes = await uploadEach(sources('a', 'b', 'c'), clientOf(url), {journal});
      expect(codes(outcomes)).toEqual(expected);
      const tried = expected.filter(code => code !== 'failed not_tried').length;
      await eventually(() => requests.length === tried);
    }
  });

  test('404 after a file that could not be opened: it is the first response, so the batch halts', async () => {
    const {url} = await scriptedServer(...statuses(404));
    const missing: Source = {
      name: 'missing',
      open: () => Promise.reject(new MediaError('file_missing', 'missing does not exist.')),
    };
    const outcomes = await uploadEach([missing, ...sources('b', 'c')], clientOf(url));
    expect(codes(outcomes)).toEqual(['failed file_missing', 'failed not_found', 'failed not_tried']);
  });

  test('a stream that cannot be stored in the temporary directory: nothing more is tried', async () => {
    const full: Source = {
      name: 'stream',
      isOnce: true,
      open: () => Promise.reject(new MediaError('local_failure', 'It could not be stored in /tmp.')),
    };
    const outcomes = await uploadEach([full, full, ...sources('c')], clientOf(await deadUrl()));
    expect(codes(outcomes)).toEqual(['failed local_failure', 'failed not_tried', 'failed not_tried']);
  });

  test('404 after a file whose connection was lost: it is the first response, so the batch halts', async () => {
    const {url} = await scriptedServer(
      async connection => {
        await connection.request(1);
        connection.socket.end();
      },
      ...statuses(404),
    );
    const outcomes = await uploadEach(sources('a', 'b', 'c'), clientOf(url));
    expect(codes(outcomes)).toEqual(['unknown outcome_unknown', 'failed not_found', 'failed not_tried']);
  });

  test('403 after a file that the journal knows: it is the first response, so the batch halts', async () => {
    const {url, requests} = await scriptedServer(...statuses(200, 403));
    const journal = await (await bench()).open();
    await uploadEach(sources('a'), clientOf(url), {journal});
    const outcomes = await uploadEach(sources('a', 'b', 'c'), clientOf(url), {journal});
    expect(codes(outcomes)).toEqual(['skipped', 'failed forbidden', 'failed not_tried']);
    await eventually(() => requests.length === 2);
  });

  test('a run that was told to end before it began tries nothing', async () => {
    const stop = new AbortController();
    stop.abort(new MediaError('interrupted', 'The run was stopped by SIGINT.'));
    const outcomes = await uploadEach(sources('a', 'b'), clientOf(await deadUrl()), {stop: stop.signal});
    expect(codes(outcomes)).toEqual([]);
  });
});

describe('retries', () => {
  test('the message tells how many attempts were made', async () => {
    const {url} = await scriptedServer(...statuses(503));
    const [outcome] = await uploadEach(sources('a'), clientOf(url), {retries: 2});
    expect(outcome).toMatchObject({
      attempts: 3,
      error: {message: 'the test service is unavailable (503): no. (Attempt 3 of 3.)'},
    });
  });

  test('a source that cannot be opened since too many files are open: tried again', async () => {
    const {url} = await scriptedServer(...statuses(200));
    const [ready] = sources('a');
    let opened = 0;
    const source: Source = {
      name: 'a',
      open: async signal => {
        opened += 1;
        if (opened < 3) throw new MediaError('too_many_open_files', 'a could not be opened.');
        if (ready === undefined) throw new Error('unreachable');
        return ready.open(signal);
      },
    };
    expect(codes(await uploadEach([source], clientOf(url), {retries: 3}))).toEqual(['uploaded']);
    expect(opened).toBe(3);
  });

  test.each<[string, number[], string[]]>([
    ['500 then 200', [500, 200], ['uploaded']],
    ['500 then 401', [500, 401], ['unknown outcome_unknown']],
    ['500 then 415', [500, 415], ['unknown outcome_unknown']],
    ['500 for ever', [500], ['unknown outcome_unknown']],
  ])(
    'onUnknown retry: %s: what was unknown stays so unless the record comes',
    async (_, answers, expected) => {
      const {url} = await scriptedServer(...statuses(...answers));
      const outcomes = await uploadEach(sources('a'), clientOf(url), {retries: 2, onUnknown: 'retry'});
      expect(codes(outcomes)).toEqual(expected);
    },
  );

  test('the same key for every attempt at a file, another for the next file', async () => {
    const {url, requests} = await scriptedServer(...statuses(429, 503, 200, 429, 200));
    await uploadEach(sources('a', 'b'), clientOf(url), {retries: 2});
    await eventually(() => requests.length === 5);
    const keys = requests.map(({head}) =>
      head.find(line => line.toLowerCase().startsWith('idempotency-key:')),
    );
    expect(keys[0]).toMatch(/: "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"$/);
    expect(keys).toEqual([keys[0], keys[0], keys[0], keys[3], keys[3]]);
    expect(keys[3]).not.toBe(keys[0]);
  });

  test.each([
    ['in seconds', () => '200'],
    ['as a date', () => new Date(Date.now() + 200_000).toUTCString()],
  ])('the deadline ends the wait that a Retry-After %s asks for', async (_, retryAfter) => {
    const stop = new AbortController();
    const waits: (number | undefined)[] = [];
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      connection.answer(429, '', {'retry-after': retryAfter()});
    });
    const outcomes = await uploadEach(sources('a', 'b'), clientOf(url), {
      retries: 5,
      stop: stop.signal,
      observer: {
        ...noObserver,
        retrying: (_position, _name, _error, waitMs) => {
          waits.push(waitMs);
          stop.abort(new MediaError('deadline_exceeded', 'The deadline of this run has passed.'));
        },
      },
    });
    expect(codes(outcomes)).toEqual(['failed rate_limited', 'failed not_tried']);
    // A date has whole seconds.
    expect(waits.map(ms => Math.ceil((ms ?? 0) / 100_000))).toEqual([2]);
  });
});

describe('a Retry-After of a day, which is longer than --retry-max-wait', () => {
  const clock = {...systemClock, sleep: () => Promise.reject(new Error('Nothing is to be waited for.'))};

  test.each([408, 429, 500, 502, 503, 504])(
    '%i before the last byte: the file has failed, and it is said',
    async status => {
      const uploader: Uploader = {upload: async () => ({kind: 'refused', status, retryAfter: '86400'})};
      const [outcome] = await uploadEach(sources('a'), uploader, {retries: 3, clock});
      const message = expect.stringMatching(/ It asks to wait 24 hours\.$/);
      expect(outcome).toMatchObject({status: 'failed', attempts: 1, error: {message}});
    },
  );

  test('409 after an attempt that was sent whole: the file stays unknown', async () => {
    let attempts = 0;
    const uploader: Uploader = {
      async upload({body}) {
        attempts += 1;
        if (attempts > 1) return {kind: 'refused', status: 409, retryAfter: '86400'};
        body.release?.({connectMs: 1, unsentBytes: 0});
        throw Object.assign(new Error('The connection broke.'), {code: 'ECONNRESET'});
      },
    };
    const waits: number[] = [];
    const options = {retries: 3, clock: {...clock, sleep: async (ms: number) => void waits.push(ms)}};
    const outcomes = await uploadEach(sources('a'), uploader, {...options, onUnknown: 'honoured'});
    expect(codes(outcomes)).toEqual(['unknown outcome_unknown']);
    expect([attempts, waits]).toEqual([2, [0]]);
  });
});

describe('a stop', () => {
  const interrupted = new MediaError('interrupted', 'The run was stopped by SIGINT.');

  test('while connecting or held: the request is dropped, nothing follows', async () => {
    const stop = new AbortController();
    const {url, requests, paused} = await sinkServer({pauseAfter: 1});
    const source = memorySource('a', Buffer.alloc(32 * 1024 * 1024));
    const upload = uploadEach([source, ...sources('b')], clientOf(url), {stop: stop.signal, retries: 3});
    await paused;
    stop.abort(interrupted);
    const outcomes = await upload;
    expect(codes(outcomes)).toEqual(['failed interrupted']);
    expect(requests).toHaveLength(1);
  });

  test('after the last byte: the response is waited for and counts', async () => {
    const stop = new AbortController();
    let answering: ScriptedConnection | undefined;
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      answering = connection;
      stop.abort(interrupted);
    });
    const upload = uploadEach(sources('a', 'b'), clientOf(url), {stop: stop.signal});
    (await eventually(() => answering)).answer(200, someRecord);
    expect(codes(await upload)).toEqual(['uploaded']);
  });
});

describe('while a disk takes its time to make durable that a file is stored', () => {
  /** A journal whose syncs wait for `ends`, in turn, once it has been opened. */
  async function slowJournal(ends: Promise<void>[]) {
    let isOpen = false;
    const wrap = (handle: JournalHandle) =>
      changedHandle(handle, {
        async datasync() {
          if (isOpen) await ends.shift();
          await handle.datasync();
        },
      });
    const journal = await (await bench()).open({wrap});
    isOpen = true;
    return journal;
  }

  test('its worker takes the next file, and nobody is told of the first', async () => {
    const {url} = await scriptedServer(...statuses(200));
    let end = () => {};
    const recorded = new Promise<void>(resolve => {
      end = resolve;
    });
    const journal = await slowJournal([Promise.resolve(), recorded]);
    const started: string[] = [];
    const observer = {...noObserver, started: (_: number, name: string) => void started.push(name)};
    let told: Outcome[] | undefined;
    const outcomes = uploadEach(sources('a', 'b'), clientOf(url), {journal, observer}).then(all => {
      told = all;
      return all;
    });
    await eventually(() => started.includes('b'));
    expect(told).toBeUndefined();
    end();
    expect(codes(await outcomes)).toEqual(['uploaded', 'uploaded']);
  });

  test('and it fails: the file counts as uploaded, and no other is sent', async () => {
    const {url, requests} = await scriptedServer(...statuses(200));
    const failure = eventually(() => requests.length === 1).then(() => {
      throw Object.assign(new Error('broken'), {code: 'EIO'});
    });
    // The journal comes to wait for it only later.
    failure.catch(() => {});
    const journal = await slowJournal([Promise.resolve(), failure]);
    const outcomes = await uploadEach(sources('a', 'b', 'c', 'd'), clientOf(url), {journal});
    expect(codes(outcomes)).toEqual([
      'uploaded',
      'failed journal_failed',
      'failed not_tried',
      'failed not_tried',
    ]);
    expect(requests).toHaveLength(1);
  });
});
