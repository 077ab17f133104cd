import {describe, expect, it} from 'vitest';
import {inShard, ownShare, parseShard, shardOf} from '../../../../src/engine/sources/find/shard.ts';
import type {Source} from '../../../../src/engine/sources/open/source.ts';
import {seededRandom} from '../../../support/seeded.ts';
import {collect} from '../../../support/trees.ts';

function source(relativePath: string, more: Partial<Source> = {}): Source {
  return {name: relativePath, relativePath, open: () => Promise.reject(), ...more};
}

describe('--shard', () => {
  it.each([
    ['1/1', 1, 1],
    ['3/16', 3, 16],
    ['16/16', 16, 16],
    ['007/010', 7, 10],
    ['1/999999999', 1, 999_999_999],
  ])('%s', (value, index, count) => {
    expect(parseShard(value)).toEqual({index, count});
  });

  it.each([
    '',
    '/',
    '1',
    '1/',
    '/2',
    '0/2',
    '3/2',
    '0/0',
    '1/0',
    '-1/2',
    '1/-2',
    '1.5/2',
    '1/2/3',
    ' 1/2',
    '1/2\n',
    '1/1e3',
    'one/two',
    '1/99999999999999999999',
  ])('%j is a usage error', value => {
    expect(() => parseShard(value)).toThrow(expect.objectContaining({code: 'usage'}));
  });
});

describe('the shard of a path', () => {
  // These values are a promise: another answer would send files twice and lose others. Reckoned with sha256sum and Python.
  it.each([
    ['', 16, 5],
    ['a.png', 16, 9],
    ['photos/2024/cat.jpg', 7, 3],
  ])('%j of %d never changes', (path, count, shard) => {
    expect(shardOf(Buffer.from(path), count)).toBe(shard);
  });

  it('goes by bytes, not by text', () => {
    const shards = Array.from({length: 64}, (_, byte) => shardOf(Buffer.from([0xc0 + byte]), 1000));
    expect(new Set(shards).size).toBeGreaterThan(50);
  });

  it('is one of its shards, for random paths and counts', () => {
    const random = seededRandom(1);
    for (let round = 0; round < 30; round += 1) {
      const count = 1 + Math.floor(random() * 50);
      const paths = new Set(
        Array.from({length: Math.floor(random() * 200)}, () => String(random()).slice(2)),
      );
      const sources = [...paths].map(path => source(path));
      const shares = Array.from({length: count}, (_, index) =>
        sources.filter(one => inShard(one, {index: index + 1, count})),
      );
      const all = shares.flat();
      expect([all.length, new Set(all).size]).toEqual([sources.length, sources.length]);
    }
  });

  it.each([2, 3, 16, 100])('balances 10,000 paths over %d', count => {
    const sizes = new Array<number>(count).fill(0);
    for (let file = 0; file < 10_000; file += 1) {
      const shard = shardOf(Buffer.from(`photos/2024/IMG_${String(file).padStart(5, '0')}.jpg`), count);
      sizes[shard - 1] = (sizes[shard - 1] ?? 0) + 1;
    }
    const even = 10_000 / count;
    // Five standard deviations of a fair division.
    const room = 5 * Math.sqrt(even * (1 - 1 / count));
    for (const size of sizes) expect(Math.abs(size - even)).toBeLessThan(room);
  });

  it('does not depend on what else there is, nor on its order', () => {
    const sources = Array.from({length: 100}, (_, index) => source(`f${index}`));
    const shard = {index: 2, count: 5};
    const share = sources.filter(one => inShard(one, shard));
    expect(sources.toReversed().filter(one => inShard(one, shard))).toEqual(share.toReversed());
    expect(share.filter(one => inShard(one, shard))).toEqual(share);
  });
});

describe('a source is in the shard', () => {
  it('of its relative path, wherever its root is', () => {
    const here = source('x/a.png', {name: '/here/x/a.png'});
    const there = source('x/a.png', {name: '../x/a.png'});
    for (let index = 1; index <= 8; index += 1) {
      expect(inShard(here, {index, count: 8})).toBe(inShard(there, {index, count: 8}));
    }
  });

  it('of its bytes where those are not UTF-8', () => {
    const bytes = Buffer.from('caf\xe9.png', 'latin1');
    const one = source('caf\ufffd.png', {relativePath: bytes});
    expect(inShard(one, {index: shardOf(bytes, 1000), count: 1000})).toBe(true);
    expect(inShard(one, {index: shardOf(Buffer.from('caf\ufffd.png'), 1000), count: 1000})).toBe(false);
  });

  it('of any number where nobody knows what it stands for', () => {
    const one = source('closed', {everyShard: true});
    expect([1, 2, 3].filter(index => inShard(one, {index, count: 3}))).toEqual([1, 2, 3]);
  });

  it('of its name where it has no path', () => {
    const {relativePath: _, ...nameless} = source('-');
    expect(inShard(nameless, {index: shardOf(Buffer.from('-'), 9), count: 9})).toBe(true);
  });
});

describe('the own share of sources', () => {
  async function* hundred() {
    for (let index = 0; index < 100; index += 1) yield source(`f${index}`);
  }

  it('keeps their order, and leaves the rest out', async () => {
    const names = (await collect(ownShare(hundred(), {index: 1, count: 4}))).map(({name}) =>
      Number(name.slice(1)),
    );
    expect(names.length).toBeGreaterThan(10);
    expect(names.length).toBeLessThan(50);
    expect(names).toEqual(names.toSorted((one, other) => one - other));
  });

  it('may be nothing', async () => {
    expect(await collect(ownShare(collectable([]), {index: 1, count: 4}))).toEqual([]);
  });

  async function* collectable(sources: Source[]) {
    yield* sources;
  }
});
