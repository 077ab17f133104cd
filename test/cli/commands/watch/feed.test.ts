import {expect, test, vi} from 'vitest';
import {Feed} from '../../../../src/cli/commands/watch/feed.ts';
import type {UploadResult} from '../../../../src/engine/transfer/outcome.ts';
import {type ErrorCode, MediaError} from '../../../../src/errors.ts';
import {ManualClock} from '../../../support/manual-clock.ts';
import {outcomeOf} from '../../../support/outcomes.ts';

const record = {record: {id: 'm'}, json: '{"id":"m"}'};

function uploaded(name: string): UploadResult {
  return outcomeOf({file: name, status: 'uploaded', ...record});
}

function failed(name: string, code: ErrorCode, status: 'failed' | 'unknown' = 'failed'): UploadResult {
  return outcomeOf({file: name, status, error: new MediaError(code, `${name}: ${code}.`)});
}

/** A feed of files that are always complete, to a service and a disposal that a test controls. */
function feed(
  answer: (path: string, tries: number) => UploadResult | Promise<UploadResult>,
  staysAfter: (path: string, tries: number) => boolean | 'asked again' = () => true,
) {
  const clock = new ManualClock();
  const versions = new Map<string, number>();
  const tries = new Map<string, number>();
  const log: string[] = [];
  const look = vi.fn(async (path: string) => ({key: String(versions.get(path) ?? 0), size: 1}));
  const parts = new Feed(
    {clock, settleMs: 100, isUnfinished: async () => false, look},
    {
      async take(path) {
        tries.set(path, (tries.get(path) ?? 0) + 1);
        const outcome = await answer(path, tries.get(path) ?? 0);
        if ('error' in outcome) return outcome;
        const stays = staysAfter(path, tries.get(path) ?? 0);
        log.push(`done ${path}`);
        return stays === 'asked again' ? stays : stays ? 'stays' : 'left';
      },
      async reportFailure(path, {status}) {
        log.push(`${status} ${path}`);
      },
      reportDelay: (error, files) => void log.push(`${clock.now()} ${files} wait: ${error.code}`),
    },
  );
  return {clock, versions, tries, log, look, feed: parts};
}

const away = new MediaError('connection_refused', 'The service is away.');
const full = new MediaError('local_failure', 'The disk is full.');

test.each([
  ['without a service', away],
  ['with a full disk', full],
])(
  'an hour %s for 50 files: one line a minute, tries that become rarer, then each is finished once',
  async (_name, trouble) => {
    let isOver = false;
    const names = Array.from({length: 50}, (_, at) => `${at}.png`);
    const {
      clock,
      log,
      tries,
      feed: it,
    } = feed(
      path => (isOver || trouble !== away ? uploaded(path) : failed(path, away.code)),
      () => {
        if (isOver) return true;
        throw trouble;
      },
    );
    for (const name of names) it.touch(name);
    await clock.advance(3_600_000);
    expect(log.length).toBeLessThanOrEqual(60);
    expect(log.length).toBeGreaterThan(40);
    expect(log.at(-1)).toContain(` wait: ${trouble.code}`);
    expect(it.waiting).toBe(50);
    expect(Math.max(...tries.values())).toBeLessThan(75);
    isOver = true;
    log.length = 0;
    await clock.advance(61_000);
    expect(log.sort()).toEqual(names.map(name => `done ${name}`).sort());
    expect(it.waiting).toBe(0);
    await clock.advance(3_600_000);
    expect(log).toHaveLength(50);
  },
);

test('two kinds of trouble within a minute: each reported', async () => {
  const {
    clock,
    log,
    feed: it,
  } = feed(
    path => (path === 'away.png' ? failed(path, away.code) : uploaded(path)),
    () => {
      throw full;
    },
  );
  it.touch('away.png');
  await clock.advance(1_000);
  it.touch('full.png');
  await clock.advance(30_000);
  expect(log.map(line => line.replace(/^.*: /, ''))).toEqual([away.code, full.code]);
});

test('a file that is gone when it is disposed of, and comes back as it was: taken again, until it stays', async () => {
  const {clock, tries, feed: it} = feed(uploaded, (_path, count) => count > 1);
  it.touch('a.png');
  await clock.advance(10_000);
  expect(tries.get('a.png')).toBe(2);
  it.touch('a.png');
  await clock.advance(10_000);
  expect(tries.get('a.png')).toBe(2);
});

test('a file that is gone when it is to be uploaded: nothing is said of it', async () => {
  const {clock, tries, log, feed: it} = feed(path => failed(path, 'file_missing'));
  it.touch('a.png');
  await clock.advance(600_000);
  expect({log, tries: tries.get('a.png'), waiting: it.waiting}).toEqual({log: [], tries: 1, waiting: 0});
});

test('a file that changes while it is sent: taken again at once, and nothing is said of it', async () => {
  const {
    clock,
    log,
    feed: it,
  } = feed((path, count) => (count === 1 ? failed(path, 'source_changed') : uploaded(path)));
  it.touch('a.png');
  await clock.advance(500);
  expect(log).toEqual(['done a.png']);
});

