import {describe, expect, it} from 'vitest';
import {Descriptors, mapConcurrently, type PendingResult} from '../../../src/engine/transfer/workers.ts';
import {nextTurn} from '../../../src/host.ts';
import {seededRandom} from '../../support/seeded.ts';
import {collect} from '../../support/trees.ts';

/** A result that is there when its work ends. */
function now<T>(value: T): PendingResult<T> {
  return {result: Promise.resolve(value)};
}

/** A piece of work that the test ends by hand. */
function byHand() {
  const ends = new Map<number, () => void>();
  let most = 0;
  const work = async (item: number) => {
    await new Promise<void>(resolve => {
      ends.set(item, resolve);
      most = Math.max(most, ends.size);
    });
    ends.delete(item);
    return now(item);
  };
  return {work, ends, most: () => most};
}

async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1000 && !condition(); turn++) await new Promise(resolve => setImmediate(resolve));
  expect(condition()).toBe(true);
}

describe('mapConcurrently', () => {
  it('of nothing yields nothing', async () => {
    expect(await collect(mapConcurrently([], {limit: 3}, async item => now(item)))).toEqual([]);
  });

  it('yields every result once, whatever the order of their ends', async () => {
    const items = Array.from({length: 500}, (_, index) => index);
    const work = async (item: number) => {
      for (let turn = 0; turn < (item * 7) % 5; turn++) await Promise.resolve();
      return now(item);
    };
    const results = await collect(mapConcurrently(items, {limit: 8}, work));
    expect(results.toSorted((a, b) => a - b)).toEqual(items);
  });

  it('never works on more than the concurrency, and takes no item before it can work on it', async () => {
    const hand = byHand();
    let taken = 0;
    function* items() {
      for (taken = 1; taken <= 20; taken++) yield taken;
    }
    const results: number[] = [];
    const done = (async () => {
      for await (const result of mapConcurrently(items(), {limit: 4}, hand.work)) results.push(result);
    })();
    for (let ended = 0; ended < 20; ended++) {
      await until(() => hand.ends.size === Math.min(4, 20 - ended));
      expect(taken).toBeLessThanOrEqual(ended + 4 + 1);
      const [first] = hand.ends.values();
      first?.();
    }
    await done;
    expect(hand.most()).toBe(4);
    expect(results).toHaveLength(20);
  });

  it.each([1, 2, 3])(
    'a limit that rises and falls, slow results, a slow reader, seed %i: every result once',
    async seed => {
      const random = seededRandom(seed);
      const turns = async () => {
        for (let left = Math.floor(8 * random() ** 2); left > 0; left -= 1) await nextTurn();
      };
      const concurrency = {most: 32, limit: 8, onRise: () => {}};
      const items = Array.from({length: 1_000}, (_, index) => index);
      const work = async (item: number) => {
        await turns();
        const before = concurrency.limit;
        concurrency.limit = random() < 0.2 ? 1 + Math.floor(32 * random()) : before;
        if (concurrency.limit > before) concurrency.onRise();
        return {result: turns().then(() => item)};
      };
      const results: number[] = [];
      for await (const result of mapConcurrently(items, concurrency, work)) {
        results.push(result);
        if (random() < 0.1) await turns();
      }
      expect(results.toSorted((a, b) => a - b)).toEqual(items);
    },
  );

  it('yields what is finished while it waits for the next item', async () => {
    let release = () => {};
    async function* slow() {
      yield 1;
      await new Promise<void>(resolve => {
        release = resolve;
      });
      yield 2;
    }
    const results = mapConcurrently(slow(), {limit: 2}, async item => now(item));
    expect((await results.next()).value).toBe(1);
    release();
    expect((await results.next()).value).toBe(2);
    expect((await results.next()).done).toBe(true);
  });

  it('a reader that stops early: waits for what runs, takes no more, closes the stream of items', async () => {
    let closed = false;
    let finished = 0;
    async function* items() {
      try {
        for (let item = 0; ; item++) yield item;
      } finally {
        closed = true;
      }
    }
    for await (const _ of mapConcurrently(items(), {limit: 3}, async item => {
      await Promise.resolve();
      finished += 1;
      return now(item);
    })) {
      break;
    }
    expect(closed).toBe(true);
    expect(finished).toBeLessThan(10);
  });

  it('work that rejects: the others are waited for, then it rejects with that', async () => {
    const finished: number[] = [];
    const work = async (item: number) => {
      if (item === 1) throw new Error('one');
      await Promise.resolve();
      finished.push(item);
      return now(item);
    };
    await expect(collect(mapConcurrently([0, 1, 2, 3, 4, 5, 6], {limit: 3}, work))).rejects.toThrow('one');
    expect(finished).toContain(0);
    expect(finished).not.toContain(6);
  });

  it('a result that is on its way takes up no worker, and no more of them wait than there are workers', async () => {
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const work = async (item: number) => {
      begun.push(item);
      return {result: new Promise<number>(resolve => ends.push(() => resolve(item)))};
    };
    const results = collect(mapConcurrently([1, 2, 3, 4, 5, 6], {limit: 2}, work));
    // The first is awaited by the reader, two wait behind it, and one more was begun before there were two.
    await until(() => begun.length === 4);
    await new Promise(resolve => setImmediate(resolve));
    expect(begun).toEqual([1, 2, 3, 4]);
    for (let ended = 0; ended < 6; ended += 1) {
      await until(() => ends.length > ended);
      ends[ended]?.();
    }
    expect(await results).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('a result that fails on its way: what runs is waited for, then it rejects with that', async () => {
    const finished: number[] = [];
    const work = async (item: number) => ({
      result: (async () => {
        for (let turn = 0; turn < item; turn++) await new Promise(resolve => setImmediate(resolve));
        if (item === 1) throw new Error('one');
        finished.push(item);
        return item;
      })(),
    });
    await expect(collect(mapConcurrently([0, 1, 2, 3], {limit: 3}, work))).rejects.toThrow('one');
    expect(finished).toEqual(expect.arrayContaining([0, 2]));
  });

  it('a reader that stops early waits for results on their way', async () => {
    let isFinished = false;
    const work = async (item: number) => ({
      result: (async () => {
        for (let turn = 0; turn < item * 3; turn++) await new Promise(resolve => setImmediate(resolve));
        isFinished ||= item === 1;
        return item;
      })(),
    });
    for await (const _ of mapConcurrently([0, 1], {limit: 2}, work)) break;
    expect(isFinished).toBe(true);
  });

  it('a stream of items that rejects: rejects with that', async () => {
    async function* items() {
      yield 1;
      throw new Error('no more');
    }
    await expect(collect(mapConcurrently(items(), {limit: 3}, async item => now(item)))).rejects.toThrow(
      'no more',
    );
  });
});

describe('descriptors', () => {
  it('a file that gets none begins again when another has ended, and fewer are in progress from then on', async () => {
    const descriptors = new Descriptors();
    const hand = byHand();
    const ended: string[] = [];
    const others = [1, 2, 3].map(item => descriptors.use(() => hand.work(item)));
    await until(() => hand.ends.size === 3);
    let tries = 0;
    const yielding = descriptors.use(async () => {
      tries += 1;
      if (tries === 1) return descriptors.yieldDescriptor() ? undefined : 'alone';
      ended.push('yielded');
      return 'done';
    });
    await nextTurn();
    // Three are in progress, as many as there is room for.
    const later = descriptors.use(async () => ended.push('later'));
    await nextTurn();
    expect([tries, ended]).toEqual([1, []]);
    hand.ends.get(1)?.();
    await until(() => ended.length === 2);
    expect(ended).toEqual(['yielded', 'later']);
    for (const item of [2, 3]) hand.ends.get(item)?.();
    await Promise.all([...others, yielding, later]);
    // Each that has ended has made a little more room.
    const more = [4, 5, 6, 7].map(item => descriptors.use(() => hand.work(item)));
    await until(() => hand.ends.size === 4);
    for (const end of hand.ends.values()) end();
    await Promise.all(more);
  });

  it('a file whose company has ended since it began yields: it begins again on its own', async () => {
    const descriptors = new Descriptors();
    const hand = byHand();
    const company = descriptors.use(() => hand.work(1));
    await until(() => hand.ends.size === 1);
    let tries = 0;
    const last = descriptors.use(async () => {
      tries += 1;
      if (tries > 1) return 'done';
      hand.ends.get(1)?.();
      await company;
      return descriptors.yieldDescriptor() ? undefined : 'alone';
    });
    expect([await last, tries]).toEqual(['done', 2]);
  });

  it('a file on its own yields none, since no other would make room', async () => {
    const descriptors = new Descriptors();
    expect(await descriptors.use(async () => descriptors.yieldDescriptor())).toBe(false);
  });
});
