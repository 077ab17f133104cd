import {copyFile, mkdir, open, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {PassThrough} from 'node:stream';
import {expect, onTestFinished, test} from 'vitest';
import {type Disposal, Disposals} from '../../../../src/cli/commands/watch/disposal/disposal.ts';
import {watchPrinter} from '../../../../src/cli/commands/watch/event-printer.ts';
import type {FailedOutcome} from '../../../../src/cli/commands/watch/feed.ts';
import {watchedState} from '../../../../src/cli/commands/watch/settler.ts';
import {Uploads} from '../../../../src/cli/commands/watch/uploads.ts';
import {Report} from '../../../../src/cli/output/report.ts';
import {Stdout} from '../../../../src/cli/output/stdout.ts';
import type {Invocation} from '../../../../src/cli/session/invocation.ts';
import {MediaError} from '../../../../src/errors.ts';
import {type Clock, systemClock} from '../../../../src/host.ts';
import {type FileSystem, systemFiles} from '../../../../src/lib/files/file-system.ts';
import {Stop} from '../../../../src/lib/stop.ts';
import {connectedSandbox} from '../../../support/embedded.ts';
import {eventually} from '../../../support/eventually.ts';
import {inWords} from '../../../support/hints.ts';
import {changedHandle, hostIn, wrappedJournals} from '../../../support/journal.ts';
import {fixture} from '../../../support/media.ts';

/** The uploads of a watched directory with a photo, and the lines that they print. `env`, `clock`, `files`: in place of the real ones. */
async function watching({
  faults,
  env = {},
  clock = {},
  files = {},
  disposal = 'delete',
}: {
  faults?: string[];
  env?: Record<string, string>;
  clock?: Partial<Clock>;
  files?: Partial<FileSystem>;
  disposal?: Disposal;
} = {}) {
  const {sandbox} = await connectedSandbox(faults && {faults: {list: faults}});
  const directory = join(sandbox.directory, 'in');
  const path = join(directory, 'photo.png');
  await mkdir(directory);
  await copyFile(fixture('photo.png'), path);
  const real = hostIn(sandbox.directory, {env: {...sandbox.env, ...env, XDG_STATE_HOME: sandbox.directory}});
  const changed = {clock: {...real.clock, sleep: async () => {}, ...clock}, files: {...real.files, ...files}};
  const host = {...real, ...changed};
  const lines: string[] = [];
  const stream = new PassThrough().on('data', text => void lines.push(...String(text).trimEnd().split('\n')));
  const invocation: Invocation = {
    ...{host, stdout: new Stdout(stream), globals: {}, argv: [], optionWords: () => [], abandon: () => {}},
    report: new Report({stream: new PassThrough(), color: false, level: 'default', inWords}),
  };
  const {stdout} = invocation;
  const disposals = new Disposals(disposal, {host, stdout, settleMs: 0, stop: new Stop()});
  const printer = watchPrinter(invocation, undefined);
  const uploads = new Uploads(invocation, [{path: directory, displayPath: 'in'}], printer, {
    disposals,
    flags: {},
  });
  onTestFinished(() => uploads.stop(new MediaError('interrupted', 'The test is over.')));
  const state = (await watchedState(path, host.files)) ?? {key: '', size: 0};
  return {sandbox, path, lines, uploads, state};
}

test('a response that is lost: reported as unavailable once, since nothing waits for the service then', async () => {
  const ofMinute = new Set<() => void>();
  const after: Clock['after'] = (ms, action) => {
    if (ms !== 60_000) return systemClock.after(ms, action);
    ofMinute.add(action);
    return () => ofMinute.delete(action);
  };
  const {path, lines, uploads, state} = await watching({
    faults: ['upload:reset,after=store,nth=1'],
    env: {MEDIA_IDEMPOTENCY_KEYS: '0'},
    clock: {after},
  });
  const outcome = (await uploads.take(path, state)) as FailedOutcome;
  expect(outcome).toMatchObject({status: 'unknown'});
  for (const remind of [...ofMinute]) remind();
  const events = lines.map(line => JSON.parse(line).event ?? JSON.parse(line).status);
  expect(events.filter(event => event !== 'kept')).toEqual(['unavailable']);
  expect(ofMinute.size).toBe(1);
  lines.splice(0);
  await uploads.reportFailure(path, outcome);
  // It stays, but not because of its record.
  expect(lines.map(line => JSON.parse(line).event ?? JSON.parse(line).status)).toEqual(['unknown']);
});

test.each(['keep', 'delete'] as const)(
  'a file that the journal could not record (%s): taken again later',
  async disposal => {
    const files = wrappedJournals(handle =>
      changedHandle(handle, {
        write: (bytes, ...range) =>
          Buffer.from(bytes).includes('"event":"done"')
            ? Promise.reject(new Error('EIO'))
            : handle.write(bytes, ...range),
      }),
    );
    const {path, lines, uploads, state} = await watching({files, disposal});
    await expect(uploads.take(path, state)).rejects.toMatchObject({code: 'journal_failed'});
    expect(lines.map(line => JSON.parse(line).status)).toEqual(['uploaded']);
    expect((await stat(path)).isFile()).toBe(true);
  },
);

test('a file that cannot be deleted: its result is printed once, however often that is tried', async () => {
  const unlink = () => Promise.reject(Object.assign(new Error('denied'), {code: 'EACCES'}));
  const {path, lines, uploads, state} = await watching({files: {unlink}});
  for (let time = 0; time < 2; time += 1)
    await expect(uploads.take(path, state)).rejects.toMatchObject({
      code: 'local_failure',
      message: expect.stringContaining('in/photo.png was uploaded, but stays where it is'),
    });
  expect(lines.map(line => JSON.parse(line).status)).toEqual(['uploaded']);
});

test('a file that has changed since it settled: uploaded, but deleted only when it was opened as it had settled', async () => {
  const {sandbox, path, lines, uploads, state} = await watching();
  expect(await uploads.take(path, {...state, key: `${state.key}0`})).toBe('left');
  expect((await stat(path)).isFile()).toBe(true);
  expect(lines.map(line => JSON.parse(line).event ?? JSON.parse(line).status)).toEqual(['uploaded', 'kept']);

  // Another reason is told, too.
  const writer = await open(path, 'r+');
  const taking = uploads.take(path, state);
  if (process.platform === 'linux')
    await eventually(() => lines.at(-1)?.includes('"reason":"A program has it open for writing."'));
  await writer.close();
  expect(await taking).toBe('left');
  expect(await stat(path).catch(() => 'gone')).toBe('gone');
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({file: 'in/photo.png', deleted: true});
  // As `media upload -r in` names it there, too.
  const {stdout: listed} = await sandbox.run(['journal', 'list'], {env: {XDG_STATE_HOME: sandbox.directory}});
  expect(listed).toMatch(/^uploaded {2}photo\.png /);
});

test('another file of the name of one that was kept and then deleted: why it is kept is told, too', async () => {
  const {path, lines, uploads, state} = await watching();
  const unsettled = (key: string) => uploads.take(path, {...state, key: `${key}0`});
  expect(await unsettled(state.key)).toBe('left');
  expect(await uploads.take(path, state)).toBe('left');
  expect(await stat(path).catch(() => 'gone')).toBe('gone');
  await copyFile(fixture('photo.png'), path);
  expect(await unsettled((await watchedState(path, systemFiles))?.key ?? '')).toBe('left');
  const kept = lines.map(line => JSON.parse(line)).filter(({event}) => event === 'kept');
  expect(kept.map(({reason}) => reason)).toEqual(Array(2).fill('It has changed since it was uploaded.'));
});
