import {writeFileSync} from 'node:fs';
import {readdir, readFile, rm, stat, symlink, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {type Host, systemHost} from '../../../../src/host.ts';
import {systemFiles} from '../../../../src/lib/files/file-system.ts';
import {type Holder, holderHere} from '../../../../src/lib/files/holder.ts';
import {acquireLock, LockHeld, withLock} from '../../../../src/lib/files/lock.ts';
import {afterSilence} from '../../../support/journal.ts';
import {temporaryDirectory} from '../../../support/media.ts';

const deadProcess = 2 ** 30;

/** What a holder of this machine leaves behind. */
function left(pid: number, changes: Partial<Holder> = {}): string {
  return JSON.stringify({...holderHere(host()), pid, ...changes});
}

/** This machine, where no process of the id `deadProcess` runs. */
function host(changes: Partial<Host> = {}): Host {
  return {...systemHost(), isProcessAlive: pid => pid !== deadProcess, ...changes};
}

async function lockFile(): Promise<{directory: string; path: string}> {
  const directory = await temporaryDirectory();
  return {directory, path: join(directory, 'x.lock')};
}

describe('withLock', () => {
  it('nobody else: runs the action, names the holder meanwhile, leaves nothing', async () => {
    const {directory, path} = await lockFile();
    const held = await withLock(path, host(), () => readFile(path, 'utf8'));
    expect(JSON.parse(held)).toMatchObject({pid: process.pid, hostName: host().hostName()});
    expect(await readdir(directory)).toEqual([]);
  });

  it('an action that fails: its error, and the lock is free again', async () => {
    const {directory, path} = await lockFile();
    await expect(withLock(path, host(), () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await readdir(directory)).toEqual([]);
  });

  it.each([
    ['twenty at once: one after the other', undefined],
    ['twenty at once behind a dead holder: still one after the other', left(deadProcess)],
  ])('%s', async (_name, held) => {
    const {directory, path} = await lockFile();
    const counter = join(directory, 'counter');
    await writeFile(counter, '0');
    if (held !== undefined) await writeFile(path, held);
    const increment = () =>
      withLock(path, host(), async () => {
        await writeFile(counter, String(Number(await readFile(counter, 'utf8')) + 1));
      });
    await Promise.all(Array.from({length: 20}, increment));
    expect(await readFile(counter, 'utf8')).toBe('20');
    expect(await readdir(directory)).toEqual(['counter']);
  });

  it('a holder of our own id from before a restart: replaced', async () => {
    const {directory, path} = await lockFile();
    await writeFile(path, left(process.pid, {startTime: 'of another life'}));
    expect(await withLock(path, host(), async () => 'done')).toBe('done');
    expect(await readdir(directory)).toEqual([]);
  });

  it('a dead holder, and one that died while it removed another: both replaced', async () => {
    const {directory, path} = await lockFile();
    const dead = left(deadProcess);
    await writeFile(path, dead);
    await writeFile(`${path}.breaker`, dead);
    expect(await withLock(path, host(), async () => 'done')).toBe('done');
    expect(await readdir(directory)).toEqual([]);
  });

  it('half of the breaker lock, as a power cut leaves it: waited for until it is old, then replaced', async () => {
    const {directory, path} = await lockFile();
    await writeFile(path, left(deadProcess));
    await writeFile(`${path}.breaker`, '{"pid":');
    let now = 0;
    const sleep = async (ms: number) => {
      now += ms;
      if (now > 60_000) await utimes(`${path}.breaker`, 0, 0).catch(() => {});
    };
    const clock = {...host().clock, monotonic: () => now, sleep};
    const lock = await acquireLock(path, host({clock}), {onUnknownHolder: () => {}});
    expect(lock.replaced?.pid).toBe(deadProcess);
    await lock.release();
    expect(await readdir(directory)).toEqual([]);
    expect(now).toBeLessThan(62_000);
  });

  it('a dead holder whose lock another process has just taken: that one keeps it', async () => {
    const {path} = await lockFile();
    await writeFile(path, left(deadProcess));
    const others = left(process.ppid, {startTime: host().processStart(process.ppid)});
    const isProcessAlive = (pid: number) => {
      if (pid === deadProcess) writeFileSync(path, others);
      return pid !== deadProcess;
    };
    let now = 0;
    const sleep = async (ms: number) => {
      now += ms;
    };
    const clock = {...host().clock, monotonic: () => now, sleep};
    const taken = withLock(path, host({isProcessAlive, clock}), async () => 'done');
    await expect(taken).rejects.toBeInstanceOf(LockHeld);
    expect(await readFile(path, 'utf8')).toBe(others);
  });

  it('a holder that was silent, and renews its lock while it is being replaced: keeps it', async () => {
    const {path} = await lockFile();
    const others = left(deadProcess, {hostName: 'elsewhere'});
    await writeFile(path, others);
    await utimes(path, 0, 0);
    const {link} = systemFiles;
    const files = {...systemFiles};
    files.link = async (from, to) => {
      await link(from, to);
      if (String(to).endsWith('.breaker')) await writeFile(path, others);
    };
    await expect(acquireLock(path, host({files}))).rejects.toBeInstanceOf(LockHeld);
    expect(await readFile(path, 'utf8')).toBe(others);
  });

  it('a link that leads nowhere: waited for like an unknown holder, not forever', async () => {
    const {directory, path} = await lockFile();
    await symlink('/nonexistent', path);
    await expect(acquireLock(path, host(), {patienceMs: 1})).rejects.toBeInstanceOf(LockHeld);
    await (await acquireLock(path, afterSilence(host()), {onUnknownHolder: () => {}})).release();
    expect(await readdir(directory)).toEqual([]);
  });

  it('a living holder: waited for', async () => {
    const {path} = await lockFile();
    const events: string[] = [];
    let release = () => {};
    const held = new Promise<void>(resolve => {
      release = resolve;
    });
    let taken = () => {};
    const isTaken = new Promise<void>(resolve => {
      taken = resolve;
    });
    const first = withLock(path, host(), async () => {
      taken();
      await held;
      events.push('first ends');
    });
    await isTaken;
    let waits = 0;
    const clock = {
      ...host().clock,
      sleep: async (ms: number) => {
        waits += 1;
        if (waits === 3) release();
        await host().clock.sleep(ms);
      },
    };
    await withLock(path, host({clock}), async () => {
      events.push('second begins');
    });
    await first;
    expect(events).toEqual(['first ends', 'second begins']);
  });

  it('a queue of living holders, each for 8 s: waited for, since it moves on', async () => {
    const {path} = await lockFile();
    let now = 0;
    const takenBy = (token: string) => writeFile(path, left(process.pid, {token}));
    await takenBy('first');
    const clock = {
      ...host().clock,
      monotonic: () => now,
      sleep: async () => {
        now += 8_000;
        if (now < 80_000) await takenBy(String(now));
        else await rm(path);
      },
    };
    expect(await withLock(path, host({clock}), async () => 'done')).toBe('done');
    expect(now).toBe(80_000);
  });

  it.each([
    ['a living process', left(process.ppid, {startTime: host().processStart(process.ppid)})],
    ['a process of another machine', left(deadProcess, {hostName: 'elsewhere'})],
    ['a process of another container', left(deadProcess, {pidNamespace: 'pid:[1]'})],
    ['a process of before a restart of the machine', left(deadProcess, {bootId: 'another'})],
    ['something that is no holder', '{}'],
  ])(
    '%s that never lets go: an error that names the file, after 10 s on the clock',
    async (_name, holder) => {
      const {path} = await lockFile();
      await writeFile(path, holder);
      let now = 0;
      const clock = {
        ...host().clock,
        monotonic: () => now,
        sleep: async (ms: number) => {
          now += ms;
        },
      };
      const taken = withLock(path, host({clock}), async () => {});
      await expect(taken).rejects.toThrow(`${path} is held by another process.`);
      expect(now).toBeGreaterThan(10_000);
      expect(await readFile(path, 'utf8')).toBe(holder);
    },
  );

  it.each([
    ['a process of another container', left(deadProcess, {pidNamespace: 'pid:[1]'})],
    ['something that is no holder', ''],
  ])('%s that has been silent for 90 s: replaced', async (_name, holder) => {
    const {directory, path} = await lockFile();
    await writeFile(path, holder);
    const time = (await stat(path)).mtimeMs / 1000 - 91;
    await utimes(path, time, time);
    expect(await withLock(path, host(), async () => 'done')).toBe('done');
    expect(await readdir(directory)).toEqual([]);
  });

  it('taken from us meanwhile: is not renewed', async () => {
    const {path} = await lockFile();
    const lock = await acquireLock(path, host());
    const others = left(deadProcess);
    await writeFile(path, others);
    await lock.renew();
    expect(await readFile(path, 'utf8')).toBe(others);
  });

  it('taken from us meanwhile: is not given back', async () => {
    const {path} = await lockFile();
    const others = left(deadProcess);
    await withLock(path, host(), () => writeFile(path, others));
    expect(await readFile(path, 'utf8')).toBe(others);
  });
});
