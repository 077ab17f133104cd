import {fstatSync} from 'node:fs';
import {homedir, hostname, tmpdir} from 'node:os';
import type {Readable, Writable} from 'node:stream';
import {systemCode} from './lib/system-code.ts';
import {uuidSource} from './lib/uuid.ts';

/** The signals that end a run: SIGINT (130), SIGTERM (143), SIGHUP (129). */
export type EndSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** Tells those who wait or send that it is over, and why; as much of an AbortSignal as they use. */
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
  /** Milliseconds on a clock that never jumps; only differences mean anything. */
  monotonic(): number;
  /** Calls `action` once after `ms` milliseconds; returns the function that cancels it. */
  after(ms: number, action: () => void): () => void;
  /** Calls `action` every `ms` milliseconds until the returned function is called; never keeps the process alive. */
  every(ms: number, action: () => void): () => void;
  /** Resolves after `ms` milliseconds, or rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: StopSignal): Promise<void>;
}

/** A stream that may be a terminal. */
export interface TerminalInput extends Readable {
  readonly isTTY?: boolean;
}

export interface TerminalOutput extends Writable {
  readonly isTTY?: boolean;
  /** Width in character cells; 0 on some terminals that do not know. */
  readonly columns?: number;
}

/** Everything outside the program: streams, environment, time, chance and signals. */
export interface Host {
  readonly stdin: TerminalInput;
  readonly stdout: TerminalOutput;
  readonly stderr: TerminalOutput;
  /** Whether standard output is a pipe or a socket: what reads it may write to the terminal of standard error. */
  isStdoutPiped(): boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** From now on, programs that others start here get this environment, and nothing else of ours. */
  narrowEnvironment(env: Host['env']): void;
  readonly platform: NodeJS.Platform;
  readonly clock: Clock;
  /** What relative paths start from: the working directory by its path, or as `.` where it has none that is exact. */
  cwd(): string;
  homeDirectory(): string;
  temporaryDirectory(): string;
  hostName(): string;
  /** The Node that runs this program. */
  nodePath(): string;
  processId(): number;
  /** Tells this process from an earlier one of the same id. */
  processToken(): string;
  /** Whether a process of that id runs on this machine. */
  isProcessAlive(pid: number): boolean;
  /** The numeric user id, or undefined where the platform has none. */
  userId(): number | undefined;
  /** A number in [0, 1). */
  random(): number;
  /** A random UUID (RFC 9562, version 4). */
  uuid(): string;
  /** Calls `listener` for each end signal instead of ending; returns the function that stops listening. */
  onEndSignal(listener: (signal: EndSignal) => void): () => void;
  /** Calls `listener` for each SIGUSR2, where the platform has it; returns the function that stops listening. */
  onStatusSignal(listener: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  // performance.now() would load a module for it.
  monotonic: () => Number(process.hrtime.bigint()) / 1e6,
  after(ms, action) {
    const timer = setTimeout(action, Math.min(ms, 2 ** 31 - 1));
    return () => clearTimeout(timer);
  },
  every(ms, action) {
    const timer = setInterval(action, ms);
    timer.unref();
    return () => clearInterval(timer);
  },
  sleep(ms, signal) {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const onAbort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(
        () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
        Math.min(ms, 2 ** 31 - 1),
      );
      signal?.addEventListener('abort', onAbort, {once: true});
    });
  },
};

const endSignals: readonly EndSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** The Host of a real process. */
export function systemHost(): Host {
  return {
    // Node opens each of them at its first use, which is no business of a library that never comes to it.
    get stdin() {
      return process.stdin;
    },
    get stdout() {
      return process.stdout;
    },
    get stderr() {
      return process.stderr;
    },
    isStdoutPiped,
    env: process.env,
    narrowEnvironment,
    platform: process.platform,
    clock: systemClock,
    cwd: workingDirectory,
    homeDirectory: () => homedir(),
    temporaryDirectory: () => tmpdir(),
    hostName: () => hostname(),
    nodePath: () => process.execPath,
    processId: () => process.pid,
    processToken: () => String(performance.timeOrigin),
    isProcessAlive,
    userId: () => process.getuid?.(),
    random: () => Math.random(),
    uuid: uuidSource(),
    onEndSignal(listener) {
      for (const signal of endSignals) process.on(signal, listener);
      return () => {
        for (const signal of endSignals) process.off(signal, listener);
      };
    },
    onStatusSignal(listener) {
      if (process.platform === 'win32') return () => {};
      process.on('SIGUSR2', listener);
      return () => process.off('SIGUSR2', listener);
    },
  };
}

function narrowEnvironment(env: Host['env']): void {
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  Object.assign(process.env, env);
}

function isStdoutPiped(): boolean {
  try {
    const stats = fstatSync(1);
    return stats.isFIFO() || stats.isSocket();
  } catch {
    return false;
  }
}

/** The path of a directory that was removed cannot be asked for; what is not UTF-8 in one would name another directory. */
function workingDirectory(): string {
  try {
    const path = process.cwd();
    return path.includes('\ufffd') ? '.' : path;
  } catch {
    return '.';
  }
}

function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}
