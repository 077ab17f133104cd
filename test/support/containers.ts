import {spawnSync} from 'node:child_process';
import {readFile} from 'node:fs/promises';
import {execa, type Options, type ResultPromise} from 'execa';
import {systemCode} from '../../src/lib/system-code.ts';
import {afterTest} from './after-test.ts';
import {whatIsMissing} from './installed.ts';
import {mediaCommand, type Sandbox} from './media.ts';
import {patienceMs} from './patience.ts';

const root = process.geteuid?.() === 0 ? [] : ['--map-root-user'];

/** How a container differs from its host. */
export interface Container {
  /** Whether its processes have separate ids, so that it cannot judge processes outside. */
  ownIds: boolean;
  /** A file that replaces another one in the container, as in `docker run -v FILE:FILE`. */
  bind?: readonly [from: string, to: string];
  /** Set if it has a separate host name. */
  hostName?: string;
}

/** Why no container can be created here; undefined if one can. */
export function cannotContain(): string | undefined {
  const missing = whatIsMissing(['unshare', 'mount']);
  if (missing !== undefined) return missing;
  const {status} = spawnSync('unshare', [...optionsOf({ownIds: true, hostName: 'x'}), 'true']);
  return status === 0 ? undefined : 'namespaces cannot be made here';
}

function optionsOf({ownIds, hostName}: Container): string[] {
  return [
    ...root,
    '--mount',
    ...(ownIds ? ['--pid', '--fork', '--kill-child', '--mount-proc'] : []),
    ...(hostName === undefined ? [] : ['--uts']),
  ];
}

/** A run of the program in a container. */
export interface Contained {
  child: ResultPromise<{reject: false; stripFinalNewline: false; encoding: 'utf8'}>;
  /** Sends a signal to the program itself, unless it has ended. */
  signal: (signal: NodeJS.Signals) => Promise<void>;
}

/** Starts the program in a container, until the test ends at the latest. */
export function startContained(
  box: Sandbox,
  parameters: readonly string[],
  container: Container,
  options: Options = {},
): Contained {
  const {bind: [from, to] = ['', ''], hostName = ''} = container;
  const script = [
    'if [ -n "$2" ]; then mount --bind "$2" "$3"; fi &&',
    'if [ -n "$1" ]; then echo "$1" > /proc/sys/kernel/hostname; fi &&',
    'shift 3 && exec "$@"',
  ].join(' ');
  const child = execa(
    'unshare',
    [
      ...optionsOf(container),
      ...['sh', '-c', script, 'sh', hostName, from, to, ...mediaCommand],
      ...parameters,
    ],
    {
      ...{cwd: box.directory, env: box.env, extendEnv: false, reject: false, stdin: 'ignore'},
      ...{stripFinalNewline: false, timeout: patienceMs},
      ...options,
    },
  ) as Contained['child'];
  afterTest(() => void child.kill('SIGKILL'));
  const processId = async () => {
    // Without separate ids, the child process has become the program itself.
    if (!container.ownIds) return String(child.pid);
    return readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').catch(() => '');
  };
  const signal = async (name: NodeJS.Signals) => {
    const id = Number(await processId());
    if (id === 0) return;
    try {
      process.kill(id, name);
    } catch (error) {
      // It has ended meanwhile.
      if (systemCode(error) !== 'ESRCH') throw error;
    }
  };
  return {child, signal};
}
