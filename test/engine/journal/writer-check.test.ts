import {appendFile, readFile, rename, rm, stat, truncate, utimes, writeFile} from 'node:fs/promises';
import {describe, expect, it, onTestFinished} from 'vitest';
import type {Host} from '../../../src/host.ts';
import {Stop} from '../../../src/lib/stop.ts';
import {eventually} from '../../support/eventually.ts';
import {withWords} from '../../support/hints.ts';
import {
  afterSilence,
  type Bench,
  begin,
  bench,
  changedHandle,
  hostIn,
  inputOf,
  type Journal,
  type JournalHandle,
  type JournalOptions,
  largeSourceOf,
  lookup,
  openJournal,
  scope,
  sha256,
  sourceOf,
  upload,
} from '../../support/journal.ts';

/** Where processes have the same host name, and ids of their own: another container. */
function elsewhere(one: Bench, changes: Partial<Host> = {}): Host {
  return hostIn(one.directory, {pidNamespace: () => 'pid:[another]', ...changes});
}

async function open(one: Bench, host: Host, options: JournalOptions = {}): Promise<Journal> {
  const journal = await openJournal(one.path, host, {scope, paths: true, ...options});
  onTestFinished(() => journal.close().catch(() => {}));
  return journal;
}

/** Sets back the time of a file, as if nobody had written to it for so many seconds. */
async function age(path: string, seconds: number): Promise<void> {
  const time = (await stat(path)).mtimeMs / 1000 - seconds;
  await utimes(path, time, time);
}

/** Two runs on one journal that cannot see each other; the second has taken it over. */
async function two(before: (first: Journal) => Promise<void> = async () => {}) {
  const one = await bench();
  const first = await open(one, one.host);
  await before(first);
  const second = await open(one, afterSilence(elsewhere(one)));
  return {one, first, second};
}

const input = inputOf('a.png', 'content');
const hash = sha256('content');

