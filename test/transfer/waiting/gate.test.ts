import {describe, expect, it} from 'vitest';
import {MediaError} from '../../../src/errors.ts';
import {judge} from '../../../src/transfer/attempt/judge.ts';
import {Gate} from '../../../src/transfer/waiting/gate.ts';
import {ManualClock, settled} from '../../support/manual-clock.ts';

const tooMany = judge('held', {kind: 'refused', status: 429});
const never = new AbortController().signal;

function gateOf(clock: ManualClock): Gate {
  return new Gate({clock, random: () => 0.5, retries: 5, retryMaxWaitMs: 60_000});
}

/** Somebody at the gate: when it was let through, or why not. */
function waiter(gate: Gate, clock: ManualClock, signal: AbortSignal = never) {
  const seen: {passedAt?: number; rejected?: unknown} = {};
  gate.pass(signal).then(
    () => {
      seen.passedAt = clock.monotonic();
    },
    error => {
      seen.rejected = error;
    },
  );
  return seen;
}

describe('the gate', () => {
  it('is open at first, and open again once its time is over', async () => {
    const clock = new ManualClock();
    const gate = gateOf(clock);
    const first = waiter(gate, clock);
    await settled();
    expect(first.passedAt).toBe(0);
    gate.closeFor(50);
    await clock.advance(70);
    const second = waiter(gate, clock);
    await settled();
    expect(second.passedAt).toBe(70);
  });

  it('holds all until its time is over, whenever they came', async () => {
    const clock = new ManualClock();
    const gate = gateOf(clock);
    gate.closeFor(1_000);
    const waiters = [waiter(gate, clock)];
    await clock.advance(400);
    waiters.push(waiter(gate, clock), waiter(gate, clock));
    await clock.advance(599);
    expect(waiters).toEqual([{}, {}, {}]);
    await clock.advance(1);
    expect(waiters.map(({passedAt}) => passedAt)).toEqual([1_000, 1_000, 1_000]);
  });

  it('closed for longer while some wait: they wait for longer; a shorter time takes nothing away', async () => {
    const clock = new ManualClock();
    const gate = gateOf(clock);
    gate.closeFor(1_000);
    const early = waiter(gate, clock);
    await clock.advance(500);
    gate.closeFor(2_000);
    gate.closeFor(100);
    const late = waiter(gate, clock);
    await clock.advance(10_000);
    expect([early.passedAt, late.passedAt]).toEqual([2_500, 2_500]);
  });

  it('lets go at once of whoever is told to stop, with the reason, and of nobody else', async () => {
    const clock = new ManualClock();
    const gate = gateOf(clock);
    const stop = new AbortController();
    const reason = new MediaError('interrupted', 'The run was stopped by SIGINT.');
    gate.closeFor(1_000);
    const stopped = waiter(gate, clock, stop.signal);
    const other = waiter(gate, clock);
    await clock.advance(10);
    stop.abort(reason);
    await settled();
    expect(stopped).toEqual({rejected: reason});
    const afterwards = waiter(gate, clock, stop.signal);
    await settled();
    expect(afterwards).toEqual({rejected: reason});
    await clock.advance(1_000);
    expect(other).toEqual({passedAt: 1_000});
    expect(stopped).toEqual({rejected: reason});
  });

  it('lets files through after refusals of several that were sent together, and not after refusals in a row', async () => {
    const clock = new ManualClock();
    const gate = gateOf(clock);
    await clock.advance(10);
    for (let file = 0; file < 8; file += 1) gate.learn(tooMany, 0);
    const together = waiter(gate, clock);
    await settled();
    expect(together.passedAt).toBe(10);
    gate.learn(tooMany, 10);
    const inARow = waiter(gate, clock);
    await settled();
    expect(inARow.passedAt).toBeUndefined();
  });
});
