import {chmod, cp, mkdir, readdir, readFile, writeFile} from 'node:fs/promises';
import {delimiter, dirname, join} from 'node:path';
import {execa, type Options} from 'execa';
import {expect} from 'vitest';
import {shardOf} from '../../../src/engine/sources/find/shard.ts';
import {png, sha256} from '../../embedded/support.ts';
import {embeddedService} from '../../support/embedded.ts';
import type {EmbeddedService} from '../../support/embedded-service.ts';
import {eventually} from '../../support/eventually.ts';
import {mediaInShell, type Sandbox, sandbox} from '../../support/media.ts';
import {slowTest} from '../../support/patience.ts';
import {type Gate, gateBefore} from './gate.ts';

/** As many parts as the recipes in docs/sharding.md make. */
export const shardCount = 8;

/** More than what two kernels hold for a connection that nobody reads, 10 MiB each by default. */
const unbufferable = 16 * 1024 * 1024;

interface BatchFile {
  /** Relative to the directory `assets`. */
  path: string;
  size: number;
  sha256: string;
  /** From 1. */
  shard: number;
}

/** 80 small files and a big one among them, no two alike, in a directory that all machines share, and a service. */
export class Batch {
  readonly sandbox: Sandbox;
  readonly service: EmbeddedService;
  readonly gate: Gate;
  readonly files: readonly BatchFile[];

  constructor(machine: Sandbox, service: EmbeddedService, gate: Gate, files: readonly BatchFile[]) {
    this.sandbox = machine;
    this.service = service;
    this.gate = gate;
    this.files = files;
  }

  get directory(): string {
    return this.sandbox.directory;
  }

  /** The file that is too big to be sent unnoticed. */
  get big(): BatchFile {
    return bigOf(this.files);
  }

  /** How a program is started on one of the machines, in the directory that they share. */
  get machine(): Options & {cwd: string; env: Record<string, string>} {
    const {directory: cwd, env} = this.sandbox;
    return {cwd, env, extendEnv: false, reject: false, ...slowTest, stdin: 'ignore'};
  }

  /** A checkout of the inputs elsewhere, with times of change of its own. */
  async checkout(directory: string): Promise<void> {
    await cp(join(this.directory, 'assets'), join(directory, 'assets'), {recursive: true});
  }

  /** The files before and after the big one in its part. */
  get beside(): {early: readonly BatchFile[]; late: readonly BatchFile[]} {
    return besideBig(this.files);
  }

  /**
   * Waits until the part with the big file is in its middle: all before it is stored and journalled, it is under way,
   * all after it has been put off.
   */
  async inMidBatch(journal: string): Promise<void> {
    const {early, late} = this.beside;
    await eventually(async () => {
      const text = await readFile(join(this.directory, journal), 'utf8').catch(() => '');
      const count = (event: string) => text.split(`{"event":"${event}"`).length - 1;
      return (
        count('done') === early.length &&
        count('failed') === late.length &&
        this.gate.arrivals(this.big.size) === 1
      );
    });
  }

  /** Sends a signal to the run that works on a journal, which its lock names. */
  async end(journal: string, signal: NodeJS.Signals): Promise<void> {
    process.kill(JSON.parse(await readFile(join(this.directory, `${journal}.lock`), 'utf8')).pid, signal);
  }

  /** What a run that goes on from there says at its end. */
  get summaryOfResumed(): string {
    const {early, late} = this.beside;
    return `${late.length + 1} uploaded, ${early.length} skipped, 0 failed, 0 unknown`;
  }

  /** Waits until the big file comes once more, from the run that goes on, and lets everything through. */
  async letResumedThrough(): Promise<void> {
    await eventually(() => this.gate.arrivals(this.big.size) === 2);
    this.gate.open();
  }