describe('a writer that another one has followed', () => {
  it('commits: refused, and what it wrote counts as never sent', async () => {
    const {one, first, second} = await two();
    const entry = await begin(first, input);
    await expect(entry.commit(hash)).rejects.toMatchObject({
      code: 'journal_in_use',
      message: expect.stringMatching(
        /was taken over by process \d+ on .*, so this run sends nothing more\.$/,
      ),
    });
    await second.close();
    // Not even after the second has ended.
    await one.run(async next => expect(await lookup(next, input)).toEqual({status: 'new'}));
  });

  it('had released before: unknown to the second, until the record comes that the first still writes', async () => {
    let key = '';
    const {one, first, second} = await two(async journal => {
      const entry = await begin(journal, input);
      await entry.commit(hash);
      key = entry.idempotencyKey;
      finish = () => entry.recordStored('{"id":"a"}');
    });
    expect(await lookup(second, input)).toEqual({status: 'unknown', key});
    await finish();
    // From here on it knows, and appends nothing more.
    const before = await one.text();
    await expect(begin(first, inputOf('b.png'))).rejects.toMatchObject({code: 'journal_in_use'});
    expect(await one.text()).toBe(before);
    await second.close();
    await one.run(async next =>
      expect(await lookup(next, input)).toMatchObject({received: {json: '{"id":"a"}'}}),
    );
  });
  let finish = async () => {};

  it('has two more results: by the first it knows, the second it does not write, not even at its end', async () => {
    const results: (() => Promise<void>)[] = [];
    const {one, first, second} = await two(async journal => {
      for (const released of [input, inputOf('b.png')]) {
        const entry = await begin(journal, released);
        await entry.commit(sha256(released.content));
        results.push(() => entry.recordStored('{"id":"a"}'));
      }
    });
    await results[0]?.();
    const before = await one.text();
    await expect(results[1]?.()).rejects.toMatchObject({code: 'journal_in_use'});
    await first.close();
    expect(await one.text()).toBe(before);
    expect(await upload(second, inputOf('c.png'), 'done')).not.toBe('');
  });

  it('was refused what the second has sent meanwhile: stays unknown', async () => {
    let fail = async () => {};
    const {one, second} = await two(async journal => {
      const entry = await begin(journal, input);
      await entry.commit(hash);
      fail = () => entry.recordFailure({code: 'rejected', message: 'no'});
    });
    const again = await begin(second, input);
    await again.commit(hash);
    await fail();
    await second.close();
    const key = again.idempotencyKey;
    await one.run(async next => expect(await lookup(next, input)).toEqual({status: 'unknown', key}));
  });

  it('the line by which the second begins comes in two parts, of which one is behind a commit: the next is refused', async () => {
    const one = await bench();
    let half = '';
    const wrap = (handle: JournalHandle) =>
      changedHandle(handle, {
        write: async (...parameters) => {
          const written = await handle.write(...parameters);
          if (half !== '') await appendFile(one.path, half);
          half = '';
          return written;
        },
      });
    const first = await one.open({wrap});
    const [sent, next] = [await begin(first, input), await begin(first, inputOf('b.png'))];
    half = '{"event":"open",';
    await sent.commit(hash);
    await appendFile(one.path, '"by":"another","at":"2026-01-02T00:00:00.000Z"}\n');
    await expect(next.commit(sha256('content of b.png'))).rejects.toMatchObject({code: 'journal_in_use'});
  });

  it('the second begins right behind its first line: refused, since only the last may send', async () => {
    const one = await bench();
    const datasync = () =>
      appendFile(one.path, '{"event":"open","by":"another","at":"2026-01-02T00:00:00.000Z"}\n');
    await expect(one.open({wrap: handle => changedHandle(handle, {datasync})})).rejects.toMatchObject({
      code: 'journal_in_use',
    });
  });

  it('the second goes on between its lines', async () => {
    const {one, second} = await two();
    for (let count = 0; count < 3; count += 1) {
      await appendFile(one.path, `{"event":"alive","by":"another","at":"2026-01-01T00:00:00.000Z"}\n`);
      await upload(second, inputOf(`${count}.png`), 'done', `med_${count}`);
    }
    for (let count = 0; count < 3; count += 1)
      expect(await lookup(second, inputOf(`${count}.png`))).toMatchObject({
        received: {json: `{"id":"med_${count}"}`},
      });
  });

  it('20 times two at once on a journal without a lock file: at most one may send', async () => {
    for (let time = 0; time < 20; time += 1) {
      const one = await bench();
      // As a bind mount of the file alone: each has a lock of its own.
      const hosts = [one.host, elsewhere(one)].map(afterSilence);
      const released: number[] = [];
      const opened = hosts.map(host => openJournal(one.path, host, {scope}).catch(() => undefined));
      await Promise.all(
        opened.map(async (opening, number) => {
          const journal = await opening;
          if (journal === undefined) return;
          await new Promise(resolve => setTimeout(resolve, 4 * Math.random()));
          const admission = await journal.beginUpload(input, sourceOf(input)).catch(() => undefined);
          if (admission?.status === 'new')
            await admission.log.commit(hash).then(
              () => released.push(number),
              () => {},
            );
          // None ends before the other has begun.
          await Promise.all(opened);
          await journal.close().catch(() => {});
        }),
      );
      expect(released.length).toBeLessThanOrEqual(1);
    }
  });
});

describe('a journal that changes under a run', () => {
  it.each([
    ['removed', (path: string) => rm(path), 'was removed'],
    [
      'replaced by a copy',
      async (path: string) => {
        await writeFile(`${path}.copy`, await readFile(path));
        await rename(`${path}.copy`, path);
      },
      'was replaced by another file',
    ],
    ['cut short', (path: string) => truncate(path, 100), 'was cut short'],
    [
      'written over',
      async (path: string) => writeFile(path, Buffer.alloc((await stat(path)).size + 2000, 32)),
      'was written over',
    ],
  ])('%s: nothing more is released', async (_name, change, how) => {
    const one = await bench();
    const journal = await open(one, one.host);
    await upload(journal, inputOf('before.png'), 'done');
    const entry = await begin(journal, input, largeSourceOf(input));
    // Its intent stands before the change.
    while (!(await one.text()).includes('"path":"a.png"'));
    await change(one.path);
    await expect(entry.commit(hash)).rejects.toMatchObject({
      code: 'journal_failed',
      message: `The journal ${one.path} ${how} while it was in use.`,
    });
    await expect(begin(journal, inputOf('next.png'))).rejects.toMatchObject({code: 'journal_failed'});
  });
});

it('a journal that is written over right behind a commit, as by another machine: not released', async () => {
  const one = await bench();
  let isOver = false;
  const wrap = (handle: JournalHandle) =>
    changedHandle(handle, {
      write: async (...parameters) => {
        const written = await handle.write(...parameters);
        if (isOver) await writeFile(one.path, Buffer.alloc((await stat(one.path)).size, 32));
        return written;
      },
    });
  const entry = await begin(await one.open({wrap}), input);
  isOver = true;
  await expect(entry.commit(hash)).rejects.toMatchObject({
    code: 'journal_failed',
    message: expect.stringContaining('was written over'),
  });
});

