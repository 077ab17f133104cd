import {describe, expect, test} from 'vitest';
import {interruptible, resumeIterator} from '../../../../src/engine/sources/find/expand.ts';
import {MediaError} from '../../../../src/errors.ts';
import {Stop} from '../../../../src/lib/stop.ts';
import {collect} from '../../../support/trees.ts';

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
    expect(await collect(resumeIterator(taken, items))).toEqual([0, 1, 2, 3]);
  });

  test('ends where the end was taken', async () => {
    const {items} = numbers(1);
    const taken = [await items.next(), await items.next()];
    expect(await collect(resumeIterator(taken, items))).toEqual([0]);
  });

  test('closes the rest when its reader stops early', async () => {
    const {items, state} = numbers(4);
    const taken = [await items.next()];
    for await (const item of resumeIterator(taken, items)) {
      expect(item).toBe(0);
      break;
    }
    expect(state.isClosed).toBe(true);
  });
});

describe('an iterator of a run that is stopped', () => {
  test('by its deadline: yields the rest, which is reported', async () => {
    const stop = new Stop<MediaError>();
    const items = interruptible(numbers(4).items, stop);
    const first = items.next();
    stop.abort(new MediaError('deadline_exceeded', 'The deadline of this run has passed.'));
    expect(await collect(resumeIterator([await first], items))).toEqual([0, 1, 2, 3]);
  });

  test('by a signal that came before its first item is asked for: rejects with that', async () => {
    const stop = new Stop<MediaError>();
    stop.abort(new MediaError('interrupted', 'The run was stopped by SIGINT.'));
    await expect(interruptible(numbers(4).items, stop).next()).rejects.toThrow('SIGINT');
  });

  test('by a signal, while a disk hangs: rejects with that, and can be left', async () => {
    const stop = new Stop<MediaError>();
    async function* hanging(): AsyncGenerator<number> {
      yield await new Promise<number>(() => {});
    }
    const items = interruptible(hanging(), stop);
    const next = items.next();
    const reason = new MediaError('interrupted', 'The run was stopped by SIGINT.');
    stop.abort(reason);
    await expect(next).rejects.toBe(reason);
    expect(await items.return(undefined)).toMatchObject({done: true});
  });
});
