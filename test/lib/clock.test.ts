import {afterEach, beforeEach, expect, it, vi} from 'vitest';
import {systemClock} from '../../src/host.ts';

const dayMs = 24 * 3_600_000;

beforeEach(() => {
  vi.useFakeTimers({toFake: ['setTimeout', 'clearTimeout']});
});
afterEach(() => {
  vi.useRealTimers();
});

it('timers of 60 days, longer than those of Node.js: neither early nor late', async () => {
  const ended: string[] = [];
  const stop = new AbortController();
  systemClock.after(60 * dayMs, () => ended.push('after'));
  const cancel = systemClock.after(60 * dayMs, () => ended.push('cancelled'));
  void systemClock.sleep(60 * dayMs).then(() => ended.push('sleep'));
  const stopped = systemClock.sleep(Number.POSITIVE_INFINITY, stop.signal);
  await vi.advanceTimersByTimeAsync(60 * dayMs - 1);
  expect(ended).toEqual([]);
  cancel();
  stop.abort('stopped');
  await expect(stopped).rejects.toBe('stopped');
  await vi.advanceTimersByTimeAsync(1);
  expect(ended).toEqual(['after', 'sleep']);
  expect(vi.getTimerCount()).toBe(0);
});
