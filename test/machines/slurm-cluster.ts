import {randomBytes} from 'node:crypto';
import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {hostname, userInfo} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {onTestFinished} from 'vitest';
import {freePorts} from '../support/free-ports.ts';
import type {Program} from '../support/installed.ts';
import {type Batch, eventually, succeed} from './batch.ts';

export const slurmPrograms: readonly Program[] = [
  'munged',
  'munge',
  'slurmctld',
  'slurmd',
  'sbatch',
  'scontrol',
  'squeue',
  'scancel',
  'sinfo',
];

/** Between two looks at the queue. */
const pauseMs = 200;

/** What Slurm says of one task of an array. */
export interface Task {
  id: number;
  state: string;
  exitCode: string;
  restarts: number;
}

/** A Slurm of its own, for the current test: a controller and two nodes of two processors on this machine. */
export class SlurmCluster {
  readonly #batch: Batch;
  readonly #env: Record<string, string>;
  #ended: Error | undefined;

  constructor(batch: Batch, configuration: string) {
    this.#batch = batch;
    this.#env = {...batch.machine.env, SLURM_CONF: configuration};
  }

  /** Runs one of Slurm's commands; resolves to what it printed. */
  run(...command: string[]): Promise<string> {
    return succeed(this.#batch, command, {env: this.#env});
  }

  /** Submits a script; resolves to the number of its job. */
  async submit(script: string, ...parameters: string[]): Promise<string> {
    return this.run('sbatch', '--parsable', ...parameters, script);
  }

  /** Waits until no task of a job is left in the queue; resolves to what became of them, in their order. */
  async finished(job: string): Promise<Task[]> {
    await eventually(
      async () => (await this.run('squeue', '--noheader', '--states=all')).includes(job),
      pauseMs,
    );
    await eventually(async () => (await this.run('squeue', '--noheader')) === '', pauseMs);
    const text = await this.run('scontrol', '--oneliner', 'show', 'job', job);
    const field = (line: string, name: string) => new RegExp(`\\b${name}=(\\S+)`).exec(line)?.[1] ?? '';
    return text
      .split('\n')
      .map(line => ({
        id: Number(field(line, 'ArrayTaskId')),
        state: field(line, 'JobState'),
        exitCode: field(line, 'ExitCode'),
        restarts: Number(field(line, 'Restarts')),
      }))
      .sort((one, other) => one.id - other.id);
  }

  /** Starts a daemon in the foreground, so that it is ours to end. */
  start(file: string, ...parameters: string[]): void {
    const daemon = execa(file, parameters, {...this.#batch.machine, env: this.#env, timeout: 300_000});
    onTestFinished(async () => {
      daemon.kill();
      await daemon;
    });
    void daemon.then(({stderr}) => {
      this.#ended ??= new Error(`${file} has ended: ${stderr}`);
    });
  }

  /** Waits until one of Slurm's commands prints what it should; rejects when a daemon has ended. */
  async prints(text: string, ...command: string[]): Promise<void> {
    await eventually(async () => {
      if (this.#ended !== undefined) throw this.#ended;
      return this.run(...command).then(
        stdout => stdout.startsWith(text),
        () => false,
      );
    }, pauseMs);
  }
}

/** Starts Slurm in a directory of the batch, and waits until its nodes take work; it ends with the test. */
export async function startSlurm(batch: Batch): Promise<SlurmCluster> {
  const directory = join(batch.directory, 'slurm');
  for (const name of ['state', 'spool-n1', 'spool-n2']) await mkdir(join(directory, name), {recursive: true});
  const configuration = join(directory, 'slurm.conf');
  const [controller, node1, node2] = await freePorts(3);
  const template = await readFile(new URL('slurm.conf', import.meta.url), 'utf8');
  const values: Record<string, string> = {
    DIR: directory,
    HOST: hostname().split('.')[0] ?? '',
    USER: userInfo().username,
    CONTROLLER_PORT: String(controller),
    NODE1_PORT: String(node1),
    NODE2_PORT: String(node2),
  };
  await writeFile(
    configuration,
    template.replace(/@([A-Z0-9_]+)@/g, (_, name: string) => values[name] ?? ''),
  );
  const key = join(directory, 'munge.key');
  await writeFile(key, randomBytes(1024), {mode: 0o600});

  const cluster = new SlurmCluster(batch, configuration);
  const socket = join(directory, 'munge.socket');
  const files = ['pid', 'seed'].map(name => `--${name}-file=${join(directory, `munge.${name}`)}`);
  // By force, since it wants a directory that everybody may enter, so that other users reach its socket.
  cluster.start('munged', '--foreground', '--force', `--socket=${socket}`, `--key-file=${key}`, ...files);
  await cluster.prints('MUNGE:', 'munge', '--socket', socket, '--no-input');
  cluster.start('slurmctld', '-D');
  for (const node of ['n1', 'n2']) cluster.start('slurmd', '-D', '-N', node);
  // Undone first, while the daemons are there: no job outlives its cluster.
  onTestFinished(async () => {
    await cluster.run('scancel', '--partition=all');
    await eventually(async () => (await cluster.run('squeue', '--noheader')) === '', pauseMs);
  });
  await cluster.prints('2 idle', 'sinfo', '--noheader', '--format=%D %t');
  return cluster;
}