describe('a holder that nobody here can judge', () => {
  const started = async (path?: 'lock') => {
    const one = await bench();
    const journal = await open(one, elsewhere(one));
    const key = await upload(journal, input, 'commit');
    if (path === undefined) await rm(`${one.path}.lock`);
    return {one, key, watched: path === undefined ? one.path : `${one.path}.lock`};
  };

  it.each(['lock', undefined] as const)(
    'that shows that it lives (%s): refused, without a byte written',
    async path => {
      const {one, watched} = await started(path);
      const notes: string[] = [];
      const before = await one.text();
      const line = '{"event":"alive","by":"another","at":"2026-01-01T00:00:00.000Z"}\n';
      const note = (text: string) => {
        notes.push(text);
        void (path === undefined ? appendFile(watched, line) : age(watched, -1));
      };
      await expect(withWords(open(one, one.host, {note}))).rejects.toMatchObject({
        code: 'journal_in_use',
        hint: 'Wait until that run has ended, or use another journal.',
      });
      expect(notes).toEqual([expect.stringContaining('which may still be running')]);
      expect(await one.text()).toBe(path === undefined ? `${before}${line}` : before);
    },
  );

  it.each(['lock', undefined] as const)(
    'that is waited for (%s), when the run is stopped: ends at once, without a byte written',
    async path => {
      const {one} = await started(path);
      const before = await one.text();
      const [stop, reason] = [new Stop<Error>(), new Error('Ctrl-C')];
      const note = () => stop.abort(reason);
      await expect(open(one, one.host, {note, stop})).rejects.toBe(reason);
      expect(await one.text()).toBe(before);
    },
  );

  it.each(['lock', undefined] as const)(
    'that is waited for (%s), in many looks: said once, and then that it was taken over',
    async path => {
      const {one} = await started(path);
      const {clock} = one.host;
      let waitedMs = 0;
      const sleep = async () => {
        waitedMs += 20_000;
      };
      const notes: string[] = [];
      const waiting = {...clock, monotonic: () => clock.monotonic() + waitedMs, sleep};
      await open(one, {...one.host, clock: waiting}, {note: text => notes.push(text.slice(0, 12))});
      expect(notes).toEqual(['Waiting: the', 'The journal ']);
    },
  );

  it.each(['lock', undefined] as const)(
    'that was silent for 90 s (%s): taken over, with a note',
    async path => {
      const {one, key, watched} = await started(path);
      await age(one.path, 91);
      await age(watched, 91);
      const notes: string[] = [];
      const journal = await open(one, one.host, {note: text => notes.push(text)});
      expect(notes).toEqual([expect.stringMatching(/^The journal .* was taken over from process \d+ on /)]);
      expect(await lookup(journal, input)).toEqual({status: 'unknown', key});
    },
  );

  it('of the same place: one that lives is refused at once, also without its lock file', async () => {
    const one = await bench();
    await open(one, one.host);
    await rm(`${one.path}.lock`);
    // The end of a writer before it is not its end.
    await appendFile(one.path, '{"event":"close","by":"another","at":"2026-01-01T00:00:00.000Z"}\n');
    await expect(open(one, one.host, {note: expect.fail})).rejects.toMatchObject({code: 'journal_in_use'});
  });

  it('shows every 20 s that it lives, by a new time of its lock and, when idle, by a line', async () => {
    const one = await bench();
    const ticks: (() => void)[] = [];
    const every = (_ms: number, tick: () => void) => {
      ticks.push(tick);
      return () => {};
    };
    const clock = {...one.host.clock, every};
    const journal = await open(one, hostIn(one.directory, {clock}));
    for (const isBusy of [false, true]) {
      if (isBusy) await upload(journal, inputOf('a.png'), 'done');
      await age(`${one.path}.lock`, 60);
      const before = await stat(`${one.path}.lock`);
      for (const tick of ticks) tick();
      await eventually(async () => (await stat(`${one.path}.lock`)).mtimeMs !== before.mtimeMs);
      await eventually(async () => (await one.text()).includes('"event":"alive"'));
    }
    expect(JSON.parse(await readFile(`${one.path}.lock`, 'utf8'))).toMatchObject({pid: process.pid});
  });
});
