import {describe, expect, it} from 'vitest';
import {Outage} from '../../../src/engine/transfer/outage.ts';
import {MediaError} from '../../../src/errors.ts';
import {Stop} from '../../../src/lib/stop.ts';
import {hintOf} from '../../support/hints.ts';
import {ManualClock, settled} from '../../support/manual-clock.ts';

const away = 'It returned 502.';
const failure = {kind: 'refused', status: 502} as const;

/** Eight workers, a service that answers probes as told, and a log of who was let through. */
function batch({concurrency = 8, retryMaxWaitMs = 60_000, several = true, canAsk = true} = {}) {
  const clock = new ManualClock();
  const log: string[] = [];
  const state = {probe: away as string | undefined, probes: 0, ends: [] as MediaError[], pausedUntil: 0};
  const probeAvailability = async () => {
    state.probes += 1;
    return state.probe;
  };
  const abort = new Stop<MediaError>();
  const outage = new Outage({
    ...{clock, retryMaxWaitMs, random: () => 0.5, host: 'media.example', several, abort},
    concurrency: {limit: concurrency},
    uploader: canAsk ? {probeAvailability} : {},
    observer: {unavailable: since => log.push(since === undefined ? 'back' : `away since ${since}`)},
    pause: async signal => {
      const waitMs = state.pausedUntil - clock.monotonic();
      if (waitMs > 0) await clock.sleep(waitMs, signal as AbortSignal);
    },
  });
  abort.addEventListener('abort', () => {
    state.ends.push(abort.reason as MediaError);
    outage.abandon();
  });
  const send = async (...files: number[]) => {
    for (const file of files) {
      outage.begin(file);
      void outage
        .pass(file)
        .then(end => log.push(end === undefined ? `sent ${file}` : `${file}: ${end.message}`));
    }
    await settled();
  };
  /** The lines of the log since the last look. */
  const news = async () => {
    await settled();
    return log.splice(0);
  };
  return {clock, outage, state, send, news};
}

