import {constants, readdirSync, readFileSync, readlinkSync} from 'node:fs';
import {expect, it} from 'vitest';
import {
  type Bench,
  bench,
  changedHandle,
  inputOf,
  type JournalHandle,
  upload,
} from '../../support/journal.ts';

const {O_APPEND, O_DSYNC} = constants;

/** Whether the only descriptor by which this process has a journal open appends, and whether its writes are durable; Linux tells. */
function flagsOf({path}: Bench): {appends: boolean; syncs: boolean}[] {
  return readdirSync('/proc/self/fd')
    .filter(fd => targetOf(fd) === path)
    .map(fd => {
      const [, octal = ''] = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? [];
      const flags = Number.parseInt(octal, 8);
      return {appends: (flags & O_APPEND) !== 0, syncs: (flags & O_DSYNC) === O_DSYNC};
    });
}

/** What a descriptor is open for; that of the list itself is closed again. */
function targetOf(fd: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
}

it.runIf(process.platform === 'linux')(
  'a journal on a disk of this machine: each write is durable',
  async () => {
    const one = await bench();
    await upload(await one.open(), inputOf('a.png'), 'done');
    expect(flagsOf(one)).toEqual([{appends: true, syncs: true}]);
  },
);

it('one whose writes are not: each group of lines that others rely on is synced by a call of its own', async () => {
  const one = await bench();
  const calls: string[] = [];
  const wrap = (handle: JournalHandle) =>
    changedHandle(handle, {
      write: (...parameters) => {
        calls.push('write');
        return handle.write(...parameters);
      },
      datasync: () => {
        calls.push('sync');
        return handle.datasync();
      },
    });
  const journal = await one.open({wrap});
  if (process.platform === 'linux') expect(flagsOf(one)).toEqual([{appends: true, syncs: false}]);
  calls.splice(0);
  await upload(journal, inputOf('a.png'), 'done');
  expect(calls).toEqual(['write', 'sync', 'write', 'sync']);
});
