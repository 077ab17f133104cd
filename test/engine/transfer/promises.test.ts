import {describe, expect, test} from 'vitest';
import {parseRecord} from '../../../src/engine/service/record.ts';
import type {Refused, Uploader, UploadRequest, UploadResponse} from '../../../src/engine/service/uploader.ts';
import type {OpenSource, Source} from '../../../src/engine/sources/open/source.ts';
import type {Outcome} from '../../../src/engine/transfer/outcome.ts';
import {MediaError, NotMediaError} from '../../../src/errors.ts';
import {Stop, unlessStopped} from '../../../src/lib/stop.ts';
import {CountedStop} from '../../support/counted-stop.ts';
import {eventually} from '../../support/eventually.ts';
import {
  type Bench,
  bench,
  changedHandle,
  inputOf,
  type JournalHandle,
  lookup,
  openJournal,
  pathKey,
  scope,
  upload,
} from '../../support/journal.ts';
import {ManualClock, settled} from '../../support/manual-clock.ts';
import {mebibyte, memorySource, noObserver, uploadEach, zeroSource} from '../service/support.ts';

const wire = {connectMs: 1, unsentBytes: 0};
const interrupted = new MediaError('interrupted', 'The run was stopped by SIGINT.');

/** Sends a body as a connection does. `beforeEach`: called before each chunk leaves; `onLast`: right after the release. */
async function send(
  {body}: UploadRequest,
  {beforeEach = async () => {}, onLast = () => {}, isOpen = false}: Sending = {},
): Promise<void> {
  const {whole, content} = body;
  if (isOpen && whole !== undefined) await whole.ready();
  if (content instanceof Uint8Array || (isOpen && whole !== undefined)) {
    await beforeEach();
    body.release?.(wire);
    onLast();
    return;
  }
  let length = 0;
  for await (const chunk of content(wire)) {
    await beforeEach();
    length += chunk.length;
    if (length < body.length) continue;
    body.release?.(wire);
    onLast();
  }
}

interface Sending {
  beforeEach?: () => Promise<void>;
  onLast?: () => void;
  /** Whether there is an open connection, so that a body that is known as a whole is sent at once. */
  isOpen?: boolean;
}

function stored(id = 'med_1'): UploadResponse {
  const received = parseRecord(JSON.stringify({id}));
  if ('problem' in received) throw new Error(received.problem);
  return {kind: 'stored', received};
}

/** An uploader that answers each request so, given its number from 1, and counts them. */
function counting(answer: (request: UploadRequest, number: number) => Promise<UploadResponse>) {
  const uploader = {
    requests: 0,
    upload(request: UploadRequest) {
      uploader.requests += 1;
      return answer(request, uploader.requests);
    },
  };
  return uploader;
}

const busy: Refused = {kind: 'refused', status: 503, message: 'later', serviceCode: 1};

function told(outcomes: readonly Outcome[]): string[] {
  return outcomes.map(one => ('error' in one ? `${one.status} ${one.error.code}` : one.status));
}

const large = (changes: Partial<OpenSource> = {}) => zeroSource('a.png', 300_000, changes);

/** A source that is read at once, as small files are. */
function small(changes: Partial<OpenSource> = {}, verify = () => {}, bytes = Buffer.from('small')): Source {
  return memorySource('a.png', bytes, {small: async () => ({bytes, verify}), ...changes});
}

/** How a body goes out: in chunks, held back as a small file is, or at once on an open connection. */
const ways: [string, Source, boolean][] = [
  ['a large file', large(), false],
  ['a small file on a new connection', small(), false],
  ['a small file on an open connection', small(), true],
];

/** A service that declares, once it is asked, that it honours keys. */
function declaring(upload: Uploader['upload']): Uploader {
  let honoursKeys: boolean | undefined;
  return {
    upload,
    get honoursKeys() {
      return honoursKeys;
    },
    async probeAvailability() {
      honoursKeys = true;
      return undefined;
    },
  };
}

/** Uploads with a clock that passes `ms`, and resolves to the outcomes. */
async function within(ms: number, clock: ManualClock, outcomes: Promise<Outcome[]>): Promise<string[]> {
  let all: Outcome[] | undefined;
  void outcomes.then(ended => {
    all = ended;
  });
  await clock.advance(ms);
  await settled();
  return all === undefined ? ['on its way'] : told(all);
}

function resultAfter<T>(action: () => void, result: T): T {
  action();
  return result;
}