describe('an outage', () => {
  it('three files that end like this one after the other: the others wait, and probes are made', async () => {
    const {clock, outage, state, send, news} = batch();
    await send(0, 1, 2, 3, 4, 5, 6, 7);
    expect(await news()).toHaveLength(8);
    expect(outage.report(0, 'away', failure)).toBe(false);
    // The first sign counts, not when it was certain.
    await clock.advance(1_000);
    expect([1, 2].map(file => outage.report(file, 'away', failure))).toEqual([false, true]);
    for (const file of [0, 1, 2]) outage.finish(file);
    await send(8, 9, 10);
    expect(await news()).toEqual(['away since 0']);
    await clock.advance(30_000);
    expect(await news()).toEqual([]);
    expect(state.probes).toBeGreaterThan(3);
    state.probe = undefined;
    await clock.advance(20_000);
    expect(await news()).toEqual(['sent 8']);
    outage.report(8, 'stored');
    expect(await news()).toEqual(['back', 'sent 9', 'sent 10']);
  });

  it.each([
    ['plainly refused: the others follow', 'refused', ['back', 'sent 9']],
    ['of a connection that broke: another goes alone', 'neither', ['sent 9']],
    ['away again: another goes alone', 'away', ['sent 9']],
  ] as const)('the file that goes alone is %s', async (_what, sign, expected) => {
    const {clock, outage, state, send, news} = batch();
    await send(0, 1, 2);
    for (const file of [0, 1, 2]) outage.report(file, 'away', failure);
    await send(8, 9);
    state.probe = undefined;
    await clock.advance(1_500);
    expect((await news()).slice(-1)).toEqual(['sent 8']);
    expect(outage.report(8, sign, failure)).toBe(false);
    await clock.advance(1_500);
    expect(await news()).toEqual(expected);
  });

  it('two files that fail so, with more than the longest wait between them: none, and no end', async () => {
    const {clock, outage, state, send, news} = batch();
    await send(0, 1, 2, 3);
    for (const file of [0, 1]) {
      expect(outage.report(file, 'away', failure)).toBe(false);
      await clock.advance(70_000);
    }
    await send(4);
    expect([await news(), state.ends]).toEqual([[0, 1, 2, 3, 4].map(file => `sent ${file}`), []]);
  });

  it('a success in between: none', async () => {
    const {outage, send, news} = batch();
    await send(0, 1, 2, 3, 4, 5, 6);
    await news();
    for (const file of [0, 1]) outage.report(file, 'away', failure);
    outage.report(2, 'stored');
    for (const file of [3, 4]) outage.report(file, 'away', failure);
    await send(8);
    expect(await news()).toEqual(['sent 8']);
  });

  it('one file that ends so again and again: none, and its tries are its own', async () => {
    const {outage, send, news} = batch();
    await send(0, 1, 2);
    for (const _ of [1, 2, 3, 4]) expect(outage.report(0, 'away', failure)).toBe(false);
    await send(8);
    expect(await news()).toEqual(['sent 0', 'sent 1', 'sent 2', 'sent 8']);
  });

  it('fewer files under way than three: as many are enough', async () => {
    const {outage, send, news} = batch({concurrency: 1});
    await send(0);
    expect(outage.report(0, 'away', failure)).toBe(true);
    outage.finish(0);
    await send(1);
    expect(await news()).toEqual(['sent 0', 'away since 0']);
  });

  it.each([
    ['a run of a single file', {several: false}],
    ['a service that cannot be asked', {canAsk: false}],
  ])('%s: none', async (_what, options) => {
    const {outage, send, news} = batch(options);
    await send(0);
    expect(outage.report(0, 'away', failure)).toBe(false);
    await send(0);
    expect(await news()).toEqual(['sent 0', 'sent 0']);
  });

  it('before it is certain, no more are sent than may become unknown: at most as many as workers', async () => {
    const {outage, send, news} = batch({concurrency: 4});
    await send(0, 1, 2, 3);
    await news();
    outage.report(0, 'away', failure);
    outage.finish(0);
    await send(4);
    expect(await news()).toEqual([]);
    outage.report(1, 'stored');
    expect(await news()).toEqual(['sent 4']);
  });

  it('a file that ends without its attempt, after another has failed: the next takes its place', async () => {
    const {outage, send, news} = batch({concurrency: 3});
    await send(0, 1, 2);
    outage.report(0, 'away', failure);
    for (const file of [0, 1]) outage.finish(file);
    await send(3);
    expect((await news()).at(-1)).toBe('sent 3');
  });

  it('longer than allowed: all who wait are told why, and so is the batch', async () => {
    const {clock, outage, state, send, news} = batch({retryMaxWaitMs: 20_000});
    await send(0, 1, 2);
    for (const file of [0, 1, 2]) outage.report(file, 'away', failure);
    await send(8, 9);
    await news();
    await clock.advance(19_000);
    expect(state.ends).toEqual([]);
    await clock.advance(1_000);
    const sentence = 'media.example was unavailable for 20 s. It returned 502.';
    expect((await news()).sort()).toEqual([`8: ${sentence}`, `9: ${sentence}`]);
    expect(state.ends.map(error => [error.code, hintOf(error)])).toEqual([
      ['outage', 'Try again when it is back, or wait longer for it with --retry-max-wait.'],
    ]);
  });

  it('files that go alone and end so for longer than allowed: it is given up too', async () => {
    const {clock, outage, state, send, news} = batch({retryMaxWaitMs: 20_000});
    await send(0, 1, 2);
    for (const file of [0, 1, 2]) outage.report(file, 'away', failure);
    state.probe = undefined;
    let file = 8;
    await send(file);
    for (let tries = 0; tries < 40 && state.ends.length === 0; tries += 1) {
      await clock.advance(2_000);
      if (!(await news()).includes(`sent ${file}`)) continue;
      outage.report(file, 'away', failure);
      outage.finish(file);
      file += 1;
      await send(file);
    }
    expect(state.ends).toHaveLength(1);
    expect(file).toBeLessThan(16);
  });

  it('the run ends meanwhile: nobody waits', async () => {
    const {clock, outage, send, news} = batch();
    await send(0, 1, 2);
    for (const file of [0, 1, 2]) outage.report(file, 'away', failure);
    await send(8, 9);
    await clock.advance(10);
    await news();
    outage.abandon();
    expect((await news()).sort()).toEqual(['sent 8', 'sent 9']);
  });

  it('the deadline of the run comes meanwhile: who waits is told of the outage', async () => {
    const {clock, outage, send, news} = batch();
    await send(0, 1, 2);
    for (const file of [0, 1, 2]) outage.report(file, 'away', failure);
    await send(8);
    await clock.advance(10);
    await news();
    const deadline = new MediaError('deadline_exceeded', 'The deadline has passed.');
    outage.abandon(deadline);
    expect(await news()).toEqual(['8: media.example was unavailable for 10 ms. The deadline has passed.']);
    const others = batch();
    others.state.pausedUntil = 5_000;
    await others.send(0);
    others.outage.abandon(deadline);
    expect(await others.news()).toEqual(['sent 0']);
  });

  it('a second one: the first probe comes as early as in the first, and the file that goes alone a second later', async () => {
    const {clock, outage, state, send, news} = batch();
    for (const first of [0, 10]) {
      state.probe = away;
      await send(first, first + 1, first + 2);
      for (const file of [first, first + 1, first + 2]) outage.report(file, 'away', failure);
      await send(first + 8);
      await news();
      state.probes = 0;
      await clock.advance(249);
      expect(state.probes).toBe(0);
      if (first > 0) state.probe = undefined;
      await clock.advance(1);
      expect(state.probes).toBe(1);
      if (first > 0) break;
      await clock.advance(30_000);
      state.probe = undefined;
      await clock.advance(20_000);
      expect(await news()).toEqual(['sent 8']);
      outage.report(8, 'stored');
    }
    await clock.advance(999);
    expect(await news()).toEqual([]);
    await clock.advance(1);
    expect(await news()).toEqual(['sent 18']);
  });

  it('a Retry-After is heeded before any probe', async () => {
    const {clock, outage, state, send, news} = batch();
    await send(0, 1, 2);
    state.pausedUntil = 5_000;
    for (const file of [0, 1, 2]) outage.report(file, 'away', failure);
    await send(8);
    await clock.advance(4_999);
    expect(state.probes).toBe(0);
    state.probe = undefined;
    await clock.advance(1_501);
    expect((await news()).slice(-1)).toEqual(['sent 8']);
  });
});
