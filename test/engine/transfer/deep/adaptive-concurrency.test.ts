import {describe, expect, it} from 'vitest';
import {
  AdaptiveConcurrency,
  type ConcurrencyOption,
  type ReleaseSlot,
} from '../../../../src/engine/transfer/concurrency.ts';
import {transferDefaults} from '../../../../src/engine/transfer/transfer-options.ts';
import {nextTurn} from '../../../../src/host.ts';

/** A line and the service at its end; times in milliseconds. */
interface Link {
  /** From the first byte of a file to its response, on an idle line. */
  latency: number;
  /** How long a connection takes to open; as long as a response unless given. */
  connecting?: number;
  /** Bytes per millisecond for all files together. */
  bandwidth?: number;
  /** Of this process, for each file. */
  work?: (file: number) => number;
  /** By how much times vary: 0.5 from half to one and a half. */
  noise?: number;
  /** The service refuses files beyond so many at a time, with 429, perhaps by how many it has stored. */
  most?: number | ((stored: number) => number);
  /** From the first byte of a file to its refusal; a millisecond unless given. */
  refusal?: number;
  /** The service works on so many at a time; others wait. */
  workers?: number;
  /** One in so many attempts fails, however many there are at a time. */
  oneIn?: number;
  /** How an attempt beyond `most`, or one in so many, ends. */
  failure?: 'refused' | 'broken';
}

interface Sent {
  files: number;
  size?: number;
}

/** A file that was begun, and when its response comes. */
interface Attempt {
  endsAt: number;
  isRefused: boolean;
  end: ReleaseSlot;
}

/** A clock whose time is told. */
function simulatedClock() {
  let [now, workEndsAt, worked] = [0, 0, 0];
  return {
    monotonic: () => now,
    idle: () => now - (worked - Math.max(0, workEndsAt - now)),
    /** Has the process work, after what it has to do already; returns when it has been done. */
    work(ms: number) {
      workEndsAt = Math.max(now, workEndsAt) + ms;
      worked += ms;
      return workEndsAt;
    },
    set(time: number) {
      now = time;
    },
  };
}

