import {mkdir, readFile, stat, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {sandboxFor} from '../../../engine/service/program.ts';
import {type Container, cannotContain, startContained} from '../../../support/containers.ts';
import {experiment, onlyTorture, type Scale} from '../../../support/experiment/experiment.ts';
import {pauseBriefly} from '../../../support/experiment/fault-proxy.ts';
import {KeepingServer} from '../../../support/experiment/keeping-server.ts';
import {sha256Of, uniqueBytes} from '../../../support/experiment/verdicts.ts';
import type {Sandbox} from '../../../support/media.ts';

const files = 40;
const concurrency = 4;

/** What the program printed of one file, as `--ndjson` has it. */
interface Line {
  file: string;
  status: string;
}

/** A machine with files of its own, and the service that they go to. */
interface Scene {
  box: Sandbox;
  server: KeepingServer;
  /** Of each content, in hex, by the names of the files. */
  contents: Map<string, string>;
  /** Called once so many files are stored. */
  onStored: {count: number; act: () => void};
}

async function makeScene(): Promise<Scene> {
  const onStored = {count: Number.POSITIVE_INFINITY, act: () => {}};
  const server = await KeepingServer.start({
    at: moment => {
      if (moment === 'stored' && server.stored.length === onStored.count) onStored.act();
    },
  });
  const box = await sandboxFor(server.url);
  await mkdir(join(box.directory, 'files'));
  const contents = new Map<string, string>();
  for (let index = 0; index < files; index += 1) {
    const bytes = uniqueBytes(500 + 1_000 * index);
    await writeFile(join(box.directory, 'files', `${index}.png`), bytes);
    contents.set(`files/${index}.png`, sha256Of(bytes));
  }
  return {box, server, contents, onStored};
}

function commandWith(journal: string): string[] {
  return ['upload', '-r', 'files', '--journal', journal, '--ndjson', '-c', String(concurrency)];
}

/** How a run ended, and what it said of each file. */
interface Ended {
  exitCode: number | undefined;
  stderr: string;
  statuses: Map<string, string>;
}

async function ended(
  run: PromiseLike<{exitCode?: number | undefined; stdout: string; stderr: string}>,
): Promise<Ended> {
  const {exitCode, stdout, stderr} = await run;
  const lines = stdout
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Line);
  return {exitCode, stderr, statuses: new Map(lines.map(({file, status}) => [file, status]))};
}

/** What two runs on one journal came to. */
interface Verdict {
  broken: string[];
  /** How many of the two brought everything to its end. */
  finished: number;
  unknown: number;
}

/**
 * Holds two runs against the store, then lets a third one finish: no content is stored twice, none is told of as uploaded by both,
 * each run ends with a status that fits what it said, and at last everything is stored, or unknown where a run was followed.
 */
async function judge(
  {box, server, contents}: Scene,
  runs: readonly Ended[],
  journal: string,
): Promise<Verdict> {
  const broken: string[] = [];
  for (const [number, {exitCode, stderr, statuses}] of runs.entries()) {
    const seen = [...statuses.values()];
    const some = (...names: string[]) => seen.some(status => names.includes(status));
    const stored = some('uploaded', 'skipped');
    const isLeft = some('failed') || seen.length === 0;
    // Followed while its last files were on their way, whose records it may no longer write.
    const isUnrecorded = stderr.includes('the journal does not record it');
    const wanted = some('unknown') ? 5 : isLeft ? (stored ? 3 : 1) : isUnrecorded ? 1 : 0;
    if (exitCode !== wanted)
      broken.push(`run ${number + 1}: exit status ${exitCode}, not ${wanted}: ${stderr}`);
    if ((wanted === 1 || wanted === 3) && !/was taken over|is in use/.test(stderr))
      broken.push(`run ${number + 1}: ${stderr}`);
  }
  const last = await ended(box.run(commandWith(journal)));
  let unknown = 0;
  for (const [name, sha256] of contents) {
    const count = server.countOf(sha256);
    const status = last.statuses.get(name);
    if (status === 'unknown') unknown += 1;
    const sentBy = [...runs, last].filter(run => run.statuses.get(name) === 'uploaded').length;
    const isFine =
      status === 'unknown' ? count <= 1 : count === 1 && /^(uploaded|skipped)$/.test(status ?? '');
    if (!isFine || sentBy > 1)
      broken.push(`${name}: ${status} at last, stored ${count} times, uploaded by ${sentBy} runs`);
  }
  if (last.exitCode !== (unknown > 0 ? 5 : 0))
    broken.push(`at last: exit status ${last.exitCode}, ${last.stderr}`);
  if (unknown > concurrency) broken.push(`${unknown} unknown with ${concurrency} on their way`);
  const finished = runs.filter(({exitCode}) => exitCode === 0).length;
  return {broken, finished, unknown};
}

const starts: Record<Scale, number> = {short: 1, long: 200};