describe('the last bytes', () => {
  test.each(ways)('of %s leave when the journal says so', async (_name, source, isOpen) => {
    const one = await bench();
    const journal = await one.open();
    let before: Record<string, unknown>[] = [];
    const uploader: Uploader = {
      async upload(request) {
        await send(request, {isOpen});
        before = await one.lines();
        return stored();
      },
    };
    expect(told(await uploadEach([source], uploader, {journal}))).toEqual(['uploaded']);
    expect(before.at(-1)).toMatchObject({event: 'commit'});
  });

  test('of a large file that changes in the pause before them: never leave', async () => {
    let isChanged = false;
    const clock = Object.assign(new ManualClock(), {
      sleep: async () => {
        isChanged = true;
      },
    });
    const verify = async () => {
      if (isChanged) throw new MediaError('source_changed', 'The file changed.');
      return 'unchanged' as const;
    };
    let isReleased = false;
    const onLast = () => {
      isReleased = true;
    };
    const uploader = {upload: (request: UploadRequest) => send(request, {onLast}).then(() => stored())};
    const outcomes = await uploadEach([large({verify})], uploader, {clock});
    expect(told(outcomes)).toEqual(['failed source_changed']);
    expect({isChanged, isReleased}).toEqual({isChanged: true, isReleased: false});
  });

  test('of a large file that has changed: never leave, and nothing says that they might have', async () => {
    const changed = new MediaError('source_changed', 'The file changed.');
    for (const source of [
      large({verify: () => Promise.reject(changed)}),
      small({verify: () => Promise.reject(changed)}),
    ]) {
      const one = await bench();
      const journal = await one.open();
      let isReleased = false;
      const onLast = () => {
        isReleased = true;
      };
      const uploader = {upload: (request: UploadRequest) => send(request, {onLast}).then(() => stored())};
      const outcomes = await uploadEach([source], uploader, {journal, retries: 3});
      expect(told(outcomes)).toEqual(['failed source_changed']);
      expect(isReleased).toBe(false);
      expect((await one.text()).match(/"event":"(commit|release)"/)).toBeNull();
    }
  });

  test('of a run that is stopped just before the commit: never leave, and nothing says that they might have', async () => {
    const bytes = Buffer.from('small');
    const read = {bytes, verify: () => {}};
    for (const [stoppedBy, isOpen] of [
      [(stop: () => void) => large({verify: async () => resultAfter(stop, 'unchanged')}), false],
      [(stop: () => void) => small({verify: async () => resultAfter(stop, 'unchanged')}), false],
      [(stop: () => void) => small({small: async () => resultAfter(stop, read)}), true],
    ] as const) {
      const stop = new Stop<MediaError>();
      const source = stoppedBy(() => stop.abort(interrupted));
      const one = await bench();
      const journal = await one.open();
      const uploader = {upload: (request: UploadRequest) => send(request, {isOpen}).then(() => stored())};
      expect(told(await uploadEach([source], uploader, {journal, stop}))).toEqual(['failed interrupted']);
      expect((await one.text()).match(/"event":"(commit|release)"/)).toBeNull();
    }
  });

  test('of a small file that changes after its commit: never leave, and the next run sends it', async () => {
    const one = await bench();
    const verify = () => {
      throw new MediaError('source_changed', 'The file changed.');
    };
    const bytes = Buffer.from('content');
    let isReleased = false;
    const onLast = () => {
      isReleased = true;
    };
    const uploader = {
      upload: (request: UploadRequest) => send(request, {onLast, isOpen: true}).then(() => stored()),
    };
    const outcomes = await one.run(journal => uploadEach([small({}, verify, bytes)], uploader, {journal}));
    expect(told(outcomes)).toEqual(['failed source_changed']);
    expect(isReleased).toBe(false);
    await one.run(async journal =>
      expect(await lookup(journal, inputOf('a.png', 'content'))).toEqual({status: 'new'}),
    );
  });

  test.each(ways)(
    'of %s do not leave when the run is stopped during the commit',
    async (_name, source, isOpen) => {
      let isAsked = () => {};
      const asked = new Promise<void>(resolve => {
        isAsked = resolve;
      });
      let goOn = () => {};
      const disk = new Promise<void>(resolve => {
        goOn = resolve;
      });
      let isOpened = false;
      const wrap = (handle: JournalHandle) =>
        changedHandle(handle, {
          async datasync() {
            if (isOpened) {
              isAsked();
              await disk;
            }
            await handle.datasync();
          },
        });
      const journal = await (await bench()).open({wrap});
      isOpened = true;
      const stop = new Stop<MediaError>();
      let isReleased = false;
      const onLast = () => {
        isReleased = true;
      };
      const uploader = {
        upload: (request: UploadRequest) => send(request, {onLast, isOpen}).then(() => stored()),
      };
      const outcomes = uploadEach([source], uploader, {journal, stop});
      await asked;
      stop.abort(interrupted);
      goOn();
      expect(told(await outcomes)).toEqual(['failed interrupted']);
      expect(isReleased).toBe(false);
    },
  );
});

test.each([
  ['1 byte', 1, 100, 0],
  ['64 KiB', 64 * 1024, 100, 0],
  ['1 MiB', mebibyte, 100, 5],
  ['4 MiB, on a line that connects in 1 ms', 4 * mebibyte, 1, 5],
  ['4 MiB, on a line that connects in 100 ms', 4 * mebibyte, 100, 200],
  ['4 MiB, on a line that connects in 3 s', 4 * mebibyte, 3_000, 1_000],
])('the last bytes of %s: held back for an early refusal', async (_name, size, connectMs, expected) => {
  const clock = new ManualClock();
  const times: number[] = [];
  const uploader: Uploader = {
    async upload({body}) {
      if (body.content instanceof Uint8Array) throw new Error('sent at once');
      for await (const _ of body.content({...wire, connectMs})) times.push(clock.monotonic());
      body.release?.(wire);
      return stored();
    },
  };
  const outcomes = uploadEach([zeroSource('a.png', size)], uploader, {clock});
  expect(await within(1_000, clock, outcomes)).toEqual(['uploaded']);
  expect(times.at(-1)).toBe(expected);
  expect(times.slice(0, -1).filter(time => time > 0)).toEqual([]);
});

test('a small file that is cut short while it is read: no request, since its length would be wrong', async () => {
  const uploader = {upload: () => Promise.reject(new Error('a request was made'))};
  for (const left of [0, 3]) {
    const source = small({size: 5}, () => {}, Buffer.alloc(left));
    expect(told(await uploadEach([source], uploader, {retries: 2}))).toEqual(['failed source_changed']);
  }
});

describe('time limits', () => {
  /** Answers so long after the last bytes; to nothing, and never, where the request is ended. */
  const answering = (ms: number, clock: ManualClock, isOpen = false): Uploader => ({
    async upload(request) {
      await send(request, {isOpen});
      await clock.sleep(ms, request.signal as AbortSignal);
      return stored();
    },
  });
  const limits = {timeoutMs: 1_000};

  test.each(ways.slice(0, 2))('%s: the service has its own time to respond', async (_name, source) => {
    for (const [ms, expected] of [
      [500_000, 'uploaded'],
      // It arrived while the process did not run.
      [600_050, 'uploaded'],
      [601_000, 'unknown outcome_unknown'],
    ] as const) {
      const clock = new ManualClock();
      const outcomes = uploadEach([source], answering(ms, clock), {clock, timeoutMs: undefined});
      expect(await within(602_000, clock, outcomes)).toEqual([expected]);
    }
  });

  test.each(ways.slice(0, 2))('%s: after a stop the response has 5 s', async (_name, source) => {
    for (const [ms, expected] of [
      [4_000, 'uploaded'],
      [6_000, 'unknown outcome_unknown'],
    ] as const) {
      const clock = new ManualClock();
      const stop = new Stop<MediaError>();
      const outcomes = uploadEach([source], answering(ms, clock), {clock, stop});
      await clock.advance(100);
      stop.abort(interrupted);
      expect(await within(5_100, clock, outcomes)).toEqual([expected]);
    }
  });

  test('a connection that takes a chunk every 900 ms is no stall; one that takes none for 1 s is', async () => {
    for (const [ms, expected] of [
      [900, 'uploaded'],
      [1_200, 'failed stalled'],
    ] as const) {
      const clock = new ManualClock();
      const uploader: Uploader = {
        async upload(request) {
          const beforeEach = () => clock.sleep(ms, request.signal as AbortSignal);
          await send(request, {beforeEach});
          return stored();
        },
      };
      const outcomes = uploadEach([large()], uploader, {clock, ...limits});
      expect(await within(10_000, clock, outcomes)).toEqual([expected]);
    }
  });

  test('a source whose content is read again for seconds before the release is no stall', async () => {
    const clock = new ManualClock();
    const verify: OpenSource['verify'] = async sent => {
      for (let block = 0; block < 5; block += 1) {
        await clock.sleep(900);
        sent?.onRead?.();
      }
      return 'unchanged';
    };
    const outcomes = uploadEach([large({verify})], answering(0, clock), {clock, ...limits});
    expect(await within(10_000, clock, outcomes)).toEqual(['uploaded']);
  });

  test('waiting for the rate limit is no stall; a connection that stops then is', async () => {
    for (const [stopsAt, expected] of [
      [Number.POSITIVE_INFINITY, 'uploaded'],
      [3, 'failed stalled'],
    ] as const) {
      const clock = new ManualClock();
      let chunks = 0;
      const uploader: Uploader = {
        async upload(request) {
          const beforeEach = async () => {
            chunks += 1;
            if (chunks === stopsAt)
              await unlessStopped(new Promise<void>(() => {}), request.signal as Stop<Error>);
          };
          await send(request, {beforeEach});
          return stored();
        },
      };
      const options = {clock, limitRate: 100, ...limits};
      expect(
        await within(60_000, clock, uploadEach([zeroSource('a.png', 3_000)], uploader, options)),
      ).toEqual([expected]);
    }
  });
});

