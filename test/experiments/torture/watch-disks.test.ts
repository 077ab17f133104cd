import {execFileSync} from 'node:child_process';
import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {eventually} from '../../support/eventually.ts';
import {type Findings, onlyLong, type Trial, waitingExperiment} from '../../support/experiment/experiment.ts';
import {cannotMount, smallDisk} from '../../support/experiment/small-disk.ts';
import {cannotHaveMounts, MountSpace} from './mount-space.ts';
import {commandWith, findingsOf, patience, Watched} from './watched.ts';

/** A disk that is unmounted under the watched directory, while a file of it waits for its record, and comes back; then one that is swapped. */
async function unmounted(...parameters: string[]): Promise<Findings> {
  let release = () => {};
  const held = new Promise<void>(resolve => {
    release = resolve;
  });
  const heldSize = 4_001;
  const machine: Watched = await Watched.machine({
    at: async (moment, request) => {
      if (moment === 'stored' && Number(request.headers['content-length']) === heldSize) await held;
    },
  });
  const space = await MountSpace.open();
  const [disk, directory] = [machine.path('disk'), machine.path('in')];
  await mkdir(disk);
  await space.run('mount', '-t', 'tmpfs', 'none', disk);
  await space.run('mount', '--bind', disk, directory);
  const inside = space.path(directory);
  const watching = machine.watch(space, '--move-to', 'done', ...parameters);
  await watching.line({event: 'watching'});
  await machine.write('before.png', 3_000, inside);
  const last = await machine.write('held.png', heldSize, inside);
  await machine.emptied(inside, () => ['held.png']);
  await eventually(() => machine.server.countOf(last) === 1);

  await space.run('umount', '--lazy', directory);
  release();
  await watching.line({file: 'in/held.png'});
  // What is under the mount is watched meanwhile.
  await eventually(() => watching.lines().filter(({event}) => event === 'watching').length === 2);
  await space.run('mount', '--bind', disk, directory);
  await machine.emptied(inside);

  for (const name of ['swapped', 'swapped again']) {
    await space.run('umount', '--lazy', directory);
    await space.run('mount', '-t', 'tmpfs', 'none', directory);
    await machine.write(`${name}.png`, 3_000, inside);
    await machine.emptied(inside);
  }
  return findingsOf(await machine.wrong(machine.path('done')), machine.count);
}

for (const parameters of [[], ['--poll']])
  waitingExperiment(
    `${commandWith(parameters)}, a disk that is unmounted and comes back, and others in its place: each file stored once and moved`,
    () => unmounted(...parameters),
    cannotHaveMounts() ?? (parameters.length > 0 ? onlyLong() : undefined),
  );

/** Grows a small disk. */
function freeSpace(disk: string): void {
  execFileSync('mount', ['-o', 'remount,size=64m', disk]);
}

/** Files whose journal, and then whose new place, is on a disk that is full until it is reported. */
async function fullDisks({scale}: Trial, ...parameters: string[]): Promise<Findings> {
  const count = scale === 'long' ? 1_000 : 30;
  const machine = await Watched.machine({honoursKeys: false});
  const [state, target] = [await smallDisk(8), await smallDisk(64)];
  machine.box.env['XDG_STATE_HOME'] = state;
  const watching = machine.watch(undefined, '--move-to', join(target, 'done'), ...parameters);
  await watching.line({event: 'watching'});
  for (let at = 0; at < count; at += 1) await machine.write(`in/${at}.png`, 6_000);
  const delayed = (code: string) =>
    eventually(
      () => watching.lines().some(({event, error}) => event === 'delayed' && error?.code === code),
      patience,
    );
  await delayed('journal_failed');
  freeSpace(state);
  await delayed('local_failure');
  freeSpace(target);
  // What was stored while nothing could be recorded is unknown to the next try, and stays.
  const unknown = () =>
    watching.lines().flatMap(({file, status}) => (file !== undefined && status === 'unknown' ? [file] : []));
  await machine.emptied(machine.path('in'), () => unknown().map(name => name.slice('in/'.length)));
  const wrong = await machine.wrong(join(target, 'done'), unknown());
  const ids = new Set(watching.lines().map(({record}) => record?.id));
  const unprinted = machine.server.stored.filter(({id}) => !ids.has(id));
  wrong.push(...unprinted.map(({id}) => `${id}: its record is not printed`));
  return findingsOf(wrong, count, `${unknown().length} unknown`);
}

for (const parameters of [[], ['--poll']])
  waitingExperiment(
    `${commandWith(parameters)}, a full disk under the journal, then one where files are moved to: each stored once and moved when there is space`,
    trial => fullDisks(trial, ...parameters),
    cannotMount() ?? (parameters.length === 0 ? onlyLong() : undefined),
  );