/** How a second run meets the journal of a first one that it may not see. */
interface Meeting {
  name: string;
  containers: (box: Sandbox, journal: string) => Promise<readonly [Container, Container]>;
  /** Whether a lock keeps them apart before anything is written: then one of them always finishes. */
  hasLock: boolean;
}

const bound = async (box: Sandbox, journal: string): Promise<readonly [string, string]> => {
  const other = join(box.directory, `bound-${journal}`);
  await mkdir(other);
  await writeFile(join(box.directory, journal), '');
  await writeFile(join(other, journal), '');
  return [join(box.directory, journal), join(other, journal)];
};

const meetings: Meeting[] = [
  {
    name: 'two containers of one host name and one journal',
    containers: async () => [{ownIds: true}, {ownIds: true}],
    hasLock: true,
  },
  {
    name: 'a container and its host on one journal',
    containers: async () => [{ownIds: false}, {ownIds: true}],
    hasLock: true,
  },
  {
    name: 'a journal file that is mounted into two containers',
    containers: async (box, journal) => [{ownIds: true}, {ownIds: true, bind: await bound(box, journal)}],
    hasLock: false,
  },
];

for (const {name, containers, hasLock} of meetings) {
  experiment(
    `${name}, started at random: each file is released by one of them`,
    async ({scale, random}) => {
      const broken: string[] = [];
      let held = 0;
      let finished = 0;
      let unknown = 0;
      for (let start = 0; start < starts[scale]; start += 1) {
        const scene = await makeScene();
        const journal = 'j';
        const [one, other] = await containers(scene.box, journal);
        const first = startContained(scene.box, commandWith(journal), one);
        await pauseBriefly(random() * 80);
        const path = other.bind?.[1] ?? journal;
        const second = startContained(scene.box, commandWith(path), other);
        const runs = await Promise.all([ended(first.child), ended(second.child)]);
        const verdict = await judge(scene, runs, journal);
        if (hasLock && verdict.finished === 0) verdict.broken.push('neither of them finished');
        await scene.server.close();
        if (verdict.broken.length === 0) held += 1;
        if (verdict.finished > 0) finished += 1;
        unknown += verdict.unknown;
        broken.push(...verdict.broken.map(line => `start ${start}: ${line}`));
      }
      if (finished < 0.9 * starts[scale]) broken.push(`one of them finished in ${finished} starts only`);
      return {
        ...{tried: starts[scale], held, broken},
        note: `of ${files} files each; one of them finished in ${finished}; ${unknown} files unknown`,
      };
    },
    (hasLock
      ? onlyTorture('a journal file that is mounted into two containers, and test/simulation')
      : undefined) ?? cannotContain(),
  );
}

/** Sets back the time of a file that is there, as if nobody had written to it for 91 s. */
async function age(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return;
  const time = found.mtimeMs / 1000 - 91;
  await utimes(path, time, time);
}

const stops: Record<Scale, number> = {short: 1, long: 200};

experiment(
  'a container that is stopped for 90 s, followed by another one, and woken: releases nothing more',
  async ({scale, random}) => {
    const broken: string[] = [];
    let held = 0;
    let followed = 0;
    let unknown = 0;
    for (let stop = 0; stop < stops[scale]; stop += 1) {
      const scene = await makeScene();
      const {box, server, onStored} = scene;
      const journal = join(box.directory, 'j');
      const isMounted = random() < 0.5;
      const other: Container = {ownIds: true, ...(isMounted ? {bind: await bound(box, 'j')} : {})};
      const reached = new Promise<void>(resolve => {
        Object.assign(onStored, {count: 1 + Math.floor(random() * (files - 5)), act: resolve});
      });
      const first = startContained(box, commandWith('j'), {ownIds: true});
      await reached;
      await pauseBriefly(random() * 5);
      await first.signal('SIGSTOP');
      const before = server.stored.length;
      await age(`${journal}.lock`);
      await age(journal);
      const second = startContained(box, commandWith(other.bind?.[1] ?? 'j'), other);
      const follower = await ended(second.child);
      const text = await readFile(journal, 'utf8');
      await first.signal('SIGCONT');
      const verdict = await judge(scene, [await ended(first.child), follower], 'j');
      if (before < files - concurrency && text.split('"event":"open"').length < 3)
        verdict.broken.push('the second has not followed the first');
      if (![0, 5].includes(follower.exitCode ?? -1))
        verdict.broken.push(`the second ended with ${follower.exitCode}`);
      await server.close();
      if (verdict.broken.length === 0) held += 1;
      if (before < files) followed += 1;
      unknown += verdict.unknown;
      broken.push(...verdict.broken.map(line => `stop ${stop}: ${line}`));
    }
    return {
      ...{tried: stops[scale], held, broken},
      note: `of ${files} files each; ${followed} followed with files left; ${unknown} files unknown at last`,
    };
  },
  onlyTorture('test/simulation') ?? cannotContain(),
);
