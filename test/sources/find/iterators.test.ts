import {describe, expect, test} from 'vitest';
import {Mapped, Resumed} from '../../../src/sources/find/iterators.ts';
import {collect} from '../../support/trees.ts';

/** 0, 1, 2, ... up to `end`, and whether whoever read them has closed them. */
function numbers(end: number) {
  const state = {isClosed: false};
  async function* count() {
    try {
      for (let number = 0; number < end; number += 1) yield number;
    } finally {
      state.isClosed = true;
    }
  }
  return {items: count(), state};
}

describe('an iterator that some has been taken of', () => {
  test('yields what was taken, then the rest', async () => {
    const {items} = numbers(4);
    const taken = [await items.next(), await items.next()];
    expect(await collect(new Resumed(taken, items))).toEqual([0, 1, 2, 3]);
  });

  test('ends where the end was taken', async () => {
    const {items} = numbers(1);
    const taken = [await items.next(), await items.next()];
    expect(await collect(new Resumed(taken, items))).toEqual([0]);
  });

  test('closes the rest when its reader stops early', async () => {
    const {items, state} = numbers(4);
    const taken = [await items.next()];
    for await (const item of new Resumed(taken, items)) {
      expect(item).toBe(0);
      break;
    }
    expect(state.isClosed).toBe(true);
  });
});

describe('an iterator whose items are made into others', () => {
  test('yields those, in their order', async () => {
    expect(await collect(new Mapped(numbers(3).items, number => `${number}.png`))).toEqual([
      '0.png',
      '1.png',
      '2.png',
    ]);
  });

  test('rejects with what making one throws, and with what the items reject with', async () => {
    const fail = () => {
      throw new Error('no item');
    };
    await expect(collect(new Mapped(numbers(3).items, fail))).rejects.toThrow('no item');
    async function* broken() {
      yield 1;
      throw new Error('no more');
    }
    await expect(collect(new Mapped(broken(), item => item))).rejects.toThrow('no more');
  });

  test('closes the items when its reader stops early', async () => {
    const {items, state} = numbers(3);
    for await (const _ of new Mapped(items, item => item)) break;
    expect(state.isClosed).toBe(true);
  });
});
