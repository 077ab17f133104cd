import {describe, expect, test} from 'vitest';
import {parseRecord} from '../../../src/engine/service/record.ts';
import type {Uploader} from '../../../src/engine/service/uploader.ts';
import type {Source} from '../../../src/engine/sources/open/source.ts';
import type {Outcome} from '../../../src/engine/transfer/outcome.ts';
import {MediaError} from '../../../src/errors.ts';
import {nextTurn, systemClock} from '../../../src/host.ts';
import {eventually} from '../../support/eventually.ts';
import {bench, changedHandle, type JournalHandle} from '../../support/journal.ts';
import {
  type Script,
  type ScriptedConnection,
  scriptedServer,
  someRecord,
} from '../../support/scripted-server.ts';
import {clientOf, deadUrl, memorySource, noObserver, sinkServer, uploadEach} from './support.ts';

const small = Buffer.alloc(1_000, 1);

function sources(...names: string[]): Source[] {
  return names.map(name => memorySource(name, Buffer.concat([small, Buffer.from(name)])));
}

/** Answers the whole of each request; the last status goes for all that follow. */
function statuses(...answers: number[]): Script[] {
  return answers.map(status => async connection => {
    await connection.request();
    connection.answer(status, status === 200 ? someRecord : '{"code":7,"message":"no"}');
  });
}

function codes(outcomes: Outcome[]): string[] {
  return outcomes.map(outcome =>
    'error' in outcome ? `${outcome.status} ${outcome.error.code}` : outcome.status,
  );
}

