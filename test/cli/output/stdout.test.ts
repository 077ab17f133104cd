import {Writable} from 'node:stream';
import {expect, test} from 'vitest';
import {Stdout} from '../../../src/cli/output/stdout.ts';
import {ManualClock} from '../../support/manual-clock.ts';

/** A stream whose reader reads one text each time that it is asked to. */
function reader() {
  const texts: string[] = [];
  const waiting: ((error?: Error) => void)[] = [];
  const stream = new Writable({
    highWaterMark: 1,
    write(chunk, _encoding, done) {
      texts.push(String(chunk));
      waiting.push(done);
    },
  });
  return {stdout: new Stdout(stream), texts, read: (error?: Error) => waiting.shift()?.(error)};
}

test.each(['before', 'after'])(
  'hurried %s it writes, and nobody reads: nothing waits, what follows is dropped, and that is a failure',
  async when => {
    const clock = new ManualClock();
    const {stdout, texts} = reader();
    if (when === 'before') stdout.hurry(clock);
    const writes = Promise.all([stdout.write('a'), stdout.write('b')]);
    if (when === 'after') stdout.hurry(clock);
    await clock.advance(50);
    await writes;
    await stdout.write('c');
    expect([texts, stdout.failure?.code]).toEqual([['a'], 'output_failed']);
  },
);

test('hurried, and somebody reads: all of it comes', async () => {
  const clock = new ManualClock();
  const {stdout, texts, read} = reader();
  stdout.hurry(clock);
  for (const text of ['a', 'b', 'c']) {
    const write = stdout.write(text);
    read();
    await write;
    await clock.advance(50);
  }
  expect([texts, stdout.failure]).toEqual([['a', 'b', 'c'], undefined]);
});

test.each([
  ['EPIPE', undefined],
  ['ENOSPC', 'output_failed'],
])('a write that fails with %s: the end, and the failure %s', async (code, failure) => {
  const {stdout, texts, read} = reader();
  const write = stdout.write('a');
  read(Object.assign(new Error(code), {code}));
  await write;
  await stdout.write('b');
  expect([texts, stdout.failure?.code]).toEqual([['a'], failure]);
});