describe('a response that comes after the run was stopped', () => {
  test.each<[string, UploadResponse, boolean, string]>([
    ['413 to a part', {kind: 'refused', status: 413}, false, 'failed rejected'],
    ['401 to a part', {kind: 'refused', status: 401}, false, 'failed unauthorized'],
    ['413 to all of it', {kind: 'refused', status: 413}, true, 'failed rejected'],
    ['a record to all of it', stored(), true, 'uploaded'],
    ['502 to all of it', {kind: 'refused', status: 502}, true, 'unknown outcome_unknown'],
  ])('%s: counts', async (_name, answer, isAll, expected) => {
    for (const source of [large(), small()]) {
      const stop = new Stop<MediaError>();
      const uploader: Uploader = {
        async upload(request) {
          if (isAll) await send(request);
          else if (typeof request.body.content === 'function')
            for await (const _ of request.body.content(wire)) break;
          stop.abort(interrupted);
          await settled();
          return answer;
        },
      };
      expect(told(await uploadEach([source], uploader, {stop, retries: 2}))).toEqual([expected]);
    }
  });
});

test.each([
  ['the stop', true, /^The run was stopped by SIGINT\. The whole file had been sent/],
  ['the time limit', false, /^the test service did not respond within 600 s of the last byte\./],
])(
  'a response that %s cuts off: that is told, not that it cannot be read',
  async (_what, isStopped, told) => {
    const clock = new ManualClock();
    const stop = new Stop<MediaError>();
    const uploader: Uploader = {
      async upload(request) {
        await send(request);
        const ended = new Promise<void>(resolve => request.signal.addEventListener('abort', () => resolve()));
        if (isStopped) stop.abort(interrupted);
        await ended;
        return {kind: 'unreadable', status: 200, problem: 'cut off'};
      },
    };
    const outcomes = uploadEach([small()], uploader, {clock, stop, timeoutMs: undefined});
    expect(await within(700_000, clock, outcomes)).toEqual(['unknown outcome_unknown']);
    expect((await outcomes)[0]).toMatchObject({error: {message: expect.stringMatching(told)}});
  },
);

describe('of two failures of one attempt, the first counts', () => {
  test('a deadline, and then an error of the file', async () => {
    const stop = new Stop<MediaError>();
    const read = async () => {
      stop.abort(new MediaError('deadline_exceeded', 'The deadline has passed.'));
      throw new MediaError('interrupted', 'The file was not read.');
    };
    const uploader: Uploader = {upload: request => send(request).then(() => stored())};
    expect(told(await uploadEach([large({read})], uploader, {stop}))).toEqual(['failed deadline_exceeded']);
  });

  test('a stall, and then a stop of the run', async () => {
    const clock = new ManualClock();
    const stop = new Stop<MediaError>();
    const uploader: Uploader = {
      async upload(request) {
        request.signal.addEventListener('abort', () => stop.abort(interrupted));
        await send(request, {beforeEach: () => clock.sleep(5_000, request.signal as AbortSignal)});
        return stored();
      },
    };
    const outcomes = uploadEach([large()], uploader, {clock, stop, retries: 0, timeoutMs: 1_000});
    expect(await within(10_000, clock, outcomes)).toEqual(['failed stalled']);
  });
});

describe('one file at a time, and a gateway that answers 502 to the second', () => {
  /** What came of four files, the order of uploads and probes, and whether the second was sent to its end. */
  async function seen(isReleased: boolean): Promise<{outcomes: string[]; calls: string}> {
    const clock = new ManualClock();
    const calls: string[] = [];
    const uploader: Uploader = {
      async upload(request) {
        calls.push('upload');
        if (calls.length !== 2) await send(request);
        else {
          if (isReleased) await send(request);
          return {kind: 'refused', status: 502};
        }
        return stored();
      },
      probeAvailability: async () => {
        calls.push('probe');
        return undefined;
      },
    };
    const sources = [small(), small(), small(), small()];
    const ended = uploadEach(sources, uploader, {clock, retries: 0, several: true});
    return {outcomes: await within(10_000, clock, ended), calls: calls.join(' ')};
  }

  test('after its last bytes: it is unknown, and the third waits until the service is back', async () => {
    expect(await seen(true)).toEqual({
      outcomes: ['uploaded', 'unknown outcome_unknown', 'uploaded', 'uploaded'],
      calls: 'upload upload probe upload upload',
    });
  });

  test('before them, without retries: it has failed, and is not sent again after the outage', async () => {
    const {outcomes, calls} = await seen(false);
    expect(outcomes).toEqual(['uploaded', 'failed service_failed', 'uploaded', 'uploaded']);
    expect(calls).toBe('upload upload probe upload upload');
  });
});

test.each<[string, Refused]>([
  ['429', {kind: 'refused', status: 429}],
  ['503 of the service', busy],
  ['503 of a gateway, to what was not sent whole', {kind: 'refused', status: 503}],
])('Retry-After with %s: the next file waits, too', async (_name, refusal) => {
  const clock = new ManualClock();
  const times: number[] = [];
  const uploader: Uploader = {
    async upload(request) {
      times.push(clock.monotonic());
      if (times.length === 1) return {...refusal, retryAfter: '60'};
      await send(request);
      return stored();
    },
  };
  await within(100_000, clock, uploadEach([small(), small()], uploader, {clock}));
  expect(times).toEqual([0, 60_000]);
});

