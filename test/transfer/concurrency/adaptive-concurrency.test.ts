import {describe, expect, it} from 'vitest';
import {nextTurn} from '../../../src/host.ts';
import type {Concurrency, Turn} from '../../../src/transfer/concurrency/concurrency.ts';
import {concurrencyOf} from '../../../src/transfer/concurrency/concurrency-option.ts';

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
  /** The service refuses files beyond so many at a time, with 429. */
  most?: number;
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
  turn: Turn;
}

/** A clock whose time is told, and its timers. */
function simulatedClock() {
  const timers: {at: number; action: () => void}[] = [];
  let [now, worked, workEndsAt] = [0, 0, 0];
  return {
    monotonic: () => now,
    idle: () => now - worked + Math.max(0, workEndsAt - now),
    /** Has the process work, after what it has to do already; returns when it has been done. */
    work(ms: number) {
      worked += ms;
      workEndsAt = Math.max(now, workEndsAt) + ms;
      return workEndsAt;
    },
    after(ms: number, action: () => void) {
      const timer = {at: now + ms, action};
      timers.push(timer);
      return () => {
        if (timers.includes(timer)) timers.splice(timers.indexOf(timer), 1);
      };
    },
    next: () => Math.min(...timers.map(({at}) => at)),
    set(time: number) {
      now = time;
      for (const timer of timers.filter(({at}) => at <= now)) {
        timers.splice(timers.indexOf(timer), 1);
        timer.action();
      }
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
async function send(link: Link, {files, size = 3_000}: Sent, of: number | {most: number}) {
  const clock = simulatedClock();
  const random = sameRandom();
  const concurrency: Concurrency = concurrencyOf(of, clock, 5);
  const sending: Attempt[] = [];
  const again: number[] = [];
  const {failure = 'refused'} = link;
  let [left, stored, refused, open, most, lineIsFreeAt, connections, attempts] = [files, 0, 0, 0, 0, 0, 0, 0];
  const workersFreeAt: number[] = Array.from({length: link.workers ?? 0}, () => 0);
  const varied = (ms: number) => ms * (1 + (link.noise ?? 0) * (2 * random() - 1));
  const sent = (turn: Turn) => {
    const now = clock.monotonic();
    const accepted = sending.filter(({isRefused}) => !isRefused).length;
    attempts += 1;
    const isRefused =
      accepted >= (link.most ?? Number.POSITIVE_INFINITY) || attempts % (link.oneIn ?? Infinity) === 0;
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
    sending.push({endsAt, isRefused, turn});
    clock.after(connecting, () => turn.sent(connectMs));
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
    clock.set(Math.min(next?.endsAt ?? Number.POSITIVE_INFINITY, clock.next(), ...again));
    if (next === undefined || next.endsAt > clock.monotonic()) continue;
    sending.shift();
    if (next.isRefused) {
      refused += 1;
      again.push(clock.monotonic() + 500);
    } else {
      stored += 1;
      open -= 1;
    }
    next.turn.end(next.isRefused ? failure : 'stored');
  }
  return {ms: clock.monotonic(), refused, most, last: concurrency.limit};
}

const auto = {most: 128};

/** The time of the best fixed number of files at a time. */
async function best(link: Link, sent: Sent): Promise<number> {
  const runs = await Promise.all([8, 16, 32, 64, 128].map(of => send(link, sent, of)));
  return Math.min(...runs.map(({ms}) => ms));
}

describe('auto: as many files at a time as raise the throughput', () => {
  it.each([
    ['10 ms, no limit', {latency: 10}],
    ['150 ms, no limit', {latency: 150}],
    ['150 ms, more or less', {latency: 150, noise: 0.9}],
    ['50 ms, 10 Mbit/s', {latency: 50, bandwidth: 1_250}],
    ['a service that works on 20 at a time for 200 ms', {latency: 200, workers: 20}],
  ] satisfies [string, Link][])('%s, 5,000 small files: 0.9 of the best fixed number', async (_, link) => {
    const {ms} = await send(link, {files: 5_000}, auto);
    expect((await best(link, {files: 5_000})) / ms).toBeGreaterThan(0.9);
  });

  it.each([
    [300, 0.55],
    [1_000, 0.7],
  ])('150 ms, %i files: %d of the best fixed number, twice as fast as 8 at a time', async (files, part) => {
    const link = {latency: 150};
    const {ms} = await send(link, {files}, auto);
    expect((await best(link, {files})) / ms).toBeGreaterThan(part);
    expect((await send(link, {files}, 8)).ms / ms).toBeGreaterThan(2);
  });

  it.each([
    ['0.1 ms of each file', {latency: 0.2, work: () => 0.1, noise: 0.9}],
    ['0.6 ms of the first ones, then 0.1', {latency: 1, work: file => (file < 500 ? 0.6 : 0.1), noise: 0.9}],
    ['0.1 ms, now and then 30', {latency: 1, work: file => (file % 500 === 0 ? 30 : 0.1), noise: 0.9}],
  ] satisfies [string, Link][])(
    'a process that is busy for %s: 32, or as many as allowed',
    async (_, link) => {
      expect((await send(link, {files: 5_000}, auto)).most).toBe(32);
      expect((await send(link, {files: 5_000}, {most: 20})).most).toBe(20);
    },
  );

  it.each([1, 50])(
    'a busy process, and a service that refuses all but 4 after %i ms: at most 5 %% are refused',
    async latency => {
      const link: Link = {latency, most: 4, refusal: latency, work: () => 1, noise: 0.9};
      const {refused} = await send(link, {files: 300}, auto);
      expect(refused / (300 + refused)).toBeLessThanOrEqual(0.05);
    },
  );

  it('a process that has more to do from the 5,000th file on: fewer again', async () => {
    const link: Link = {latency: 20, work: file => (file < 5_000 ? 0.05 : 2), noise: 0.5};
    const {most, last} = await send(link, {files: 10_000}, auto);
    expect(most).toBe(128);
    expect(last).toBeLessThanOrEqual(32);
  });

  it('a line that is full with 8: not many more', async () => {
    const {last} = await send({latency: 10, bandwidth: 100}, {files: 2_000}, auto);
    expect(last).toBeLessThanOrEqual(20);
  });

  it.each([300, 1_000])(
    'a service that takes 4 at a time and refuses the rest of %i files: at most 5 % are refused',
    async files => {
      const link = {latency: 50, most: 4};
      const {refused, ms} = await send(link, {files}, auto);
      expect(refused / (files + refused)).toBeLessThanOrEqual(0.05);
      expect((await send(link, {files}, 4)).ms / ms).toBeGreaterThan(0.85);
    },
  );

  it.each([
    [300, 0.9],
    // Its last 40 take a round of their own.
    [1_000, 0.85],
  ])(
    'a near service that answers %i files after 200 ms: %d of the best fixed number',
    async (files, part) => {
      const link = {latency: 201, connecting: 1};
      const {ms} = await send(link, {files}, auto);
      expect((await best(link, {files})) / ms).toBeGreaterThan(part);
    },
  );

  it.each([1, 50, 150])(
    'a service that refuses all but 4 after a round trip of %i ms, and answers those 200 ms later: at most 5 % are refused',
    async refusal => {
      const link = {latency: 200 + refusal, connecting: refusal, most: 4, refusal};
      const {refused} = await send(link, {files: 300}, auto);
      expect(refused / (300 + refused)).toBeLessThanOrEqual(0.05);
    },
  );

  it('a near service that refuses all but 4, late: 60 are refused at once, then 1 in 20', async () => {
    const link = {latency: 400, connecting: 1, most: 4, refusal: 300};
    const {refused, most} = await send(link, {files: 1_000}, auto);
    expect(most).toBe(64);
    expect(refused).toBeLessThanOrEqual(60 + 50);
  });

  it('files whose bytes leave at once: 16, until a refusal of them would have come; then 96 beyond those stored', async () => {
    const clock = simulatedClock();
    const concurrency = concurrencyOf(auto, clock, 5);
    const turns: Turn[] = [];
    for (let file = 0; file < 16; file += 1) turns.push(await concurrency.begin(100_000));
    for (const turn of turns) for (let chunk = 0; chunk < 4; chunk += 1) turn.sent(10);
    clock.set(49);
    expect(concurrency.limit).toBe(16);
    clock.set(50);
    expect(concurrency.limit).toBe(64);
    for (const turn of turns.slice(0, 8)) turn.end('stored');
    expect(concurrency.limit).toBe(8 + 96);
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

  it('large files whose key may be refused: 8 with 16 MiB in progress, until one is stored', async () => {
    const concurrency = concurrencyOf(auto, simulatedClock(), 5);
    const begun: Turn[] = [];
    for (let file = 0; file < 40; file += 1)
      void Promise.resolve(concurrency.begin(5 * 1024 * 1024)).then(turn => begun.push(turn));
    await nextTurn();
    expect(begun).toHaveLength(8);
    begun[0]?.end('other');
    await nextTurn();
    expect(begun).toHaveLength(9);
    begun[1]?.end('stored');
    await nextTurn();
    expect(begun).toHaveLength(18);
  });

  it('large files: no more than 16 once 64 MiB are in progress', async () => {
    const {most} = await send({latency: 100}, {files: 100, size: 20 * 1024 * 1024}, auto);
    expect(most).toBeLessThanOrEqual(16);
  });

  it.each([1, 5, 100])('auto:%i is never exceeded, from the first file on', async bound => {
    const {most} = await send({latency: 150}, {files: 2_000}, {most: bound});
    expect(most).toBeLessThanOrEqual(bound);
  });

  it('without retries: never more than 8, of which none is refused for being one too many', async () => {
    const concurrency = concurrencyOf(auto, simulatedClock(), 0);
    for (let file = 0; file < 100; file += 1) (await concurrency.begin(1)).end('stored');
    expect([concurrency.most, concurrency.limit]).toEqual([8, 8]);
    expect(concurrencyOf({most: 3}, simulatedClock(), 0).most).toBe(3);
  });

  it('setbacks without end: one at a time, never none', async () => {
    const concurrency = concurrencyOf(auto, simulatedClock(), 5);
    for (let file = 0; file < 50; file += 1) {
      const turns = [await concurrency.begin(1)];
      if (concurrency.limit > 1) turns.push(await concurrency.begin(1));
      for (const turn of turns) turn.end('broken');
    }
    expect(concurrency.limit).toBe(1);
  });

  it('50 files that break alone, as in an outage: no fewer at a time afterwards', async () => {
    const concurrency = concurrencyOf(auto, simulatedClock(), 5);
    for (let file = 0; file < 50; file += 1) (await concurrency.begin(1)).end('broken');
    expect(concurrency.limit).toBe(16);
  });

  it('64 in progress that break at once: half as many from then on, not one', async () => {
    const concurrency = concurrencyOf({most: 64}, simulatedClock(), 5);
    for (let file = 0; file < 64; file += 1) (await concurrency.begin(1)).end('stored');
    const turns: Turn[] = [];
    for (const {limit} = concurrency; turns.length < limit; ) turns.push(await concurrency.begin(1));
    for (const turn of turns) turn.end('broken');
    expect(concurrency.limit).toBe(turns.length / 2);
  });
});
