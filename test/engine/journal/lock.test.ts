import {once} from 'node:events';
import {access, readdir, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, it, onTestFinished} from 'vitest';
import {type Holder, holderHere} from '../../../src/lib/files/holder.ts';
import {withLock} from '../../../src/lib/files/lock.ts';
import {withWords} from '../../support/hints.ts';
import {
  type Bench,
  bench,
  compiledModules,
  formatWriterLine,
  header,
  inputOf,
  lookup,
  openJournal,
  scope,
  upload,
} from '../../support/journal.ts';
import {patienceMs} from '../../support/patience.ts';

/** Opens the journal of its argument, then commits and finishes uploads until it is killed, telling what is durable. */
const endlessRun = `
  const {openJournal} = await import(process.argv[1] + '/engine/journal/open.js');
  const {systemHost} = await import(process.argv[1] + '/host.js');
  const {createHash} = await import('node:crypto');
  const {writeSync} = await import('node:fs');
  const journal = await openJournal(process.argv[2], systemHost(), {scope: {service: 'https://media.example'}});
  writeSync(1, 'open\\n');
  const work = async worker => {
    for (let count = 0; ; count++) {
      const path = worker + '/' + count;
      const bytes = Buffer.from('content of ' + path);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const input = {path, size: bytes.length, typeRule: 'extension', contentType: 'image/png'};
      const source = {size: bytes.length, read: async () => bytes};
      const {log} = await journal.beginUpload(input, source);
      await log.commit(sha256);
      writeSync(1, 'commit ' + path + '\\n');
      await log.recordStored(JSON.stringify({id: path}));
      writeSync(1, 'done ' + path + '\\n');
      log.end();
    }
  };
  await Promise.all([1, 2, 3, 4].map(work));
`;

/** What a process of this machine leaves behind. */
function left(one: Bench, pid: number, changes: Partial<Holder> = {}): string {
  return JSON.stringify({...holderHere(one.host), pid, ...changes});
}

/** A process that is no more. */
async function ended(): Promise<{pid: number | undefined}> {
  const child = execa(process.execPath, ['-e', '0']);
  await child;
  return {pid: child.pid};
}

function endless(directory: string, path: string) {
  const child = execa(process.execPath, ['--input-type=module', '-e', endlessRun, directory, path], {
    reject: false,
    buffer: false,
    timeout: patienceMs,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return {child, lines: () => text.split('\n').slice(0, -1)};
}

describe('two runs on one journal', () => {
  it('in two processes: the second is refused at once, with the pid of the first', async () => {
    const one = await bench();
    const {child} = endless(await compiledModules(), one.path);
    await once(child.stdout, 'data');
    await expect(withWords(one.run(async () => {}))).rejects.toMatchObject({
      message: `The journal ${one.path} is in use by process ${child.pid} on ${one.host.hostName()}.`,
      hint: 'Wait until that run has ended, or use another journal.',
    });
  });

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
  it.each([0, 1, 5, 20, 50])(
    'killed after %i ms of work: taken over at once, with all that was durable',
    async ms => {
      const one = await bench();
      const {child, lines} = endless(await compiledModules(), one.path);
      await once(child.stdout, 'data');
      await new Promise(resolve => setTimeout(resolve, ms));
      child.kill('SIGKILL');
      await child;
      await access(`${one.path}.lock`);
      await one.run(async journal => {
        for (const line of lines().slice(1)) {
          const [event, path = ''] = line.split(' ');
          const {status} = await lookup(journal, inputOf(path));
          expect(event === 'done' ? ['done'] : ['done', 'unknown']).toContain(status);
        }
        await upload(journal, inputOf('after'), 'done');
      });
      expect(await readdir(one.directory)).toEqual(['uploads.ndjson']);
    },
  );

  it('with the pid that this process has now, as in a container: taken over', async () => {
    const one = await bench();
    await writeFile(`${one.path}.lock`, left(one, process.pid, {startTime: 'of another life'}));
    await expect(one.run(async () => 'taken over')).resolves.toBe('taken over');
  });

  it.each(['its lock', 'only the journal'])(
    'by a power cut after which the clock was set back by a day, of which %s is left: taken over after 90 s',
    async what => {
      const one = await bench();
      await one.write(
        `${header}\n{"event":"open","by":"a","at":"2026-01-02T00:00:00.000Z","process":{"pid":1,"hostName":"machine","bootId":"an earlier one"}}\n`,
      );
      const tomorrow = Date.now() / 1000 + 86_400;
      await utimes(one.path, tomorrow, tomorrow);
      if (what === 'its lock') {
        await writeFile(`${one.path}.lock`, left(one, 1, {bootId: 'an earlier one', token: 'a'}));
        await utimes(`${one.path}.lock`, tomorrow, tomorrow);
      }
      let waitedMs = 0;
      const sleep = async (ms: number) => {
        waitedMs += ms;
      };
      const clock = {...one.host.clock, monotonic: () => waitedMs, sleep};
      const notes: string[] = [];
      const note = (text: string) => void notes.push(text);
      await (await openJournal(one.path, {...one.host, clock}, {scope, note})).close();
      expect(waitedMs).toBeGreaterThanOrEqual(90_000);
      expect(waitedMs).toBeLessThan(100_000);
      expect(notes.at(-1)).toMatch(/was taken over/);
    },
  );

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
