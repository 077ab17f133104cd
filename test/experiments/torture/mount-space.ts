import {type ChildProcess, spawn, spawnSync} from 'node:child_process';
import {join} from 'node:path';
import {execa} from 'execa';
import {afterTest} from '../../support/after-test.ts';
import {whatIsMissing} from '../../support/installed.ts';
import {mediaCommand, type Sandbox} from '../../support/media.ts';

/** Why nobody can mount anything in a space of their own here, or undefined. */
export function cannotHaveMounts(): string | undefined {
  const missing = whatIsMissing(['mount', 'nsenter', 'umount', 'unshare']);
  if (missing !== undefined) return missing;
  const {status} = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt']);
  return status === 0 ? undefined : 'nothing may be mounted here, not even in a namespace';
}

/** Mounts that only the programs of the current test see; they are gone when it ends. */
export class MountSpace {
  readonly #holder: ChildProcess;

  private constructor(holder: ChildProcess) {
    this.#holder = holder;
    afterTest(() => void holder.kill('SIGKILL'));
  }

  static async open(): Promise<MountSpace> {
    const holder = spawn('unshare', ['-m', 'sh', '-c', 'echo; exec sleep 3600'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const space = new MountSpace(holder);
    await new Promise(resolve => holder.stdout.once('data', resolve));
    return space;
  }

  /** Runs `mount` or `umount`. */
  async run(...command: string[]): Promise<void> {
    await execa('nsenter', [...this.#entry, ...command]);
  }

  /** A machine whose programs run in it. */
  inside(box: Sandbox): Pick<Sandbox, 'start'> {
    const command = ['sh', '-c', 'cd "$0" && exec "$@"', box.directory, ...mediaCommand];
    return {
      start: (parameters, options) =>
        execa('nsenter', [...this.#entry, ...command, ...parameters], {
          ...{env: box.env, extendEnv: false, reject: false, stdin: 'ignore', stripFinalNewline: false},
          ...options,
        }) as ReturnType<Sandbox['start']>,
    };
  }

  /** Where a file of it is seen from outside. */
  path(inside: string): string {
    return join(`/proc/${this.#holder.pid}/root`, inside);
  }

  get #entry(): string[] {
    return ['-m', '-t', String(this.#holder.pid)];
  }
}
