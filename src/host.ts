import {randomUUID} from 'node:crypto';
import {createReadStream, fstatSync, readFileSync, readlinkSync} from 'node:fs';
import {homedir, hostname, tmpdir} from 'node:os';
import type {Readable, Writable} from 'node:stream';
import {systemFiles} from './lib/files/file-system.ts';
import {systemCode, undefinedIfThrows} from './lib/system-code.ts';

/** The variables of ours that contain a secret. */
export const secretVariables = ['MEDIA_API_KEY', 'MEDIA_CLIENT_KEY_PASSPHRASE'];

/** The signals that end a run, by default with the exit statuses 130, 143 and 129. */
export const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export type EndSignal = (typeof endSignals)[number];

/** Tells everything that waits or sends to stop, and why: the part of AbortSignal that is used here. */
export interface StopSignal<Reason = unknown> {
  readonly aborted: boolean;
  /** Undefined until it is aborted. */
  readonly reason: Reason | undefined;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void, options?: {once?: boolean}): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Time, as the rest of the program sees it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds on a clock that never jumps; only differences are meaningful. */
  monotonic(): number;
  /** Milliseconds that this process has waited for events; only differences are meaningful. */
  idle(): number;
  /** Calls `action` once after `ms` milliseconds; returns the function that cancels it. */
  after(ms: number, action: () => void): () => void;
  /** Calls `action` every `ms` milliseconds until the returned function is called; never keeps the process alive. */
  every(ms: number, action: () => void): () => void;
  /** Resolves after `ms` milliseconds, or rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: StopSignal): Promise<void>;
}

/** A stream that may be a terminal. */
export interface TerminalOutput extends Writable {
  readonly isTTY?: boolean;
  /** Width in character cells; 0 on some terminals that do not report it. */
  readonly columns?: number;
}

/** Everything outside the program: streams, environment, time, randomness and signals. */
export type Host = Readonly<ReturnType<typeof systemHost>>;

/** The longest time that setTimeout() can wait, in milliseconds. */
const longestTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  // performance.now() would load another module.
  monotonic: () => Number(process.hrtime.bigint()) / 1e6,
  idle: () => performance.eventLoopUtilization().idle,
  // setTimeout() takes no longer times.
  after(ms, action) {
    if (ms <= longestTimerMs) {
      const timer = setTimeout(action, ms);
      return () => clearTimeout(timer);
    }
    let cancel = systemClock.after(longestTimerMs, () => {
      cancel = systemClock.after(ms - longestTimerMs, action);
    });
    return () => cancel();
  },
  every(ms, action) {
    const timer = setInterval(action, ms);
    timer.unref();
    return () => clearInterval(timer);
  },
  /** See Clock.sleep. In either case, no timer and no listener is left behind. */
  sleep(ms, signal) {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const onAbort = () => {
        cancel();
        reject(signal?.reason);
      };
      const cancel = systemClock.after(ms, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      signal?.addEventListener('abort', onAbort, {once: true});
    });
  },
};

/** Makes UUIDs. The first comes from the kernel: a small upload needs one, and node:crypto takes 12 ms to load. */
function uuidSource(): () => string {
  let isFirst = true;
  return () => {
    const read = () => readFileSync('/proc/sys/kernel/random/uuid', 'latin1').trim();
    const uuid = isFirst ? undefinedIfThrows(read) : undefined;
    isFirst = false;
    return uuid ?? randomUUID();
  };
}

/** Resolves once events that are already there have been handled, such as data that a socket has received. */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve));
}

