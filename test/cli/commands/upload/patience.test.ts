import {expect, onTestFinished, test} from 'vitest';
import {openRunJournal} from '../../../../src/cli/commands/upload/run-memory.ts';
import type {Session} from '../../../../src/cli/session/session.ts';
import {systemHost} from '../../../../src/host.ts';
import {inWords} from '../../../support/hints.ts';
import {hostIn} from '../../../support/journal.ts';
import {temporaryDirectory} from '../../../support/media.ts';

const session = {
  ...{identity: 'https://media.example', account: undefined},
  settings: {profileName: 'default', profile: {once: 'true'}},
  client: {serviceId: async () => undefined},
} as unknown as Session;

/** Opens the journal of a run with --once, on a clock whose waits end at once and take 500 ms each. */
async function openOnce(directory: string, onWait: (elapsedMs: number) => Promise<void> = async () => {}) {
  let elapsedMs = 0;
  const clock = {
    ...systemHost().clock,
    monotonic: () => elapsedMs,
    async sleep() {
      elapsedMs += 500;
      await onWait(elapsedMs);
    },
  };
  const host = hostIn(directory, {clock, env: {XDG_STATE_HOME: directory}, platform: 'linux'});
  const invocation = {host, report: {note: () => {}}, globals: {}};
  const stop = new AbortController().signal;
  const journal = await openRunJournal({}, invocation, {session, shard: undefined, stop}).catch(
    (error: unknown) => ({error: inWords(error), elapsedMs}),
  );
  if (journal === undefined || 'error' in journal) return journal;
  let isClosed = false;
  const close = async () => {
    if (!isClosed) await journal.close();
    isClosed = true;
  };
  onTestFinished(close);
  return {close, elapsedMs};
}

test("this machine's own journal, held by a living run: refused after 30 s, with the way out", async () => {
  const directory = await temporaryDirectory();
  await openOnce(directory);
  expect(await openOnce(directory)).toEqual({
    error: expect.objectContaining({code: 'journal_in_use', hint: expect.stringContaining('--no-once')}),
    elapsedMs: 30_000,
  });
});

test("this machine's own journal, held by a run that ends after 29.5 s: waited for", async () => {
  const directory = await temporaryDirectory();
  const first = await openOnce(directory);
  const second = await openOnce(directory, async elapsedMs => {
    if (elapsedMs === 29_500 && first !== undefined && 'close' in first) await first.close();
  });
  expect(second).toMatchObject({close: expect.any(Function), elapsedMs: 29_500});
});