test('Retry-After with 502 to what was not sent whole: this file waits, and no other', async () => {
  const clock = new ManualClock();
  const times: number[] = [];
  const uploader: Uploader = {
    async upload(request) {
      times.push(clock.monotonic());
      if (times.length === 1) return {kind: 'refused', status: 502, retryAfter: '60'};
      await send(request);
      return stored();
    },
  };
  const options = {clock, retries: 1, concurrency: 2};
  await within(100_000, clock, uploadEach([small(), small(), small()], uploader, options));
  expect(times).toEqual([0, 0, 0, 60_000]);
});

test('an outage that a gateway answers with a page: its words, which may hold ids, are not in what is kept', async () => {
  const clock = new ManualClock();
  const uploader: Uploader = {
    async upload(request) {
      await send(request);
      return {kind: 'refused', status: 502, words: 'request id-4711'};
    },
    probeAvailability: async () => undefined,
  };
  const sources = Array.from({length: 40}, () => small());
  const ended: Outcome[] = [];
  const options = {clock, several: true, retryMaxWaitMs: 10_000, random: () => 0.5};
  void uploadEach(sources, uploader, options).then(outcomes => ended.push(...outcomes));
  await clock.advance(100_000);
  const errors = ended.flatMap(one => ('error' in one ? [one.error.cause as MediaError] : []));
  expect(new Set(errors.map(({code}) => code))).toEqual(new Set(['service_failed', 'outage']));
  expect(errors.map(({messageToKeep}) => messageToKeep).join('\n')).not.toContain('id-4711');
});

test('an outage whose gateway asks for a longer wait than is allowed: once it is noticed, its end is waited for', async () => {
  const clock = new ManualClock();
  const away: Refused = {kind: 'refused', status: 503, retryAfter: '3600'};
  const uploader = {
    ...counting(async (request, number) => {
      await send(request);
      return number <= 4 ? away : stored();
    }),
    probeAvailability: async () => undefined,
  };
  const options = {clock, several: true, concurrency: 4, retries: 1, random: () => 0.5} as const;
  const waits = {retryMaxWaitMs: 10_000, onUnknown: 'honoured'} as const;
  const sources = Array.from({length: 4}, () => small());
  const outcomes = await within(600_000, clock, uploadEach(sources, uploader, {...options, ...waits}));
  // Of the first two, nobody could know yet.
  expect(outcomes.filter(one => one === 'uploaded')).toHaveLength(2);
});

describe('the retries of a batch', () => {
  /** Names of files, each of which is refused so many times before it is stored. */
  async function outcomesOf(hiccups: readonly number[]): Promise<string[]> {
    let file = 0;
    let left = hiccups[0] ?? 0;
    const uploader: Uploader = {
      async upload(request) {
        await send(request);
        if (left > 0) {
          left -= 1;
          return busy;
        }
        return stored();
      },
    };
    const sources = hiccups.map(
      (_, index): Source => ({
        ...small(),
        open: async signal => {
          file = index;
          left = hiccups[file] ?? 0;
          return small().open(signal);
        },
      }),
    );
    return told(await uploadEach(sources, uploader, {retries: 1, clock: new InstantClock()}));
  }

  test('300 files that are refused once each: all are stored, as each returns its retry', async () => {
    expect(new Set(await outcomesOf(Array(300).fill(1)))).toEqual(new Set(['uploaded']));
  });

  test('100 are spent on files that fail; five that are stored at once return one', async () => {
    const outcomes = await outcomesOf([...Array(101).fill(2), 1, 0, 0, 0, 0, 0, 2, 1]);
    expect(outcomes.slice(101)).toEqual([
      'failed service_unavailable',
      ...Array(5).fill('uploaded'),
      'failed service_unavailable',
      'failed service_unavailable',
    ]);
    expect((await outcomesOf([...Array(101).fill(2), 0, 0, 0, 0, 0, 1])).at(-1)).toBe('uploaded');
  });
});

/** A clock on which all waits are over at once. */
class InstantClock extends ManualClock {
  override async sleep(): Promise<void> {}
}

/** A clock that counts the timers that have neither run nor been cancelled. */
class CountedClock extends InstantClock {
  readonly pending = new Set<symbol>();

  override after(ms: number, action: () => void): () => void {
    const timer = Symbol();
    this.pending.add(timer);
    const cancel = super.after(ms, () => {
      this.pending.delete(timer);
      action();
    });
    return () => {
      this.pending.delete(timer);
      cancel();
    };
  }
}

describe('an attempt leaves no timer and no listener behind', () => {
  const reset = () => Promise.reject(Object.assign(new Error('reset'), {code: 'ECONNRESET'}));
  const broken = () => Promise.reject(new MediaError('source_changed', 'The file changed.'));

  test.each<[string, Source, (request: UploadRequest) => Promise<UploadResponse>, object]>([
    ['stored', large(), request => send(request).then(() => stored()), {}],
    ['stored, with a rate limit', large(), request => send(request).then(() => stored()), {limitRate: 1e5}],
    ['refused 20 times', small(), request => send(request).then(() => busy), {retries: 20}],
    ['cut 20 times before it is sent', large(), reset, {retries: 20}],
    ['cut after it was sent', large(), request => send(request).then(reset), {}],
    ['changed', large({verify: broken}), request => send(request).then(() => stored()), {}],
    ['unreadable', large({read: broken}), request => send(request).then(() => stored()), {}],
  ])('%s', async (_name, source, meet, options) => {
    const stop = new CountedStop<MediaError>();
    const clock = new CountedClock();
    const counts = new Set<number>();
    const uploader: Uploader = {
      async upload(request) {
        counts.add(stop.listeners.size);
        return meet(request);
      },
    };
    await uploadEach([source], uploader, {stop, clock, ...options});
    // Each attempt listens, and so does the batch.
    expect([...counts]).toEqual([2]);
    expect(stop.listeners.size).toBe(0);
    expect(clock.pending.size).toBe(0);
  });
});

