import {describe, expect, it} from 'vitest';
import {
  filesText,
  Meter,
  standingPercent,
  standingText,
  unavailableText,
} from '../../../src/cli/output/progress/meter.ts';
import type {Clock} from '../../../src/host.ts';

const MiB = 1024 * 1024;

/** A clock that goes when told to. */
function manualClock(): Clock & {pass(ms: number): void; setTo(ms: number): void} {
  let now = 0;
  let epoch = 1_000;
  const unused = () => {
    throw new Error('a meter only looks at the clock');
  };
  return {
    now: () => epoch + now,
    monotonic: () => now,
    idle: unused,
    after: unused,
    every: unused,
    sleep: unused,
    pass(ms) {
      now += ms;
    },
    setTo(ms) {
      epoch = ms - now;
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
    m.begin(0, 'a', 10 * MiB);
    m.begin(1, 'b', 10 * MiB);
    m.progress(0, 10 * MiB);
    m.progress(1, 2 * MiB);
    m.end(0);
    clock.pass(2000);
    expect(m.snapshot()).toEqual({files: 1, bytes: 12 * MiB, bytesPerSecond: 6 * MiB});
    expect([...m.inFlight].map(({name}) => name)).toEqual(['b']);
  });

  it('a file that was skipped is done and was not sent', () => {
    const {clock, meter: m} = meter();
    m.begin(0, 'a', 10 * MiB);
    m.end(0);
    clock.pass(1000);
    expect(m.snapshot()).toMatchObject({files: 1, bytes: 10 * MiB, bytesPerSecond: 0});
  });

  it('a file that could not be opened is done, with no bytes', () => {
    const {meter: m} = meter();
    m.end(0);
    expect(m.snapshot()).toMatchObject({files: 1, bytes: 0, bytesPerSecond: 0});
  });

  it('an attempt that begins anew takes back what the last one sent', () => {
    const {meter: m} = meter();
    m.begin(0, 'a', 10 * MiB);
    m.progress(0, 9 * MiB);
    m.setWaiting(0, 1000, 'It broke.');
    expect([...m.inFlight][0]?.waiting).toEqual({until: 1000, why: 'It broke.'});
    m.progress(0, MiB);
    expect([...m.inFlight][0]?.waiting).toBeUndefined();
    expect(m.snapshot().bytes).toBe(MiB);
  });

  it('a response is awaited for a file that was sent whole, unless it waits for another try', () => {
    const {meter: m} = meter();
    m.begin(0, 'a', MiB);
    expect(m.isAwaiting).toBe(false);
    m.progress(0, MiB);
    expect(m.isAwaiting).toBe(true);
    m.setWaiting(0, 1000, 'It broke.');
    expect(m.isAwaiting).toBe(false);
  });

  it('the time left is known once all files are counted, at the rate of the last ten seconds', () => {
    const {clock, meter: m} = meter();
    m.addToSurvey(60 * MiB);
    m.begin(0, 'a', 100 * MiB);
    for (let second = 1; second <= 20; second += 1) {
      clock.pass(1000);
      // 1 MiB a second at first, 4 MiB a second of late.
      m.progress(0, second <= 10 ? second * MiB : (10 + (second - 10) * 4) * MiB);
      expect(m.snapshot().secondsLeft).toBeUndefined();
    }
    m.addToSurvey(40 * MiB);
    m.endSurvey();
    const standing = m.snapshot();
    expect(standing).toMatchObject({bytesPerSecond: 4 * MiB, totalFiles: 2, totalBytes: 100 * MiB});
    expect(standing.secondsLeft).toBe(13);
  });

  it('a count that goes on is no total; when it is complete, the total is no less than what is done', () => {
    const {meter: m} = meter();
    m.addToSurvey(MiB);
    m.begin(0, 'a', 2 * MiB);
    m.progress(0, 2 * MiB);
    expect(Object.keys(m.snapshot())).toEqual(['files', 'bytes', 'bytesPerSecond']);
    m.endSurvey();
    expect(m.snapshot()).toMatchObject({totalFiles: 1, totalBytes: 2 * MiB});
    m.end(0);
    m.begin(1, 'media by its bytes only', MiB);
    m.end(1);
    expect(m.snapshot()).toMatchObject({totalFiles: 2, totalBytes: 3 * MiB});
  });

  it('nothing could be counted, since only the bytes of each file call it media: no total', () => {
    const {meter: m} = meter();
    m.endSurvey();
    m.begin(0, 'a', MiB);
    m.end(0);
    expect(Object.keys(m.snapshot())).toEqual(['files', 'bytes', 'bytesPerSecond']);
  });

  it('in the first second: no time left is told', () => {
    const {clock, meter: m} = meter();
    m.addToSurvey(2 * MiB);
    m.endSurvey();
    m.begin(0, 'a', 2 * MiB);
    m.progress(0, MiB);
    clock.pass(999);
    expect(m.snapshot().secondsLeft).toBeUndefined();
    clock.pass(1);
    expect(m.snapshot().secondsLeft).toBe(1);
  });

  it('nothing sent yet: no time left is told', () => {
    const {clock, meter: m} = meter();
    m.addToSurvey(MiB);
    m.endSurvey();
    clock.pass(1000);
    expect(m.snapshot().secondsLeft).toBeUndefined();
  });
});

const uncounted: ReturnType<Meter['snapshot']> = {files: 5, bytes: 5 * MiB, bytesPerSecond: MiB};
const half: ReturnType<Meter['snapshot']> = {
  ...uncounted,
  totalFiles: 10,
  totalBytes: 10 * MiB,
  secondsLeft: 5,
};

describe('standingText, filesText and standingPercent', () => {
  it.each([
    ['all counted', half, '5.0 MiB of 10.0 MiB, 1.0 MiB/s, 5s left', '5 of 10 files', 50],
    ['not counted', uncounted, '5.0 MiB, 1.0 MiB/s', '5 files', undefined],
    ['one', {...uncounted, files: 1}, '5.0 MiB, 1.0 MiB/s', '1 file', undefined],
  ])('%s', (_name, standing, text, files, percent) => {
    expect(standingText(standing)).toBe(text);
    expect(filesText(standing)).toBe(files);
    expect(standingPercent(standing)).toBe(percent);
  });
});

it('an outage: for how long the service has been away, until it is back', () => {
  const {clock, meter: m} = meter();
  clock.pass(5_000);
  m.unavailable(1_000);
  // The clock of the machine is set.
  clock.setTo(0);
  clock.pass(57_400);
  expect(m.snapshot().unavailableSeconds).toBe(62);
  expect(unavailableText(m.snapshot())).toBe('the service has been unavailable for 1m02s');
  m.unavailable(undefined);
  expect(unavailableText(m.snapshot())).toBe('');
});
