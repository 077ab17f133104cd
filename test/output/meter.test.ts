import {describe, expect, it} from 'vitest';
import type {Clock} from '../../src/host.ts';
import {
  filesText,
  Meter,
  type Standing,
  standingFields,
  standingText,
} from '../../src/output/progress/meter.ts';

const MiB = 1024 * 1024;

/** A clock that goes when told to. */
function manualClock(): Clock & {pass(ms: number): void} {
  let now = 0;
  const unused = () => {
    throw new Error('a meter only looks at the clock');
  };
  return {
    now: unused,
    monotonic: () => now,
    idle: unused,
    after: unused,
    every: unused,
    sleep: unused,
    pass(ms) {
      now += ms;
    },
  };
}

function meter() {
  const clock = manualClock();
  return {clock, meter: new Meter(clock)};
}

describe('Meter', () => {
  it('what is sent of files in flight and of finished ones adds up', () => {
    const {clock, meter: m} = meter();
    m.started(0, 'a', 10 * MiB);
    m.started(1, 'b', 10 * MiB);
    m.progress(0, 10 * MiB);
    m.progress(1, 2 * MiB);
    m.finished(0);
    clock.pass(2000);
    expect(m.standing()).toEqual({files: 1, sent: 12 * MiB, done: 12 * MiB, rate: 6 * MiB});
    expect([...m.inFlight].map(({name}) => name)).toEqual(['b']);
  });

  it('a file that was skipped is done and was not sent', () => {
    const {clock, meter: m} = meter();
    m.started(0, 'a', 10 * MiB);
    m.finished(0);
    clock.pass(1000);
    expect(m.standing()).toMatchObject({files: 1, sent: 0, done: 10 * MiB, rate: 0});
  });

  it('a file that could not be opened is done, with no bytes', () => {
    const {meter: m} = meter();
    m.finished(0);
    expect(m.standing()).toMatchObject({files: 1, sent: 0, done: 0});
  });

  it('an attempt that begins anew takes back what the last one sent', () => {
    const {meter: m} = meter();
    m.started(0, 'a', 10 * MiB);
    m.progress(0, 9 * MiB);
    m.waiting(0, 1000, 'It broke.');
    expect([...m.inFlight][0]?.waiting).toEqual({until: 1000, why: 'It broke.'});
    m.progress(0, MiB);
    expect([...m.inFlight][0]?.waiting).toBeUndefined();
    expect(m.standing().sent).toBe(MiB);
  });

  it('a response is awaited for a file that was sent whole, unless it waits for another try', () => {
    const {meter: m} = meter();
    m.started(0, 'a', MiB);
    expect(m.isAwaiting).toBe(false);
    m.progress(0, MiB);
    expect(m.isAwaiting).toBe(true);
    m.waiting(0, 1000, 'It broke.');
    expect(m.isAwaiting).toBe(false);
  });

  it('the time left is known once all files are counted, at the rate of the last ten seconds', () => {
    const {clock, meter: m} = meter();
    m.counted(60 * MiB);
    m.started(0, 'a', 100 * MiB);
    for (let second = 1; second <= 20; second += 1) {
      clock.pass(1000);
      // 1 MiB a second at first, 4 MiB a second of late.
      m.progress(0, second <= 10 ? second * MiB : (10 + (second - 10) * 4) * MiB);
      expect(m.standing().secondsLeft).toBeUndefined();
    }
    m.counted(40 * MiB);
    m.allCounted();
    const standing = m.standing();
    expect(standing.rate).toBe(4 * MiB);
    expect(standing.total).toEqual({files: 2, bytes: 100 * MiB, isComplete: true});
    expect(standing.secondsLeft).toBe(12.5);
  });

  it('a count that lags behind is no total; when it is complete, the total is no less than what is done', () => {
    const {meter: m} = meter();
    m.counted(MiB);
    m.started(0, 'a', 2 * MiB);
    m.progress(0, 2 * MiB);
    expect(m.standing().total).toBeUndefined();
    m.allCounted();
    expect(m.standing().total).toEqual({files: 1, bytes: 2 * MiB, isComplete: true});
    m.finished(0);
    m.started(1, 'media by its bytes only', MiB);
    m.finished(1);
    expect(m.standing().total).toEqual({files: 2, bytes: 3 * MiB, isComplete: true});
  });

  it('in the first second: no time left is told', () => {
    const {clock, meter: m} = meter();
    m.counted(2 * MiB);
    m.allCounted();
    m.started(0, 'a', 2 * MiB);
    m.progress(0, MiB);
    clock.pass(999);
    expect(m.standing().secondsLeft).toBeUndefined();
    clock.pass(1);
    expect(m.standing().secondsLeft).toBe(1);
  });

  it('nothing sent yet: no time left is told', () => {
    const {clock, meter: m} = meter();
    m.counted(MiB);
    m.allCounted();
    clock.pass(1000);
    expect(m.standing().secondsLeft).toBeUndefined();
  });
});

const half: Standing = {
  files: 5,
  sent: 4 * MiB,
  done: 5 * MiB,
  rate: MiB,
  total: {files: 10, bytes: 10 * MiB, isComplete: true},
  secondsLeft: 5,
};
const counting: Standing = {...half, total: {files: 10, bytes: 10 * MiB, isComplete: false}};
const {total: _total, ...uncounted} = half;

describe('standingFields', () => {
  it('the total, once it is one; how long the service has been away, in seconds', () => {
    const known = {files: 5, bytes: 5 * MiB, bytesPerSecond: MiB, secondsLeft: 5};
    expect(standingFields(half, 0)).toEqual({...known, totalFiles: 10, totalBytes: 10 * MiB});
    expect(standingFields({...counting, unavailableSince: 1_000}, 63_400)).toEqual({
      ...known,
      unavailableSeconds: 62,
    });
  });
});

describe('standingText and filesText', () => {
  it.each([
    ['all counted', half, '5.0 MiB of 10.0 MiB, 1.0 MiB/s, 5s left', '5 of 10 files'],
    ['counting', counting, '5.0 MiB of 10.0 MiB or more, 1.0 MiB/s, 5s left', '5 of 10+ files'],
    ['not counted', uncounted, '5.0 MiB, 1.0 MiB/s, 5s left', '5 files'],
    ['one', {...uncounted, files: 1}, '5.0 MiB, 1.0 MiB/s, 5s left', '1 file'],
  ])('%s', (_name, standing, text, files) => {
    expect(standingText(standing)).toBe(text);
    expect(filesText(standing)).toBe(files);
  });
});