  /** Joins the journals and checks them against the inputs, then compares them with what the service stores. */
  async prove(directory = this.directory): Promise<void> {
    const journals = (await readdir(directory)).filter(name => /^part-\d+\.journal$/.test(name));
    const run = (...parameters: string[]) => this.sandbox.run(['journal', ...parameters], {cwd: directory});
    const proven = {
      exitCode: 0,
      stdout: '',
      stderr: `${this.files.length} inputs, each recorded exactly once.\n`,
    };
    expect(await run('merge', '-o', 'all.journal', ...journals)).toMatchObject(proven);
    expect(await run('check', 'all.journal', '--', './assets')).toMatchObject(proven);
    await this.expectEachStoredOnce();
    const {stdout} = await run('list', '--json', 'all.journal');
    const ids = stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line).record.id);
    expect(ids.sort()).toEqual((await this.service.records()).map(({record}) => record.id).sort());
  }

  /** The service does not know Idempotency-Key, so whatever came twice would be stored twice. */
  async expectEachStoredOnce(): Promise<void> {
    const stored = (await this.service.records()).map(record => record.sha256);
    expect(stored.sort()).toEqual(this.files.map(file => file.sha256).sort());
  }
}

/** A batch whose inputs and service are there; with `closed` the gate stops the part with the big file in its middle. */
export async function makeBatch({closed = false} = {}): Promise<Batch> {
  const machine = await sandbox();
  const files = await makeFiles(join(machine.directory, 'assets'));
  const {service, key} = await embeddedService({idempotency: false});
  const gate = await gateBefore(
    service.url,
    closed ? {hold: bigOf(files).size, putOff: besideBig(files).late.map(({size}) => size)} : undefined,
  );
  const bin = join(machine.directory, 'bin');
  await addProgram(join(bin, 'media'), `exec ${mediaInShell} "$@"`);
  Object.assign(machine.env, {
    PATH: [bin, machine.env['PATH']].join(delimiter),
    MEDIA_BASE_URL: gate.url,
    MEDIA_API_KEY: key,
  });
  return new Batch(machine, service, gate, files);
}

/** Each has a length of its own, by which the gate knows it. */
async function makeFiles(root: string): Promise<BatchFile[]> {
  const files: BatchFile[] = [];
  for (let index = 0; index < 81; index += 1) {
    const path = `set-${Math.floor(index / 20)}/photo-${String(index).padStart(3, '0')}.png`;
    const bytes = Buffer.concat([png(8, 8), Buffer.alloc(index === 40 ? unbufferable : index)]);
    await mkdir(dirname(join(root, path)), {recursive: true});
    await writeFile(join(root, path), bytes);
    const shard = shardOf(Buffer.from(path), shardCount);
    files.push({path, size: bytes.length, sha256: sha256(bytes), shard});
  }
  return files;
}

function bigOf(files: readonly BatchFile[]): BatchFile {
  const big = files.find(({size}) => size > unbufferable);
  if (big === undefined) throw new Error('The batch has no big file.');
  return big;
}

/** In a test of a part's middle there is something on both sides, and after it no more than can be sent at a time. */
function besideBig(files: readonly BatchFile[]) {
  const big = bigOf(files);
  const shard = files.filter(file => file.shard === big.shard);
  const [early, late] = [
    shard.filter(({path}) => path < big.path),
    shard.filter(({path}) => path > big.path),
  ];
  expect(early.length).toBeGreaterThan(0);
  expect(late.length).toBeGreaterThan(0);
  expect(late.length).toBeLessThan(8);
  return {early, late};
}

/** Writes a shell script that can be run. */
export async function addProgram(path: string, script: string): Promise<void> {
  await mkdir(dirname(path), {recursive: true});
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
}

/** Runs a program to its end; rejects, with what it printed, when it fails. */
export async function succeed(
  batch: Batch,
  [file = '', ...parameters]: readonly string[],
  options: Options = {},
): Promise<string> {
  const {stdout} = await execa(file, parameters, {...batch.machine, reject: true, ...options});
  return String(stdout);
}
