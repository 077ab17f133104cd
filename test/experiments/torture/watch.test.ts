import {appendFile, readFile, rename} from 'node:fs/promises';
import {join} from 'node:path';
import {eventually} from '../../support/eventually.ts';
import {type Findings, onlyLong, type Trial, waitingExperiment} from '../../support/experiment/experiment.ts';
import {pause} from '../../support/experiment/fault-proxy.ts';
import {concurrently} from '../../support/experiment/tally.ts';
import {uniqueBytes} from '../../support/experiment/verdicts.ts';
import {heapIn, tellHeap} from '../../support/memory.ts';
import {commandWith, filesIn, findingsOf, patience, Watched} from './watched.ts';

/** Gives a file one name after the other. */
async function renameOften(directory: string, name: string, times: number): Promise<void> {
  let from = name;
  for (let time = 1; time <= times; time += 1) {
    const to = `${time}-${name}`;
    await rename(join(directory, from), join(directory, to));
    from = to;
  }
}

/**
 * Files that come all at once and are renamed on their way, past a service that dies meanwhile; one is answered last. That one
 * comes once the service is back: the first file after an outage is sent alone, and all others would wait for its answer.
 */
async function allAtOnce({scale}: Trial, ...parameters: string[]): Promise<Findings> {
  const [many, renamed, times] = scale === 'long' ? [3_000, 300, 40] : [150, 20, 5];
  let release = () => {};
  const held = new Promise<void>(resolve => {
    release = resolve;
  });
  let isDead = false;
  let isHeld = false;
  const heldSize = 4_001;
  const machine: Watched = await Watched.machine({
    at: async (moment, request) => {
      if (moment !== 'stored') return;
      if (!isDead && machine.server.stored.length > many / 3) {
        isDead = true;
        machine.server.die();
      }
      if (Number(request.headers['content-length']) !== heldSize) return;
      isHeld = true;
      await held;
    },
  });
  const watching = machine.watch(undefined, '--move-to', 'done', ...parameters);
  await watching.line({event: 'watching'});
  const names = Array.from({length: many}, (_, at) => `in/many/${at % 7}/${at}.png`);
  const storm = Array.from({length: renamed}, (_, at) => `${at}.png`);
  await concurrently(names, 50, async name => void (await machine.write(name)));
  await concurrently(storm, 10, async name => {
    await machine.write(`in/storm/${name}`);
    await renameOften(machine.path('in/storm'), name, times);
  });
  await watching.line({event: 'unavailable'});
  await machine.server.revive();
  await watching.line({event: 'available'});
  await machine.write('in/held.png', heldSize);
  await eventually(() => isHeld);
  await machine.emptied(machine.path('in'), () => ['held.png']);
  const wrong: string[] = [];
  // Its record is stored, but not confirmed.
  if ((await filesIn(machine.path('in'))).length === 0) wrong.push('disposed of before its record');
  release();
  await machine.emptied();
  wrong.push(...(await machine.wrong(machine.path('done'))));
  return findingsOf(wrong, machine.count);
}

for (const parameters of [[], ['--poll']])
  waitingExperiment(
    `${commandWith(parameters)}, files all at once, storms of renames, a service that dies and comes back: each stored once, moved after its record`,
    trial => allAtOnce(trial, ...parameters),
    parameters.length > 0 ? onlyLong() : undefined,
  );

waitingExperiment(
  'media watch: files that take 20 s to be written, with pauses of up to a second: each stored once, whole',
  async ({random}) => {
    const machine = await Watched.machine();
    const watching = machine.watch(undefined, '--settle', '2s');
    await watching.line({event: 'watching'});
    await concurrently(Array(20).keys(), 20, async at => {
      const bytes = uniqueBytes(200_000);
      machine.expect(`in/${at}.png`, bytes);
      const end = performance.now() + 20_000;
      let written = 0;
      while (written < bytes.length) {
        const size = performance.now() < end ? 1 + Math.floor(2_000 * random()) : bytes.length - written;
        await appendFile(machine.path(`in/${at}.png`), bytes.subarray(written, written + size));
        written += size;
        await pause(random() * 1_000);
      }
    });
    await eventually(
      () => watching.lines().filter(({status}) => status !== undefined).length === machine.count,
      patience,
    );
    return findingsOf(await machine.wrong(), machine.count);
  },
  onlyLong(),
);

