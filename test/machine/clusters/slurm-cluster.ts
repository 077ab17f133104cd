import {randomBytes} from 'node:crypto';
import {mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {hostname, tmpdir, userInfo} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {eventually} from '../../support/eventually.ts';
import {freePort} from '../../support/free-ports.ts';
import type {Program} from '../../support/installed.ts';
import {slowTest} from '../../support/patience.ts';
import {type Batch, succeed} from './batch.ts';

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

/** Between two looks at the queue, each of which starts a program. */
const patience = {pauseMs: 500};

/** What Slurm says of one task of an array. */
export interface Task {
  id: number;
  state: string;
  exitCode: string;
  restarts: number;
}

/** A Slurm of its own: a controller and two nodes of two processors on this machine, for batches one after the other. */
export class SlurmCluster {
  readonly #directory: string;
  readonly #env: Record<string, string>;
  /** Each ends a daemon. */
  readonly #ends: (() => Promise<unknown>)[] = [];
  #ended: Error | undefined;

  constructor(directory: string, configuration: string) {
    this.#directory = directory;
    this.#env = {PATH: process.env['PATH'] ?? '', HOME: directory, SLURM_CONF: configuration};
  }

  /** Runs one of Slurm's commands; resolves to what it printed. */
  async run(file: string, ...parameters: string[]): Promise<string> {
    return (await execa(file, parameters, {env: this.#env, extendEnv: false, stdin: 'ignore'})).stdout;
  }

  /** Submits a script of a batch, which runs in the batch's directory and environment; resolves to the job's number. */
  submit(batch: Batch, script: string, ...parameters: string[]): Promise<string> {
    const env = {...this.#env, ...batch.machine.env};
    return succeed(batch, ['sbatch', '--parsable', ...parameters, script], {env});
  }

  /** Waits until no task of a job is left in the queue; resolves to what became of them, in their order. */
  async finished(job: string): Promise<Task[]> {
    await eventually(
      async () => (await this.run('squeue', '--noheader', '--states=all')).includes(job),
      patience,
    );
    await eventually(async () => (await this.run('squeue', '--noheader')) === '', patience);
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
    const options = {
      cwd: this.#directory,
      env: this.#env,
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
    } as const;
    const daemon = execa(file, parameters, {...options, ...slowTest});
    this.#ends.push(async () => {
      daemon.kill();
      await daemon;
    });
    void daemon.then(({stderr}) => {
      this.#ended ??= new Error(`${file} has ended: ${stderr}`);
    });
  }

  /** Ends what runs, then the daemons: no job outlives its cluster. */
  async close(): Promise<void> {
    await this.run('scancel', '--partition=all');
    await eventually(async () => (await this.run('squeue', '--noheader')) === '', patience);
    for (const end of this.#ends.toReversed()) await end();
    await rm(this.#directory, {recursive: true});
  }

  /** Waits until one of Slurm's commands prints what it should; rejects when a daemon has ended. */
  async prints(text: string, ...[file, ...parameters]: [string, ...string[]]): Promise<void> {
    await eventually(async () => {
      if (this.#ended !== undefined) throw this.#ended;
      return this.run(file, ...parameters).then(
        stdout => stdout.startsWith(text),
        () => false,
      );
    }, patience);
  }
}

/** Starts Slurm in a directory of its own, and waits until its nodes take work. */
export async function startSlurm(): Promise<SlurmCluster> {
  const directory = await mkdtemp(join(tmpdir(), 'media-slurm-'));
  for (const name of ['state', 'spool-n1', 'spool-n2']) await mkdir(join(directory, name), {recursive: true});
  const configuration = join(directory, 'slurm.conf');
  const template = await readFile(new URL('slurm.conf', import.meta.url), 'utf8');
  const values: Record<string, string> = {
    DIR: directory,
    HOST: hostname().split('.')[0] ?? '',
    USER: userInfo().username,
    CONTROLLER_PORT: String(await freePort()),
    NODE1_PORT: String(await freePort()),
    NODE2_PORT: String(await freePort()),
  };
  await writeFile(
    configuration,
    template.replace(/@([A-Z0-9_]+)@/g, (_, name: string) => values[name] ?? ''),
  );
  const key = join(directory, 'munge.key');
  await writeFile(key, randomBytes(1024), {mode: 0o600});

  const cluster = new SlurmCluster(directory, configuration);
  const socket = join(directory, 'munge.socket');
  const files = ['pid', 'seed'].map(name => `--${name}-file=${join(directory, `munge.${name}`)}`);
  // By force, since it wants a directory that everybody may enter, so that other users reach its socket.
  cluster.start('munged', '--foreground', '--force', `--socket=${socket}`, `--key-file=${key}`, ...files);
  await cluster.prints('MUNGE:', 'munge', '--socket', socket, '--no-input');
  cluster.start('slurmctld', '-D');
  for (const node of ['n1', 'n2']) cluster.start('slurmd', '-D', '-N', node);
  await cluster.prints('2 idle', 'sinfo', '--noheader', '--format=%D %t');
  return cluster;
}