describe('what a journal knows', () => {
  const unasked: Uploader = {upload: () => Promise.reject(new Error('a request was made'))};
  const content = 'content';
  const file = (changes: Partial<OpenSource> = {}) => small(changes, () => {}, Buffer.from(content));

  test('as stored, with a record that cannot be read: not sent again', async () => {
    const one = await bench();
    const stat = inputOf('a.png', content).stat;
    await one.run(journal => upload(journal, inputOf('a.png', content), 'done', 'med_1'));
    // Known by its state, and by its content.
    for (const source of [file({stat}), file()]) {
      await one.run(async journal => {
        const text = await one.text();
        await one.write(text.replace('{"id":"med_1"}', '{"di":"med_1"}'));
        const outcomes = await uploadEach([source], unasked, {journal, onUnknown: 'retry', retries: 2});
        expect(told(outcomes)).toEqual(['failed journal_unusable']);
        await one.write(text);
      });
    }
  });

  /** An upload of an earlier run that a user has decided to send again. */
  async function resent(bytes = content): Promise<Bench> {
    const one = await bench();
    await one.run(journal => upload(journal, inputOf('a.png', bytes), 'commit'));
    await one.run(async journal => {
      const [entry] = journal.reader.entriesOf(pathKey('a.png'), 'unknown');
      if (entry !== undefined) await journal.settle(entry);
    });
    return one;
  }

  test.each([
    ['before its last bytes', false],
    ['after them', true],
  ])('409 %s to what an earlier run has released: unknown, now and in the next run', async (_name, isAll) => {
    const one = await resent();
    const conflict: Uploader = {
      async upload(request) {
        if (isAll) await send(request);
        return {kind: 'refused', status: 409};
      },
    };
    const outcomes = await one.run(journal => uploadEach([file()], conflict, {journal, retries: 2}));
    expect(told(outcomes)).toEqual(['unknown outcome_unknown']);
    await one.run(async journal =>
      expect(told(await uploadEach([file()], unasked, {journal}))).toEqual(['unknown outcome_unknown']),
    );
  });

  test('409 after the first bytes of it: unknown, now and in the next run', async () => {
    const bytes = Buffer.alloc(300_000);
    const source = memorySource('a.png', bytes);
    const one = await resent(bytes.toString());
    const conflict: Uploader = {
      async upload({body}) {
        if (!(body.content instanceof Uint8Array)) for await (const _chunk of body.content(wire)) break;
        return {kind: 'refused', status: 409};
      },
    };
    const outcomes = await one.run(journal => uploadEach([source], conflict, {journal, retries: 2}));
    expect(told(outcomes)).toEqual(['unknown outcome_unknown']);
    await one.run(async journal =>
      expect(told(await uploadEach([source], unasked, {journal}))).toEqual(['unknown outcome_unknown']),
    );
  });

  test('unknown as another type, and now refused: still unknown, since that one may be stored', async () => {
    const one = await bench();
    const earlier = {...inputOf('a.png', content), contentType: 'image/gif'};
    await one.run(journal => upload(journal, earlier, 'commit'));
    const refusing: Uploader = {upload: async () => ({kind: 'refused', status: 413})};
    const outcomes = await one.run(journal => uploadEach([file()], refusing, {journal, onUnknown: 'retry'}));
    expect(told(outcomes)).toEqual(['unknown outcome_unknown']);
  });

  const reset = () => Promise.reject(Object.assign(new Error('reset'), {code: 'ECONNRESET'}));

  test.each<[string, (request: UploadRequest) => Promise<UploadResponse>]>([
    ['413', async () => ({kind: 'refused', status: 413})],
    ['413 after its last bytes', request => send(request).then(() => ({kind: 'refused', status: 413}))],
    ['401', async () => ({kind: 'refused', status: 401})],
    ['503 of the service, for good', async () => busy],
    ['a reset before its last bytes', reset],
    ['a change of the file', () => Promise.reject(new MediaError('source_changed', 'The file changed.'))],
  ])('sent without a response, and then %s: unknown, now and in the next run', async (_name, meet) => {
    for (const onUnknown of ['retry', 'honoured'] as const)
      for (const isOfEarlierRun of [false, true]) {
        const one = await bench();
        if (isOfEarlierRun) await one.run(journal => upload(journal, inputOf('a.png', content), 'commit'));
        const uploader = counting((request, number) =>
          number === 1 && !isOfEarlierRun ? send(request).then(reset) : meet(request),
        );
        const options = {onUnknown, retries: 2, clock: new InstantClock()};
        const outcomes = await one.run(journal => uploadEach([file()], uploader, {journal, ...options}));
        expect(told(outcomes)).toEqual(['unknown outcome_unknown']);
        expect(uploader.requests).toBeGreaterThan(isOfEarlierRun ? 0 : 1);
        await one.run(async journal =>
          expect(told(await uploadEach([file()], unasked, {journal}))).toEqual(['unknown outcome_unknown']),
        );
      }
  });

  test('what a response declares about keys is in the journal, also if nothing went wrong', async () => {
    const journal = await (await bench()).open();
    const upload = (request: UploadRequest) => send(request).then(() => stored());
    const options = {journal, onUnknown: 'declared'} as const;
    expect(told(await uploadEach([file()], {upload, honoursKeys: true}, options))).toEqual(['uploaded']);
    expect(journal.reader.scope).toMatchObject({honoursKeys: true});
  });

  test('what the response to a question declares about keys is in the journal, too', async () => {
    const journal = await (await bench()).open();
    const uploader = declaring(request => send(request).then(reset));
    const outcomes = await uploadEach([file()], uploader, {journal, onUnknown: 'declared'});
    expect(told(outcomes)).toEqual(['unknown outcome_unknown']);
    expect(journal.reader.scope).toMatchObject({honoursKeys: true});
  });

  test('unknown since a run that was killed, and keys that the service declares when it is asked: sent again', async () => {
    const one = await bench();
    await one.run(journal => upload(journal, inputOf('a.png', content), 'commit'));
    const uploader = declaring(request => send(request).then(() => stored()));
    await one.run(async journal =>
      expect(told(await uploadEach([file()], uploader, {journal, onUnknown: 'declared'}))).toEqual([
        'uploaded',
      ]),
    );
  });

  test('what a later response declares about keys: is what the next run reads', async () => {
    const one = await bench();
    const upload = (request: UploadRequest) => send(request).then(() => stored());
    for (const [number, honoursKeys] of [true, false, true].entries()) {
      const source = small({}, () => {}, Buffer.from(`content ${number}`));
      await one.run(journal => uploadEach([source], {upload, honoursKeys}, {journal, onUnknown: 'declared'}));
      await one.run(async journal => expect(journal.reader.scope).toMatchObject({honoursKeys}));
    }
  });

  test.each([
    ['an hour ago', -3_600_000, 'uploaded'],
    ['in an hour, as it seems after the clock was set back', 3_600_000, 'unknown outcome_unknown'],
  ])('released %s, where keys are honoured', async (_name, ms, result) => {
    const one = await bench();
    await one.run(journal => upload(journal, inputOf('a.png', content), 'commit'));
    const at = new Date(Date.now() + ms).toISOString();
    await one.write((await one.text()).replaceAll(/"at":"[^"]+"/g, `"at":"${at}"`));
    const uploader = {upload: (request: UploadRequest) => send(request).then(() => stored())};
    await one.run(async journal =>
      expect(told(await uploadEach([file()], uploader, {journal, onUnknown: 'honoured'}))).toEqual([result]),
    );
  });

  test('409 to what was never released: failed, and sent by the next run', async () => {
    const one = await bench();
    const conflict: Uploader = {upload: async () => ({kind: 'refused', status: 409})};
    const outcomes = await one.run(journal => uploadEach([file()], conflict, {journal, retries: 2}));
    expect(told(outcomes)).toEqual(['failed rejected']);
    const uploader = {upload: (request: UploadRequest) => send(request).then(() => stored())};
    await one.run(async journal =>
      expect(told(await uploadEach([file()], uploader, {journal}))).toEqual(['uploaded']),
    );
  });
});

describe('one after another in one run', () => {
  test('409 to a file whose earlier attempt had been sent whole, and then refused with 429: unknown', async () => {
    const uploader = counting(async (request, number) => {
      if (number > 1) return {kind: 'refused', status: 409};
      await send(request);
      return {kind: 'refused', status: 429};
    });
    const outcomes = await uploadEach([large()], uploader, {retries: 3, clock: new InstantClock()});
    expect(told(outcomes)).toEqual(['unknown outcome_unknown']);
    expect(uploader.requests).toBe(2);
  });

  test('409 to it, from a service that declares when it is asked that it honours keys: sent again', async () => {
    const counted = counting(async (request, number) => {
      await send(request);
      return number === 1 ? busy : number === 2 ? {kind: 'refused', status: 409} : stored();
    });
    const uploader = declaring(request => counted.upload(request));
    const options = {retries: 3, clock: new InstantClock(), onUnknown: 'declared'} as const;
    expect(told(await uploadEach([large()], uploader, options))).toEqual(['uploaded']);
    expect(counted.requests).toBe(3);
  });

  test('409 to the attempt after one that broke on the way, where keys are honoured: waited for', async () => {
    const uploader = counting(async (request, number) => {
      if (number === 1) throw Object.assign(new Error('reset'), {code: 'ECONNRESET'});
      if (number === 2) return {kind: 'refused', status: 409};
      await send(request);
      return stored();
    });
    const options = {retries: 3, clock: new InstantClock(), onUnknown: 'honoured'} as const;
    expect(told(await uploadEach([large()], uploader, options))).toEqual(['uploaded']);
  });

  test.each([
    [502, / The last attempt: .*\(502\)/],
    [500, /^(?!.*The last attempt)/],
  ])(
    'unknown after a 500, and then after a %i: the first is told, the last if it differs',
    async (status, last) => {
      const uploader = counting(async (request, number) => {
        await send(request);
        return {kind: 'refused', status: number === 1 ? 500 : status};
      });
      const options = {retries: 1, clock: new InstantClock(), onUnknown: 'retry'} as const;
      const [outcome] = await uploadEach([small()], uploader, options);
      const {message} = (outcome as {error: MediaError}).error;
      expect(message).toMatch(/^the test service failed \(500\)/);
      expect(message).toMatch(last);
    },
  );

  test('no descriptor for the attempt after one that was sent whole: tried again with the same key', async () => {
    let end = () => {};
    const ended = new Promise<void>(resolve => {
      end = resolve;
    });
    const keys: string[] = [];
    const uploader: Uploader = {
      async upload(request) {
        await send(request);
        if (request.body.length > 5) return ended.then(() => stored());
        keys.push(request.idempotencyKey);
        if (keys.length === 1) return busy;
        if (keys.length === 2) throw new MediaError('too_many_open_files', 'Too many files are open.');
        end();
        return stored();
      },
    };
    // A file that yields waits for the other one.
    const observer = {...noObserver, retrying: (...[, , , waitMs]: unknown[]) => waitMs ?? end()};
    const sources = [small({}, () => {}, Buffer.from('the other')), small()];
    const options = {observer, retries: 3, concurrency: 2, clock: new InstantClock()};
    expect(told(await uploadEach(sources, uploader, options))).toEqual(['uploaded', 'uploaded']);
    expect(keys).toEqual(Array(3).fill(keys[0]));
  });

  test('refused without Retry-After, one after the other: the next file waits, too', async () => {
    const clock = new ManualClock();
    await clock.advance(1_000);
    const times: number[] = [];
    const uploader: Uploader = {
      async upload() {
        times.push(clock.monotonic());
        return {kind: 'refused', status: 429};
      },
    };
    const options = {clock, retries: 1, random: () => 0.5};
    await within(60_000, clock, uploadEach([small(), small()], uploader, options));
    expect(times.slice(0, 3)).toEqual([1_000, 1_250, 1_750]);
  });

  test('files below the limit of the rate: each takes its own bytes of it, and no more', async () => {
    const clock = new ManualClock();
    const times: number[] = [];
    const uploader: Uploader = {
      async upload(request) {
        times.push(clock.monotonic());
        await send(request);
        return stored();
      },
    };
    const sources = Array.from({length: 10}, () => small({}, () => {}, Buffer.alloc(50)));
    await within(60_000, clock, uploadEach(sources, uploader, {clock, limitRate: 1_000}));
    expect(times.at(-1)).toBe(400);
  });

  test('a file that waits for the rate limit when another one has met a rejected key: not sent', async () => {
    const clock = new ManualClock();
    const uploader = counting(async () => ({kind: 'refused', status: 401}));
    const sources = [1, 2].map(() => small({}, () => {}, Buffer.alloc(200)));
    const outcomes = uploadEach(sources, uploader, {clock, limitRate: 1_000, concurrency: 2});
    expect(await within(60_000, clock, outcomes)).toEqual(['failed unauthorized', 'failed not_tried']);
    expect(uploader.requests).toBe(1);
  });

  test.each([
    [true, ['uploaded']],
    [false, ['failed proxy_failed']],
  ])('a page of the network, which is waited for: %s', async (waitsForNetwork, expected) => {
    const uploader = counting(async (request, number) => {
      if (number === 1) throw new MediaError('proxy_failed', 'The proxy returned a page.', {status: 200});
      await send(request);
      return stored();
    });
    const options = {waitsForNetwork, retries: 1, clock: new InstantClock()};
    expect(told(await uploadEach([small()], uploader, options))).toEqual(expected);
  });

  test('a deadline during an outage: the files that wait are told of the service', async () => {
    const clock = new ManualClock();
    const stop = new Stop<MediaError>();
    const uploader: Uploader = {
      upload: async () => ({kind: 'refused', status: 502}),
      probeAvailability: async () => 'It returned 502.',
    };
    const options = {clock, stop, several: true, retries: 5, random: () => 0.5};
    const outcomes = uploadEach([small(), small()], uploader, options);
    await clock.advance(10_000);
    stop.abort(new MediaError('deadline_exceeded', 'The deadline has passed.'));
    expect(await within(0, clock, outcomes)).toEqual(['failed outage', 'failed not_tried']);
  });

  test('the question whether keys are honoured: one for all files, ended by a stop, none after it', async () => {
    const clock = new ManualClock();
    const stops = [1, 2, 3].map(() => new Stop<MediaError>());
    let [sent, asked] = [0, 0];
    const uploader: Uploader = {
      async upload(request) {
        await send(request);
        sent += 1;
        if (sent === 4) stops[2]?.abort(interrupted);
        throw Object.assign(new Error('reset'), {code: 'ECONNRESET'});
      },
      probeAvailability: signal => {
        asked += 1;
        return new Promise(resolve => signal.addEventListener('abort', () => resolve('It did not respond.')));
      },
    };
    const [two, stopped, late] = stops.map(stop => (files: number) => {
      const sources = Array.from({length: files}, () => small());
      return uploadEach(sources, uploader, {clock, stop, onUnknown: 'declared'});
    });
    const isUnknown = 'unknown outcome_unknown';
    expect(await within(5_000, clock, two?.(2) as Promise<Outcome[]>)).toEqual([isUnknown, isUnknown]);
    expect(asked).toBe(1);
    const outcomes = stopped?.(1) as Promise<Outcome[]>;
    await eventually(() => asked === 2);
    stops[1]?.abort(interrupted);
    expect(await within(0, clock, outcomes)).toEqual([isUnknown]);
    expect(await within(0, clock, late?.(1) as Promise<Outcome[]>)).toEqual([isUnknown]);
    expect(asked).toBe(2);
  });

  test('a run that is stopped while the service asks all files to wait: ends at once', async () => {
    const stop = new Stop<MediaError>();
    const clock = new ManualClock();
    const uploader: Uploader = {
      async upload({signal}) {
        signal.throwIfAborted();
        return {kind: 'refused', status: 429, retryAfter: '60'};
      },
    };
    const outcomes = uploadEach([small(), small()], uploader, {stop, clock, several: true});
    await clock.advance(1_000);
    stop.abort(interrupted);
    expect(await within(0, clock, outcomes)).toEqual(['failed rate_limited', 'failed interrupted']);
  });

  test('a retry that is due when another file has met a rejected key: not made', async () => {
    const clock = new ManualClock();
    const uploader = counting(async (request, number) => {
      await send(request);
      return number === 1 ? busy : {kind: 'refused', status: 401};
    });
    const options = {clock, retries: 5, concurrency: 2, random: () => 0.5};
    const outcomes = await within(60_000, clock, uploadEach([small(), small()], uploader, options));
    expect(outcomes.sort()).toEqual(['failed not_tried', 'failed unauthorized']);
    expect(uploader.requests).toBe(2);
  });

  test('a retry that is due while the journal records that a key was rejected: not made', async () => {
    const clock = new ManualClock();
    let hangs = false;
    let goOn = () => {};
    const disk = new Promise<void>(resolve => {
      goOn = resolve;
    });
    const wrap = (handle: JournalHandle) =>
      changedHandle(handle, {
        async write(...parameters) {
          if (hangs) await disk;
          return handle.write(...parameters);
        },
      });
    const journal = await (await bench()).open({wrap});
    let retrying = () => {};
    const isRetrying = new Promise<void>(resolve => {
      retrying = resolve;
    });
    const uploader = counting(async (_request, number) => {
      if (number === 1) return busy;
      await isRetrying;
      hangs = true;
      return {kind: 'refused', status: 401};
    });
    const sources = ['one', 'two'].map(content => small({}, () => {}, Buffer.from(content)));
    const observer = {...noObserver, retrying: () => retrying()};
    const options = {clock, journal, observer, retries: 5, concurrency: 2, random: () => 0.5};
    const outcomes = uploadEach(sources, uploader, options);
    await isRetrying;
    await clock.advance(60_000);
    goOn();
    expect(told(await outcomes).sort()).toEqual(['failed not_tried', 'failed unauthorized']);
    expect(uploader.requests).toBe(2);
  });

  test('unknown for 14 hours, where keys are honoured: sent again within 12 hours of its first attempt only', async () => {
    const clock = new ManualClock();
    const uploader = counting(async request => {
      await send(request);
      await clock.sleep(7 * 3_600_000);
      throw Object.assign(new Error('reset'), {code: 'ECONNRESET'});
    });
    const options = {clock, retries: 5, onUnknown: 'honoured', timeoutMs: 24 * 3_600_000} as const;
    const outcomes = uploadEach([small()], uploader, options);
    expect(await within(48 * 3_600_000, clock, outcomes)).toEqual(['unknown outcome_unknown']);
    expect(uploader.requests).toBe(2);
  });

  test('unknown for 11 h 55 min since an earlier run, then told to wait: not sent again after 12 hours', async () => {
    const clock = new ManualClock();
    const one = await bench();
    const run = async (uploader: Uploader & {requests: number}, retries: number) => {
      const journal = await openJournal(one.path, {...one.host, clock}, {scope});
      const options = {clock, journal, retries, onUnknown: 'honoured', retryMaxWaitMs: 7_200_000} as const;
      let outcomes: Outcome[] | undefined;
      void uploadEach([small()], uploader, options).then(ended => {
        outcomes = ended;
      });
      await eventually(() => uploader.requests > 0);
      await eventually(() => clock.advance(60_000).then(() => outcomes !== undefined));
      await journal.close();
      return told(outcomes ?? []);
    };
    const gone = counting(async request => {
      await send(request);
      throw Object.assign(new Error('reset'), {code: 'ECONNRESET'});
    });
    expect(await run(gone, 0)).toEqual(['unknown outcome_unknown']);
    await clock.advance(11.9 * 3_600_000 - clock.now());
    const limited = counting(async () => ({kind: 'refused', status: 429, retryAfter: '1800'}));
    expect(await run(limited, 5)).toEqual(['unknown outcome_unknown']);
    expect(limited.requests).toBe(1);
  });

  test.each([
    [{most: 128}, 0, 8, 5],
    [{most: 128}, 1, 16, 5],
    [{most: 128}, 1, 8, 16 * mebibyte],
    [{most: 3}, 0, 3, 5],
    [{most: 3}, 1, 3, 5],
    [{most: 3}, 1, 3, 64 * mebibyte],
    [20, 0, 20, 5],
    [20, 0, 20, 16 * mebibyte],
  ])(
    '%j at most, with --retries %i: %i files of %i bytes at first, since a refused one would be lost',
    async (concurrency, retries, expected, size) => {
      let [inProgress, most] = [0, 0];
      const uploader: Uploader = {
        async upload(request) {
          inProgress += 1;
          most = Math.max(most, inProgress);
          await settled();
          if (size < mebibyte) await send(request);
          inProgress -= 1;
          return {kind: 'refused', status: 413};
        },
      };
      const sources = Array.from({length: 40}, () => (size < mebibyte ? small() : zeroSource('a.png', size)));
      await uploadEach(sources, uploader, {retries, concurrency, stop: new Stop<MediaError>()});
      expect(most).toBe(expected);
    },
  );

  test('equal files: those that come after the first take its record', async () => {
    const one = await bench();
    const journal = await one.open();
    const uploader = counting(async request => {
      await send(request);
      return stored();
    });
    const sources = [small(), small(), small(), small()];
    const outcomes = await uploadEach(sources, uploader, {journal, concurrency: 2});
    expect(told(outcomes).sort()).toEqual(['skipped', 'skipped', 'skipped', 'uploaded']);
    expect(uploader.requests).toBe(1);
  });

  test.each<[string, () => Promise<UploadResponse>, object]>([
    ['while it waits to be tried again', async () => busy, {}],
    [
      'while it is sent',
      () => Promise.reject(new MediaError('connection_lost', 'The connection was lost.')),
      {isLate: true},
    ],
  ])('stopped %s: never sent again', async (_name, answer, {isLate = false}: {isLate?: boolean}) => {
    const stop = new Stop<MediaError>();
    const clock = new ManualClock();
    const uploader = counting(() => {
      if (isLate) stop.abort(interrupted);
      return answer();
    });
    const outcomes = uploadEach([large()], uploader, {stop, clock, retries: 5, random: () => 0.5});
    await clock.advance(1);
    stop.abort(interrupted);
    expect(await within(600_000, clock, outcomes)).toEqual([expect.stringMatching(/^failed /)]);
    expect(uploader.requests).toBe(1);
  });
});

describe('what was opened is closed, once', () => {
  const changed = () => Promise.reject(new MediaError('source_changed', 'The file changed.'));
  const cut = () => Promise.reject(Object.assign(new Error('reset'), {code: 'ECONNRESET'}));

  test.each<
    [string, Partial<OpenSource>, (request: UploadRequest) => Promise<UploadResponse>, object, string]
  >([
    ['stored', {}, request => send(request).then(() => stored()), {}, 'uploaded'],
    ['refused', {}, async () => ({kind: 'refused', status: 413}), {}, 'failed rejected'],
    ['refused, and then stored', {}, request => send(request).then(() => stored()), {hiccups: 2}, 'uploaded'],
    ['unknown', {}, request => send(request).then(cut), {}, 'unknown outcome_unknown'],
    [
      'changed',
      {verify: changed},
      request => send(request).then(() => stored()),
      {},
      'failed source_changed',
    ],
    ['checked', {}, async () => stored(), {dryRun: true}, 'checked'],
  ])('%s', async (_name, changes, meet, {hiccups = 0, ...options}: {hiccups?: number}, expected) => {
    let isOpen = 0;
    let left = hiccups;
    const source = large(changes);
    const counted: Source = {
      ...source,
      async open(signal) {
        const opened = await source.open(signal);
        isOpen += 1;
        return {
          ...opened,
          async close() {
            isOpen -= 1;
            await opened.close();
          },
        };
      },
    };
    const uploader: Uploader = {
      async upload(request) {
        left -= 1;
        return left >= 0 ? busy : meet(request);
      },
    };
    const outcomes = await uploadEach([counted], uploader, {
      retries: 3,
      clock: new InstantClock(),
      ...options,
    });
    expect(told(outcomes)).toEqual([expected]);
    expect(isOpen).toBe(0);
  });
});

test.each(['empty_file', 'file_unreadable', 'file_missing', 'not_a_file'] as const)(
  'a file of a directory that is not called media, %s: left out, unless it is named',
  async code => {
    const unsuitable: Source = {
      ...small(),
      open: () => Promise.reject(new MediaError(code, 'The file cannot be read.')),
    };
    const found = {isHidden: false, isNamedMedia: () => false};
    const called = {...found, isNamedMedia: () => true};
    const uploader = {upload: () => Promise.reject(new Error('a request was made'))};
    const sources = [{...unsuitable, found}, unsuitable, {...unsuitable, found: called}];
    const outcomes = await uploadEach(sources, uploader);
    expect(outcomes.map(({position}) => position)).toEqual([1, 2]);
    expect(told(outcomes)).toEqual(Array(2).fill(`failed ${code}`));
  },
);

test('a directory whose run has ended early: what it would leave out is not among the files not tried', async () => {
  let isOpen = 0;
  const source = (changes: Partial<Source['found']>): Source => ({
    ...small(),
    found: {isHidden: false, isNamedMedia: () => false, ...changes},
    async open(signal) {
      isOpen += 1;
      const close = async () => {
        isOpen -= 1;
      };
      return {...(await small().open(signal)), close};
    },
  });
  const contentType = async ({found}: Source) => {
    if (found?.isNamedMedia() === false) throw new NotMediaError('It is not media.', {isCalledMedia: false});
    return {contentType: 'image/png'};
  };
  const sources = [
    small(),
    source({}),
    source({isHidden: true}),
    source({isNamedMedia: () => true}),
    small(),
  ];
  const uploader = {upload: async () => ({kind: 'refused', status: 401}) as const};
  const outcomes = await uploadEach(sources, uploader, {contentType});
  expect(told(outcomes)).toEqual(['failed unauthorized', 'failed not_tried', 'failed not_tried']);
  expect(outcomes.map(({position}) => position)).toEqual([0, 3, 4]);
  expect(isOpen).toBe(0);
});

test('refused after a stop: no other attempt, and none is announced', async () => {
  const stop = new Stop<MediaError>();
  const announced: string[] = [];
  const uploader = counting(async request => {
    await send(request);
    stop.abort(interrupted);
    return busy;
  });
  const observer = {...noObserver, retrying: (_position: number, name: string) => announced.push(name)};
  const outcomes = await uploadEach([small()], uploader, {
    stop,
    observer,
    retries: 5,
    clock: new InstantClock(),
  });
  expect(told(outcomes)).toEqual(['failed service_unavailable']);
  expect([uploader.requests, announced]).toEqual([1, []]);
});
