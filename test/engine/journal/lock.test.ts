import {readdir, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {holderHere} from '../../../src/lib/files/holder.ts';
import {withLock} from '../../../src/lib/files/lock.ts';
import {bench, formatWriterLine, header, inputOf, openJournal, scope, upload} from '../../support/journal.ts';
import {left, testKilled} from './holders.ts';

/** A process that is no more. */
async function ended(): Promise<{pid: number | undefined}> {
  const child = execa(process.execPath, ['-e', '0']);
  await child;
  return {pid: child.pid};
}

describe('two runs on one journal', () => {
  it('in one process: the second is refused', async () => {
    const one = await bench();
    await one.run(async () => {
      await expect(one.run(async () => {})).rejects.toThrow(/is in use by process/);
    });
    await one.run(async () => {});
  });

  it('the first of five at once has it', async () => {
    const one = await bench();
    const results = await Promise.allSettled(Array.from({length: 5}, () => one.open()));
    expect(results.filter(({status}) => status === 'fulfilled')).toHaveLength(1);
  });

  it('with another name for the directory: refused', async () => {
    const one = await bench();
    await one.run(async () => {
      await expect(one.run(async () => {}, join(one.directory, '.', 'uploads.ndjson'))).rejects.toThrow(
        /in use/,
      );
    });
  });

  it('of which the second has taken it over from the first, whose end comes later: a third is refused', async () => {
    const one = await bench();
    const pid = process.ppid;
    const second = {...holderHere(one.host), pid, startTime: one.host.processStart(pid), token: 'second'};
    const lines = [
      formatWriterLine('open', {...second, token: 'first'}, 0),
      formatWriterLine('open', second, 0),
      formatWriterLine('close', {...second, token: 'first'}, 0),
    ];
    await one.write(`${header}\n${lines.join('')}`);
    await expect(one.open()).rejects.toMatchObject({code: 'journal_in_use'});
    await one.write(`${header}\n${lines.join('')}${formatWriterLine('close', second, 0)}`);
    await expect(one.run(async () => 'opened')).resolves.toBe('opened');
  });

  it('leave no lock behind, whether they could open it or not', async () => {
    const one = await bench();
    await one.run(async () => {});
    await writeFile(join(one.directory, 'photo.png'), 'a photo');
    await expect(one.run(async () => {}, join(one.directory, 'photo.png'))).rejects.toThrow(/not a journal/);
    expect((await readdir(one.directory)).sort()).toEqual(['photo.png', 'uploads.ndjson']);
  });

  it('with a name that has room for the ending of the lock, and no more: used', async () => {
    const one = await bench();
    const name = 'j'.repeat(250);
    await one.run(async () => {}, join(one.directory, name));
    expect(await readdir(one.directory)).toEqual([name]);
  });
});

describe('a holder that died', () => {
  testKilled(5);

  it('with the pid that this process has now, as in a container: taken over', async () => {
    const one = await bench();
    await writeFile(`${one.path}.lock`, left(one, process.pid, {startTime: 'of another life'}));
    const notes: string[] = [];
    const note = (text: string) => notes.push(text);
    await expect(one.run(async () => 'taken over', one.path, {note})).resolves.toBe('taken over');
    // It is certainly dead, which is nothing that a user has to know.
    expect(notes).toEqual([]);
  });

  it('of another boot, but whose lock is renewed: never taken over, however long it is waited for', async () => {
    const one = await bench();
    const lock = `${one.path}.lock`;
    await writeFile(lock, left(one, 1, {bootId: 'an earlier one'}));
    let waitedMs = 0;
    const sleep = async () => {
      waitedMs += 5_000;
      const now = Date.now() / 1000 + waitedMs;
      await utimes(lock, now, now);
    };
    const clock = {...one.host.clock, monotonic: () => waitedMs, sleep};
    const opening = openJournal(one.path, {...one.host, clock}, {scope, patienceMs: 200_000});
    await expect(opening).rejects.toMatchObject({code: 'journal_in_use'});
  });

  it('by two at once: one has it, the other is refused', async () => {
    const one = await bench();
    const {pid = 0} = await ended();
    await writeFile(`${one.path}.lock`, left(one, pid));
    const results = await Promise.allSettled([one.open(), one.open(), one.open()]);
    expect(results.filter(({status}) => status === 'fulfilled')).toHaveLength(1);
  });

  it('a relative name is meant from the working directory', async () => {
    const one = await bench();

    await one.run(journal => upload(journal, inputOf('a'), 'done'), 'uploads.ndjson');
    expect(await one.lines()).toHaveLength(2);
  });
});

describe('withLock, on the same locks', () => {
  it('lets one after the other', async () => {
    const one = await bench();
    let inside = 0;
    const turns: number[] = [];
    const turn = async () => {
      inside += 1;
      turns.push(inside);
      await one.host.clock.sleep(2);
      inside -= 1;
    };
    const {pid = 0} = await ended();
    await writeFile(`${one.path}.lock`, left(one, pid));
    await Promise.all(Array.from({length: 20}, () => withLock(`${one.path}.lock`, one.host, turn)));
    expect(turns).toEqual(Array(20).fill(1));
    expect(await readdir(one.directory)).toEqual([]);
  });
});