waitingExperiment(
  'media watch: 3,000 files, killed again and again: each stored once and deleted after that, none lost',
  async ({random}) => {
    const machine = await Watched.machine();
    const names = Array.from({length: 3_000}, (_, at) => `in/${at % 9}/${at}.png`);
    const writing = concurrently(names, 20, async name => void (await machine.write(name)));
    const wrong: string[] = [];
    let kills = 0;
    for (; machine.server.stored.length < names.length; kills += 1) {
      const watching = machine.watch(undefined, '--delete');
      const [until, after] = [machine.server.stored.length + 1 + Math.floor(400 * random()), random() * 100];
      await eventually(() => machine.server.stored.length >= Math.min(until, names.length), patience);
      await pause(after);
      watching.child.kill('SIGKILL');
      await watching.child;
      await machine.server.idle();
      await writing;
      const left = await filesIn(machine.path('in'));
      if (left.length + machine.server.stored.length < names.length)
        wrong.push(`${left.length} left, ${machine.server.stored.length} stored`);
    }
    machine.watch(undefined, '--delete');
    await machine.emptied();
    wrong.push(...(await machine.wrong()));
    return findingsOf(wrong, machine.count, `${kills} kills`);
  },
  onlyLong(),
);

waitingExperiment(
  'media watch: 18,000 files, as in an hour with 5 a second: the heap stays as it is',
  async () => {
    const machine = await Watched.machine();
    machine.box.env['NODE_OPTIONS'] = tellHeap;
    const watching = machine.watch(undefined, '--delete');
    await watching.line({event: 'watching'});
    const heaps: number[] = [];
    for (let round = 1; round <= 20; round += 1) {
      const names = Array.from({length: 900}, (_, at) => `in/${round}/${at}.png`);
      await concurrently(names, 20, async name => void (await machine.write(name)));
      await machine.emptied();
      if (round !== 4 && round !== 20) continue;
      // The journal is closed after 2 s without a file.
      await pause(10_000);
      heaps.push(heapIn(watching.stderr));
    }
    const wrong = await machine.wrong();
    const [early = 0, late = 0] = heaps;
    const grown = Math.round((late - early) / 1024);
    // 73 bytes for each file.
    if (grown > 1_024) wrong.push(`the heap has grown by ${grown} KiB`);
    const note = `${Math.round(early / 1024)} KiB, ${grown} KiB more after 14,400 files`;
    return findingsOf(wrong, machine.count, note);
  },
  onlyLong(),
);

waitingExperiment(
  'media watch, 3,000 files that stay: less than 0.5 % of a core',
  async () => {
    const machine = await Watched.machine();
    const watching = machine.watch(undefined);
    await watching.line({event: 'watching'});
    const names = Array.from({length: 3_000}, (_, at) => `in/kept/${at}.png`);
    await concurrently(names, 20, async name => void (await machine.write(name)));
    const done = () =>
      new Set(watching.lines().flatMap(({file, record}) => (record === undefined ? [] : [file])));
    await eventually(() => done().size === names.length, patience);
    // New directories are looked at again, and the journal is closed.
    await pause(15_000);
    const [before, since] = [await cpuTime(watching.child.pid), performance.now()];
    await pause(60_000);
    const share = (100 * ((await cpuTime(watching.child.pid)) - before)) / (performance.now() - since);
    const wrong = await machine.wrong();
    if (share > 0.5) wrong.push(`${share.toFixed(2)} % of a core`);
    return findingsOf(wrong, machine.count, `${share.toFixed(3)} % of a core`);
  },
  onlyLong() ??
    (process.platform === 'linux' ? undefined : 'only Linux tells the CPU time of another process'),
);

/** The CPU time of a process, in milliseconds. */
async function cpuTime(pid: number | undefined): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /s, '').split(' ');
  // In ticks of 10 ms.
  return 10 * (Number(fields[11]) + Number(fields[12]));
}