test('a second outage: tries that begin as often as in the first one', async () => {
  let isAway = true;
  const {clock, tries, feed: it} = feed(path => (isAway ? failed(path, away.code) : uploaded(path)));
  it.touch('a.png');
  await clock.advance(600_000);
  isAway = false;
  await clock.advance(61_000);
  isAway = true;
  it.touch('b.png');
  await clock.advance(10_000);
  expect(tries.get('b.png')).toBeGreaterThan(2);
});

test('a file that is told of again and again while it grows: looked at as if told of once', async () => {
  const {clock, versions, look, feed: it} = feed(uploaded);
  for (let told = 0; told < 100; told += 1) {
    versions.set('a.png', told);
    it.touch('a.png');
    await clock.advance(10);
  }
  expect(look.mock.calls.length).toBeLessThan(20);
});

test('closed while a file is looked at: it is not taken', async () => {
  const {clock, tries, look, feed: it} = feed(uploaded);
  it.touch('a.png');
  await clock.advance(50);
  look.mockImplementation(async () => {
    it.close();
    return {key: '0', size: 1};
  });
  await clock.advance(1_000);
  expect(tries.size).toBe(0);
});

test('a file that waits to be tried again, and is removed meanwhile: no longer counted, nor tried', async () => {
  const {clock, tries, feed: it} = feed(path => failed(path, away.code));
  it.touch('a.png');
  await clock.advance(500);
  expect(it.waiting).toBe(1);
  it.forget('a.png');
  expect(it.waiting).toBe(0);
  await clock.advance(600_000);
  expect(tries.get('a.png')).toBe(1);
});

test('a file that was uploaded, removed, and put back as it was: uploaded again', async () => {
  const {clock, tries, feed: it} = feed(uploaded);
  it.touch('a.png');
  await clock.advance(10_000);
  it.forget('a.png');
  it.touch('a.png');
  await clock.advance(10_000);
  expect(tries.get('a.png')).toBe(2);
});

test('a file that is kept for a reason that may pass: taken again after an hour, and not before', async () => {
  const {clock, tries, feed: it} = feed(uploaded, (_path, count) => (count > 2 ? true : 'asked again'));
  it.touch('a.png');
  await clock.advance(3_600_000);
  expect(tries.get('a.png')).toBe(1);
  await clock.advance(3_600_000);
  expect(tries.get('a.png')).toBe(2);
  await clock.advance(36_000_000);
  expect(tries.get('a.png')).toBe(3);
  it.close();
  await it.waitForEnd();
});

test.each([
  ['EIO', 2],
  ['EACCES', 1],
])('a file that cannot be read, %s: taken %i times in an hour, as it is', async (code, times) => {
  const error = new MediaError<string>('file_unreadable', 'a.png cannot be read.', {cause: {code}});
  const {
    clock,
    tries,
    feed: it,
  } = feed((name, count) =>
    count === 1 ? outcomeOf({file: name, status: 'failed', error}) : uploaded(name),
  );
  it.touch('a.png');
  await clock.advance(3_500_000);
  expect(tries.get('a.png')).toBe(1);
  await clock.advance(3_700_000);
  expect(tries.get('a.png')).toBe(times);
});

test.each([
  ['not_media', 'failed', 1],
  ['type_mismatch', 'failed', 1],
  ['geotags_unstrippable', 'failed', 1],
  ['file_unreadable', 'failed', 1],
  ['rejected', 'failed', 1],
  ['outcome_unknown', 'unknown', 1],
  ['unauthorized', 'failed', 8],
  ['journal_in_use', 'failed', 8],
] as const)('%s: tried again as it is, or only once it has changed', async (code, status, least) => {
  const {clock, versions, tries, log, feed: it} = feed(path => failed(path, code, status));
  it.touch('a.png');
  await clock.advance(300_000);
  const before = tries.get('a.png') ?? 0;
  expect(before).toBeGreaterThanOrEqual(least);
  if (least === 1) {
    expect(before).toBe(1);
    it.touch('a.png');
    await clock.advance(300_000);
    expect(tries.get('a.png')).toBe(1);
    versions.set('a.png', 1);
    it.touch('a.png');
    await clock.advance(300_000);
    expect(tries.get('a.png')).toBe(2);
    expect(log).toEqual([`${status} a.png`, `${status} a.png`]);
  }
});

test('a file that changes while it is uploaded: uploaded again as it is then; one that cannot be moved: tried again', async () => {
  let release = () => {};
  const {
    clock,
    versions,
    tries,
    log,
    feed: it,
  } = feed(
    async (path, count) => {
      if (path === 'slow.png' && count === 1)
        await new Promise<void>(resolve => {
          release = resolve;
        });
      return uploaded(path);
    },
    (path, count) => {
      if (path === 'full.png' && count < 3) throw full;
      return true;
    },
  );
  it.touch('slow.png');
  it.touch('full.png');
  await clock.advance(1_000);
  versions.set('slow.png', 1);
  it.touch('slow.png');
  await clock.advance(1_000);
  release();
  await clock.advance(60_000);
  expect(Object.fromEntries(tries)).toEqual({'slow.png': 2, 'full.png': 3});
  expect(log.filter(line => line.startsWith('done')).sort()).toEqual([
    'done full.png',
    'done slow.png',
    'done slow.png',
  ]);
  it.close();
  it.touch('late.png');
  await clock.advance(60_000);
  expect(tries.has('late.png')).toBe(false);
});
