import {type ChildProcess, type SpawnOptions, spawn} from 'node:child_process';
import {type Host, type StopSignal, secretVariables} from '../host.ts';

/** A program that is run for what it prints: a keychain, a password manager, a clipboard. */
export interface ChildRequest {
  /** A command line for the shell, or a program with its parameters. */
  command: string | {program: string; parameters: readonly string[]};
  /** The text for its standard input; nothing by default. */
  input?: string;
  /** `inherit`: its standard error goes to ours. `ignore`: it is discarded. `pipe`: it is part of the result. */
  stderr: 'inherit' | 'ignore' | 'pipe';
  /** The working directory: never the user's, which may contain anybody's files. */
  cwd: string;
  timeoutMs: number;
  /** Kills the program when aborted. */
  stop?: StopSignal | undefined;
  /** Whether only the first line counts, so that programs which stay in the background are not waited for. */
  firstLineOnly?: boolean;
  /** Whether it gets an IPC channel, as our own child processes need it. */
  hasChannel?: boolean;
  /** The most bytes of standard output; 64 KiB by default. */
  longestOutput?: number;
}

export type ChildEnd =
  | {kind: 'ended'; status: number | null; stdout: Buffer; stderr: string}
  /** Killed because it took too long. */
  | {kind: 'timeout'}
  /** It could not be started, printed too much, or was stopped. */
  | {kind: 'failed'; reason: string; cause?: unknown};

const longestText = 64 * 1024;

const newline = 10;

/** How long a line may continue after the program that started it has ended. */
const lineEndMs = 1000;

/** Runs a program until it ends, the time limit passes or it is stopped; never rejects. */
export function runChild(host: Host, request: ChildRequest): Promise<ChildEnd> {
  const {input = '', timeoutMs, stop, firstLineOnly = false, longestOutput = longestText} = request;
  if (stop?.aborted) return Promise.resolve({kind: 'failed', reason: 'the run was stopped'});
  const child = start(host, request);
  return new Promise(resolve => {
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let exit: {status: number | null} | undefined;
    let cancelLineEnd = () => {};
    const end = (result: ChildEnd) => {
      cancel();
      cancelLineEnd();
      stop?.removeEventListener('abort', onStop);
      // Programs that it started may keep their end of the pipe open; they are not waited for.
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.kill('SIGKILL');
      resolve(result);
    };
    /** The result of a program that has ended, with what it has printed so far. */
    const endWith = (status: number | null): ChildEnd => {
      const text = Buffer.concat(stderr).toString();
      return {kind: 'ended', status, stdout: Buffer.concat(stdout), stderr: text};
    };
    const onStop = () => end({kind: 'failed', reason: 'the run was stopped'});
    stop?.addEventListener('abort', onStop, {once: true});
    const cancel = host.clock.after(timeoutMs, () => end({kind: 'timeout'}));
    /** With `firstLineOnly`: ends when the program has ended and its first line is complete, or late. */
    const endAtFirstLine = () => {
      if (!firstLineOnly || exit === undefined) return;
      const {status} = exit;
      cancelLineEnd();
      if (status !== 0 || stdout.some(chunk => chunk.includes(newline))) end(endWith(status));
      else if (stdout.length > 0) cancelLineEnd = host.clock.after(lineEndMs, () => end(endWith(status)));
    };
    child.on('exit', status => {
      exit = {status};
      endAtFirstLine();
    });
    child.on('error', cause => end({kind: 'failed', reason: cause.message, cause}));
    child.on('close', status => end(endWith(status)));
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
    child.stderr?.on('data', bytes => {
      if (lengthOf(stderr) < longestText) stderr.push(bytes);
    });
    child.stdout?.on('data', bytes => {
      stdout.push(bytes);
      if (lengthOf(stdout) > longestOutput) end({kind: 'failed', reason: 'it printed too much'});
      else endAtFirstLine();
    });
  });
}

/** Starts the program without our secrets in its environment; a failure to start it comes as an `error` event. */
function start(host: Host, {command, stderr, cwd, hasChannel}: ChildRequest): ChildProcess {
  const options: SpawnOptions = {
    cwd,
    env: childEnvironment(host.env),
    stdio: ['pipe', 'pipe', stderr, ...(hasChannel ? ['ipc' as const] : [])],
    windowsHide: true,
  };
  return typeof command === 'string'
    ? spawn(command, {...options, shell: true})
    : spawn(command.program, command.parameters, options);
}

function lengthOf(chunks: readonly Buffer[]): number {
  return chunks.reduce((sum, {length}) => sum + length, 0);
}

/** The environment for a program that we start: without our secrets, and without passwords for proxies. */
export function childEnvironment(env: Host['env']): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(env)
      // On Windows, names differ in case.
      .filter(([name]) => !secretVariables.includes(name.toUpperCase()))
      .map(([name, value]) => [name, /_proxy$/i.test(name) ? value?.replace(credentials, '$1') : value]),
  );
}

/** The part of a URL before the last @ of its host, with or without a scheme. */
const credentials = /^([a-z][a-z\d+.-]*:\/\/)?.*@/i;