describe('what becomes of the rest of the batch', () => {
  test.each<[string, number[], string[]]>([
    ['401', [401], ['failed unauthorized', 'failed not_tried', 'failed not_tried']],
    ['401 to the second file', [200, 401], ['uploaded', 'failed unauthorized', 'failed not_tried']],
    ['403', [403], ['failed forbidden', 'failed not_tried', 'failed not_tried']],
    ['404', [404], ['failed not_found', 'failed not_tried', 'failed not_tried']],
    ['403 to the second file', [200, 403, 200], ['uploaded', 'failed forbidden', 'uploaded']],
    ['404 after a 415', [415, 404, 200], ['failed rejected', 'failed not_found', 'uploaded']],
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
  test('an outage: 30 files with 5 retries each make 130 requests', async () => {
    const {url, requests} = await scriptedServer(...statuses(503));
    const names = Array.from({length: 30}, (_, index) => String(index));
    const outcomes = await uploadEach(sources(...names), clientOf(url), {retries: 5});
    expect(new Set(codes(outcomes))).toEqual(new Set(['failed service_unavailable']));
    await eventually(() => requests.length === 130);
  });

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

describe('too few file descriptors', () => {
  /** What can be opened at a time: files and connections together. */
  class Table {
    #left: number;

    constructor(size: number) {
      this.#left = size;
    }

    take(): void {
      if (this.#left === 0) throw new MediaError('too_many_open_files', 'Too many files are open.');
      this.#left -= 1;
    }

    give(): void {
      this.#left += 1;
    }
  }

  const shortSources = (table: Table, count: number): Source[] =>
    sources(...Array.from({length: count}, (_, index) => `${index}.png`)).map(source => ({
      ...source,
      async open(stop) {
        table.take();
        const opened = await source.open(stop);
        return {...opened, close: async () => table.give()};
      },
    }));

  const received = parseRecord(someRecord);
  if ('problem' in received) throw new Error(received.problem);

  const shortUploader = (table: Table): Uploader => ({
    async upload(request) {
      table.take();
      try {
        await nextTurn();
        request.body.release?.({connectMs: 1, unsentBytes: 0});
        await nextTurn();
        return {kind: 'stored', received};
      } finally {
        table.give();
      }
    },
  });

  const noWaiting = {...systemClock, sleep: () => Promise.reject(new Error('Nothing is to be waited for.'))};

  test.each([
    ['20 files at a time, each with a connection, 13 descriptors', 20, 13],
    ['20 at a time, 20 descriptors: all are taken by files, and none is left for a connection', 20, 20],
    ['2 at a time, 2 descriptors', 2, 2],
  ])('%s: all are uploaded at their first attempt, without retries', async (_, concurrency, descriptors) => {
    const table = new Table(descriptors);
    const told: string[] = [];
    const outcomes = await uploadEach(shortSources(table, 200), shortUploader(table), {
      concurrency,
      clock: noWaiting,
      observer: {
        ...noObserver,
        retrying: (_position, _name, {code}, waitMs) => told.push(`${code} ${waitMs}`),
      },
    });
    expect(outcomes.filter(({status, attempts}) => status === 'uploaded' && attempts === 1)).toHaveLength(
      200,
    );
    expect(new Set(told)).toEqual(new Set(['too_many_open_files undefined']));
  });

  test('none for the connection of a file that was committed for one that closed: nothing was sent, so it is sent later', async () => {
    const table = new Table(13);
    let committed = 0;
    const uploader: Uploader = {
      async upload(request) {
        await request.body.whole?.ready();
        if (request.body.whole !== undefined) committed += 1;
        return shortUploader(table).upload(request);
      },
    };
    const files = shortSources(table, 40).map(
      ({name, open}): Source => ({
        name,
        async open(stop) {
          const opened = await open(stop);
          return {
            ...opened,
            small: async () => ({bytes: await opened.read(0, opened.size), verify: () => {}}),
          };
        },
      }),
    );
    const journal = await (await bench()).open();
    const outcomes = await uploadEach(files, uploader, {concurrency: 20, clock: noWaiting, journal});
    expect(outcomes.map(({status}) => status)).toEqual(Array(40).fill('uploaded'));
    expect(committed).toBeGreaterThan(40);
  });

  test.each([
    ['is gone', {status: 'failed', attempts: 0}],
    [
      'is another',
      {status: 'uploaded', attempts: 1, size: 1_001, contentType: 'image/gif', warning: 'It is b.'},
    ],
    [
      'is the same',
      {status: 'uploaded', attempts: 1, size: 1_001, contentType: 'image/png', warning: 'It is second.'},
    ],
  ])(
    'a file that begins again and then %s: has nothing of its first attempt, and each warning is given once',
    async (how, expected) => {
      const [first, second, other] = sources('a', 'a', 'b');
      if (first === undefined || second === undefined || other === undefined)
        throw new Error('three sources');
      let opened = 0;
      let uploads = 0;
      const file: Source = {
        name: 'second',
        async open(stop) {
          opened += 1;
          if (opened > 1 && how === 'is gone') throw new MediaError('file_missing', 'It is gone.');
          return (opened > 1 && how === 'is another' ? other : second).open(stop);
        },
      };
      const warnings: string[] = [];
      const outcomes = await uploadEach(
        [first, file],
        {
          async upload(request) {
            uploads += 1;
            if (uploads === 2) throw new MediaError('too_many_open_files', 'Too many files are open.');
            await eventually(() => uploads > 1);
            return shortUploader(new Table(1)).upload(request);
          },
        },
        {
          ...{concurrency: 2, clock: noWaiting},
          observer: {...noObserver, warning: (_name, sentence) => warnings.push(sentence)},
          contentType: async ({name}) =>
            name === 'second' && opened > 1 && how === 'is another'
              ? {contentType: 'image/gif', warning: 'It is b.'}
              : {contentType: 'image/png', warning: `It is ${name}.`},
        },
      );
      const {
        file: name,
        position,
        elapsedMs,
        ...facts
      } = outcomes.find(outcome => outcome.file === 'second') ?? {};
      expect(Object.keys(facts).filter(fact => ['size', 'contentType', 'warning'].includes(fact))).toEqual(
        Object.keys(expected).slice(2),
      );
      expect(facts).toMatchObject(expected);
      expect(warnings).toEqual([...new Set(warnings)]);
    },
  );

  test('a file alone: each try is a retry, and it fails when they are spent', async () => {
    const table = new Table(1);
    const waits: number[] = [];
    const outcomes = await uploadEach(shortSources(table, 3), shortUploader(table), {
      concurrency: 1,
      retries: 2,
      clock: {...systemClock, sleep: async ms => void waits.push(ms)},
    });
    expect(codes(outcomes)).toEqual(Array(3).fill('failed too_many_open_files'));
    expect(waits).toHaveLength(6);
  });
});