/** The system that this process runs on; what it does not report is undefined. */
export function systemHost() {
  return {
    // Node opens each stream when it is first used; a library that does not use them leaves them closed.
    get stdin(): Readable & {readonly isTTY?: boolean} {
      // Node takes a directory for an empty stream; reading it fails.
      const isDirectory = undefinedIfThrows(() => fstatSync(0).isDirectory());
      return isDirectory ? createReadStream('', {fd: 0, autoClose: false}) : process.stdin;
    },
    get stdout(): TerminalOutput {
      return process.stdout;
    },
    get stderr(): TerminalOutput {
      return process.stderr;
    },
    /** Whether standard output is a pipe or a socket: its reader may write to the same terminal as standard error. */
    isStdoutPiped(): boolean {
      const stats = undefinedIfThrows(() => fstatSync(1));
      return stats !== undefined && (stats.isFIFO() || stats.isSocket());
    },
    /** Whether the shell runs this program in the background, and another one uses the terminal; only Linux says so. */
    isInBackground(): boolean {
      // The 5th field is the process group, the 8th the foreground group, if there is a terminal.
      const [, , group, , , foreground] = statFields('self') ?? [];
      return group !== undefined && Number(foreground) > 0 && group !== foreground;
    },
    /** The device and inode of the regular file that a standard stream comes from or goes to, if it does. */
    fileOf(stream: 'stdin' | 'stdout'): string | undefined {
      const stats = undefinedIfThrows(() => fstatSync(stream === 'stdin' ? 0 : 1, {bigint: true}));
      return stats?.isFile() ? `${stats.dev}:${stats.ino}` : undefined;
    },
    env: process.env as Readonly<Record<string, string | undefined>>,
    platform: process.platform,
    clock: systemClock,
    files: systemFiles,
    /** The base of relative paths: the working directory, or `.` if that was removed or its path is not UTF-8. */
    cwd(): string {
      const path = undefinedIfThrows(() => process.cwd());
      // Read as text, such a path would name another directory.
      return path === undefined || path.includes('\ufffd') ? '.' : path;
    },
    /** Empty if neither the environment nor the system names one. */
    homeDirectory: () => undefinedIfThrows(homedir) ?? '',
    temporaryDirectory: () => tmpdir(),
    hostName: () => hostname(),
    /** The path of the Node executable that runs this program. */
    nodePath: () => process.execPath,
    processId: (): number => process.pid,
    /** Identifies the last start of the machine. */
    bootId: () => undefinedIfThrows(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    /** Identifies the set of processes in which process ids are unique. */
    pidNamespace: () => undefinedIfThrows(() => readlinkSync('/proc/self/ns/pid')),
    /** When a process began, which distinguishes it from others with the same id. */
    processStart(pid: number): string | undefined {
      const fields = statFields(pid);
      // The 22nd field. On other systems than Linux, a process knows only its own.
      if (fields !== undefined) return fields[19];
      return pid === process.pid ? String(performance.timeOrigin) : undefined;
    },
    /** Whether a process with this id runs on this machine; a zombie does not. */
    isProcessAlive(pid: number): boolean {
      if (statFields(pid)?.[0] === 'Z') return false;
      try {
        process.kill(pid, 0);
        return true;
      } catch (error) {
        // The process of another user cannot be signalled.
        return systemCode(error) === 'EPERM';
      }
    },
    nextTurn,
    /** The processor time that this process has used, in milliseconds. */
    processorTime(): number {
      const {user, system} = process.cpuUsage();
      return (user + system) / 1000;
    },
    /** The numeric user id; undefined on platforms without user ids. */
    userId: () => process.getuid?.(),
    /** The numeric id of the user's primary group; undefined on platforms without such ids. */
    groupId: () => process.getgid?.(),
    /** A number in [0, 1). */
    random: () => Math.random(),
    /** A random UUID (RFC 9562, version 4). */
    uuid: uuidSource(),
    /** Calls `listener` for each end signal instead of ending the process; returns a function that stops listening. */
    onEndSignal(listener: (signal: EndSignal) => void): () => void {
      let last: EndSignal | undefined;
      let lastMs = 0;
      const listen = (signal: EndSignal) => {
        const now = systemClock.monotonic();
        // GNU timeout signals a program, and then its group: within 100 ms, that is one signal.
        const isRepeat = signal === last && now - lastMs < 100;
        [last, lastMs] = [signal, now];
        if (!isRepeat) listener(signal);
      };
      for (const signal of endSignals) process.on(signal, listen);
      return () => {
        for (const signal of endSignals) process.off(signal, listen);
      };
    },
    /** Stops this process and its job until the shell continues them, as Ctrl-Z does. Call it in raw mode only. */
    suspend(): void {
      process.stdin.setRawMode(false);
      process.kill(0, 'SIGTSTP');
      process.stdin.setRawMode(true);
    },
    /** Calls `listener` for each SIGUSR2, if the platform has it; returns a function that stops listening. */
    onStatusSignal(listener: () => void): () => void {
      if (process.platform === 'win32') return () => {};
      process.on('SIGUSR2', listener);
      return () => process.off('SIGUSR2', listener);
    },
  };
}

/** The fields of proc_pid_stat(5) from the 3rd on, the state; the 2nd, the program's name, may contain anything. */
function statFields(pid: number | 'self'): string[] | undefined {
  const stat = undefinedIfThrows(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}