/** Numbers in [0, 1) that are the same in every run. */
function sameRandom(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** Sends files over a simulated link; a file that was refused is sent again after a pause, when it may. */
async function send(link: Link, {files, size = 3_000}: Sent, of: ConcurrencyOption) {
  const clock = simulatedClock();
  const random = sameRandom();
  const concurrency =
    typeof of === 'number' ? {limit: of, begin: () => () => {}} : new AdaptiveConcurrency(clock, of.most);
  const sending: Attempt[] = [];
  const again: number[] = [];
  const {failure = 'refused'} = link;
  let [left, stored, refused, open, most, lineIsFreeAt, connections, attempts] = [files, 0, 0, 0, 0, 0, 0, 0];
  const workersFreeAt: number[] = Array.from({length: link.workers ?? 0}, () => 0);
  const varied = (ms: number) => ms * (1 + (link.noise ?? 0) * (2 * random() - 1));
  const sent = (end: ReleaseSlot) => {
    const now = clock.monotonic();
    const accepted = sending.filter(({isRefused}) => !isRefused).length;
    attempts += 1;
    const taken = typeof link.most === 'function' ? link.most(stored) : (link.most ?? Infinity);
    const isRefused = accepted >= taken || attempts % (link.oneIn ?? Infinity) === 0;
    // A connection that is not there yet has to be opened.
    const connectMs = link.connecting ?? link.latency;
    const connecting = sending.length >= connections ? connectMs : 0;
    connections = Math.max(connections, sending.length + 1);
    lineIsFreeAt =
      Math.max(now, lineIsFreeAt) + (isRefused ? 0 : varied(size) / (link.bandwidth ?? Infinity));
    const readyAt = clock.work(varied(link.work?.(attempts) ?? 0));
    let endsAt = Math.max(readyAt, lineIsFreeAt) + connecting + varied(link.latency);
    if (workersFreeAt.length > 0) {
      const [earliest = 0] = workersFreeAt.toSorted((a, b) => a - b);
      endsAt = Math.max(now, earliest) + connecting + link.latency;
      workersFreeAt[workersFreeAt.indexOf(earliest)] = endsAt;
    }
    if (isRefused) endsAt = now + connecting + (link.refusal ?? 1);
    sending.push({endsAt, isRefused, end});
    most = Math.max(most, sending.length);
  };
  const begin = async () => sent(await concurrency.begin(size));
  while (stored < files) {
    for (; open < concurrency.limit && left > 0; open += 1, left -= 1) void begin();
    for (const at of again.filter(time => time <= clock.monotonic())) {
      again.splice(again.indexOf(at), 1);
      void begin();
    }
    // Those that may go have gone on by then.
    await nextTurn();
    sending.sort((one, other) => one.endsAt - other.endsAt);
    const next = sending[0];
    clock.set(Math.min(next?.endsAt ?? Number.POSITIVE_INFINITY, ...again));
    if (next === undefined || next.endsAt > clock.monotonic()) continue;
    sending.shift();
    if (next.isRefused) {
      refused += 1;
      again.push(clock.monotonic() + 500);
    } else {
      stored += 1;
      open -= 1;
    }
    next.end(next.isRefused ? failure : 'stored');
  }
  return {ms: clock.monotonic(), refused, most, last: concurrency.limit};
}

const auto = transferDefaults.concurrency;

/** The time of the best fixed number of files at a time. */
async function best(link: Link, sent: Sent): Promise<number> {
  const runs = await Promise.all([8, 16, 32, 64, 128].map(of => send(link, sent, of)));
  return Math.min(...runs.map(({ms}) => ms));
}

const adaptive = (most: number = auto.most) => new AdaptiveConcurrency(simulatedClock(), most);

describe('auto: as many files at a time as raise the throughput', () => {
  it.each([
    ['10 ms, no limit', {latency: 10}],
    ['150 ms, no limit', {latency: 150}],
    ['150 ms, more or less', {latency: 150, noise: 0.9}],
    ['50 ms, 10 Mbit/s', {latency: 50, bandwidth: 1_250}],
    ['50 ms, a process that is slow at first', {latency: 50, work: file => (file <= 12 ? 10 : 0.3)}],
    ['a service that works on 20 at a time for 200 ms', {latency: 200, workers: 20}],
  ] satisfies [string, Link][])('%s, 5,000 small files: 0.9 of the best fixed number', async (_, link) => {
    const {ms} = await send(link, {files: 5_000}, auto);
    expect((await best(link, {files: 5_000})) / ms).toBeGreaterThan(0.9);
  });

  it.each([
    [{latency: 150}, 300, 0.55],
    [{latency: 150, noise: 0.1}, 300, 0.55],
    [{latency: 150}, 1_000, 0.7],
    [{latency: 20}, 500, 0.6],
    [{latency: 5}, 500, 0.6],
    [{latency: 201, connecting: 1}, 300, 0.7],
    [{latency: 201, connecting: 1}, 1_000, 0.75],
  ] satisfies [Link, number, number][])(
    '%j, a run of %i files: %d of the best fixed number, twice as fast as 8 at a time',
    async (link, files, part) => {
      const {ms} = await send(link, {files}, auto);
      expect((await best(link, {files})) / ms).toBeGreaterThan(part);
      expect((await send(link, {files}, 8)).ms / ms).toBeGreaterThan(2);
    },
  );

  it.each([
    ['a line that is full with 8', {latency: 10, bandwidth: 100}, 20],
    ['a line that is full with 8, more or less', {latency: 10, bandwidth: 100, noise: 0.5}, 32],
    ['a process that is busy with each file', {latency: 0.2, work: () => 0.1, noise: 0.9}, 16],
    ['one that is slow at first', {latency: 0.2, work: file => (file <= 12 ? 3 : 0.3)}, 16],
  ] satisfies [string, Link, number][])('%s: not many more', async (_, link, most) => {
    const {last} = await send(link, {files: 2_000}, auto);
    expect(last).toBeLessThanOrEqual(most);
  });

  it.each([
    [3_000, 64],
    [100_000, 32],
  ])(
    'a line of 10 Mbit/s, 300 files of %i bytes: never more than %i at a time, for its queue',
    async (size, most) => {
      const link = {latency: 50, bandwidth: 1_250};
      expect((await send(link, {files: 300, size}, auto)).most).toBeLessThanOrEqual(most);
    },
  );

  it('a service that takes 4 at a time for a while: more again afterwards', async () => {
    const most = (stored: number) => (stored > 2_000 && stored < 3_000 ? 4 : 128);
    const {last, refused} = await send({latency: 50, most}, {files: 10_000}, auto);
    expect(last).toBeGreaterThan(8);
    expect(refused).toBeLessThanOrEqual(160);
  });

  it('large files: no more than 8 begin once 64 MiB are in progress', async () => {
    const {most} = await send({latency: 100}, {files: 100, size: 20 * 1024 * 1024}, auto);
    expect(most).toBe(8);
    const concurrency = adaptive();
    const begun: ReleaseSlot[] = [];
    for (let file = 0; file < 40; file += 1)
      void Promise.resolve(concurrency.begin(5 * 1024 * 1024)).then(end => begun.push(end));
    await nextTurn();
    expect(begun).toHaveLength(13);
    begun[0]?.('other');
    await nextTurn();
    expect(begun).toHaveLength(14);
  });

  it('a large file that ends: as many of those that wait begin as there is room for', async () => {
    const concurrency = adaptive();
    const begun: ReleaseSlot[] = [];
    for (const size of [64 * 1024 * 1024, ...Array(20).fill(1)])
      void Promise.resolve(concurrency.begin(size)).then(end => begun.push(end));
    await nextTurn();
    expect(begun).toHaveLength(8);
    begun[0]?.('other');
    await nextTurn();
    expect(begun).toHaveLength(17);
  });

  it.each([1, 5, 100])('auto:%i is never exceeded, from the first file on', async bound => {
    const {most} = await send({latency: 150}, {files: 2_000}, {most: bound});
    expect(most).toBeLessThanOrEqual(bound);
  });
});

describe('auto: failures that fewer at a time would prevent', () => {
  it.each<[number, Link]>([
    [300, {latency: 50}],
    [1_000, {latency: 50}],
    [300, {latency: 1, refusal: 1, work: () => 1, noise: 0.9}],
    [300, {latency: 201, connecting: 1, refusal: 1}],
    [300, {latency: 250, connecting: 50, refusal: 50}],
    [300, {latency: 350, connecting: 150, refusal: 150}],
    [300, {latency: 400, connecting: 1, refusal: 300}],
  ])('%i files, a service that takes 4 at a time, %j: at most one in 20 is refused', async (files, link) => {
    const {refused, ms} = await send({...link, most: 4}, {files}, auto);
    expect(refused / (files + refused)).toBeLessThanOrEqual(0.05);
    if (link.work === undefined)
      expect((await send({...link, most: 4}, {files}, 4)).ms / ms).toBeGreaterThan(0.85);
  });

  it.each<[number, 'refused' | 'broken']>([
    [100, 'refused'],
    [50, 'refused'],
    [50, 'broken'],
    [10, 'refused'],
    [10, 'broken'],
  ])(
    'one attempt in %i is %s, however many there are at a time: as fast as 8 at a time',
    async (oneIn, failure) => {
      const link = {latency: 50, oneIn, failure};
      const {ms} = await send(link, {files: 2_000}, auto);
      expect((await send(link, {files: 2_000}, 8)).ms / ms).toBeGreaterThan(0.9);
    },
  );

  it.each([10, 20, 30])('connections beyond %i break, 20,000 files: hardly any but at first', async most => {
    const link = {latency: 50, most, failure: 'broken'} as const;
    const {ms, refused} = await send(link, {files: 20_000}, auto);
    expect(refused).toBeLessThanOrEqual(80);
    expect((await send(link, {files: 20_000}, 8)).ms / ms).toBeGreaterThan(1.1);
  });

  it('failures without end: one at a time, never none', async () => {
    const concurrency = adaptive();
    for (let file = 0; file < 50; file += 1) {
      const ends = [await concurrency.begin(1)];
      if (concurrency.limit > 1) ends.push(await concurrency.begin(1));
      for (const end of ends) end('broken');
    }
    expect(concurrency.limit).toBe(1);
  });

  it('50 files that break alone, as in an outage: no fewer at a time afterwards', async () => {
    const concurrency = adaptive();
    for (let file = 0; file < 50; file += 1) (await concurrency.begin(1))('broken');
    expect(concurrency.limit).toBe(16);
  });

  it('64 in progress that break at once: one decrease, not one for each', async () => {
    const clock = simulatedClock();
    const concurrency = new AdaptiveConcurrency(clock, 64);
    for (let file = 0; file < 64; file += 1) {
      // Later ones come faster.
      clock.set(Math.sqrt(file));
      (await concurrency.begin(1))('stored');
    }
    expect(concurrency.limit).toBe(64);
    const ends: ReleaseSlot[] = [];
    while (ends.length < 64) ends.push(await concurrency.begin(1));
    for (const end of ends) end('broken');
    expect(concurrency.limit).toBe(32);
  });
});
