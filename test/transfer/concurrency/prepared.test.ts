import {describe, expect, it} from 'vitest';
import type {Turn} from '../../../src/transfer/concurrency/concurrency.ts';
import {concurrencyOf} from '../../../src/transfer/concurrency/concurrency-option.ts';
import {ManualClock} from '../../support/manual-clock.ts';

/** Begins 16 files of `size` bytes, which are sent over connections that took these times to open. */
async function sixteenSent(of: number | {most: number}, connectMs: number[], size = 3_000) {
  const concurrency = concurrencyOf(of, new ManualClock(), 5);
  const asked: number[] = [];
  concurrency.onPrepared = files => asked.push(files);
  const turns: Turn[] = [];
  for (let index = 0; index < 16; index += 1) turns.push(await concurrency.begin(size));
  for (const ms of connectMs) turns.shift()?.sent(ms);
  return {concurrency, asked};
}

describe('the files that are opened before they may be sent', () => {
  it.each<[string, number | {most: number}, number[], number, number]>([
    ['nothing sent yet', {most: 128}, [], 3_000, 16],
    ['connections opened in 20 ms', {most: 128}, [20], 3_000, 64],
    ['connections opened in 19 ms', {most: 128}, [19], 3_000, 16],
    ['one opened in 150 ms, another in 2 ms', {most: 128}, [150, 2], 3_000, 16],
    ['auto:40', {most: 40}, [150], 3_000, 40],
    ['-c 16', 16, [150], 3_000, 16],
    ['64 files would be more than is sent unanswered', {most: 128}, [150], 1_000_000, 16],
  ])('%s', async (_, of, connectMs, size, prepared) => {
    const {concurrency} = await sixteenSent(of, connectMs, size);
    expect(concurrency.prepared).toBe(prepared);
  });

  it('three files that wait: as many connections as files, whatever the limit may become', async () => {
    const {concurrency, asked} = await sixteenSent({most: 128}, [150]);
    for (let index = 0; index < 3; index += 1) void concurrency.begin(3_000);
    expect(asked).toEqual([17, 18, 19]);
  });
});
