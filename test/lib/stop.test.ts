import {expect, test} from 'vitest';
import {itemsUnlessStopped, Stop, unlessStopped} from '../../src/lib/stop.ts';

const never = new Promise<never>(() => {});

test('unlessStopped: the result of the call, or what it rejects with', async () => {
  const stop = new Stop<Error>();
  expect(await unlessStopped(Promise.resolve(1), stop)).toBe(1);
  await expect(unlessStopped(Promise.reject(new Error('a disk')), stop)).rejects.toThrow('a disk');
});

test.each(['before', 'after'])(
  'unlessStopped of what never responds, stopped %s it is called: rejects with the reason',
  async when => {
    const stop = new Stop<Error>();
    if (when === 'before') stop.abort(new Error('enough'));
    const waiting = unlessStopped(never, stop);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  },
);

test('itemsUnlessStopped, stopped between two items: closes what it reads, and takes no item that would be lost', async () => {
  const stop = new Stop<Error>();
  const seen: string[] = [];
  function* items() {
    try {
      for (let item = 0; ; item += 1) {
        seen.push(`${item}`);
        yield item;
      }
    } finally {
      seen.push('closed');
    }
  }
  const taken = itemsUnlessStopped(items(), stop);
  expect(await taken.next()).toEqual({done: false, value: 0});
  stop.abort(new Error('enough'));
  await expect(taken.next()).rejects.toThrow('enough');
  expect(seen).toEqual(['0', 'closed']);
});
