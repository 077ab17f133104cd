import {type SpawnOptions, spawn} from 'node:child_process';
import type {Host, StopSignal} from '../host.ts';
import {childEnvironment} from '../lib/secrets/child-environment.ts';

/** A program that is run to get one line of text: a keychain, a password manager. */
export interface ChildRequest {
  /** A command line for the shell, or a program with its parameters. */
  command: string | {program: string; parameters: string[]};
  /** The text for its standard input; nothing by default. */
  input?: string;
  /** `inherit`: its standard error goes to ours. `ignore`: it is discarded. */
  stderr: 'inherit' | 'ignore';
  /** The working directory: never the user's, which may contain anybody's files. */
  cwd: string;
  timeoutMs: number;
  /** Kills the program when aborted. */
  stop?: StopSignal | undefined;
  /**
   * Whether only the first line counts. If so, the result does not wait for programs that keep standard output open in
   * the background.
   */
  firstLineOnly?: boolean;
}

export type ChildEnd =
  | {kind: 'ended'; status: number | null; stdout: string}
  /** Killed because it took too long. */
  | {kind: 'timeout'}
  /** It could not be started, printed too much, or was stopped. */
  | {kind: 'failed'; reason: string};

const longestOutput = 64 * 1024;

/** How long a line may continue after the program that started it has ended. */
const lineEndMs = 1000;

/** Runs a program until it ends, the time limit passes or it is stopped; never rejects. */
export function runChild(
  host: Host,
  {command, input = '', stderr, cwd, timeoutMs, stop, firstLineOnly = false}: ChildRequest,
): Promise<ChildEnd> {
  if (stop?.aborted) return Promise.resolve({kind: 'failed', reason: 'the run was ended'});
  const options: SpawnOptions = {
    cwd,
    env: childEnvironment(host.env),
    stdio: ['pipe', 'pipe', stderr],
    windowsHide: true,
  };
  const child =
    typeof command === 'string'
      ? spawn(command, {...options, shell: true})
      : spawn(command.program, command.parameters, options);
  return new Promise(resolve => {
    let stdout = '';
    let exit: {status: number | null} | undefined;
    let cancelLineEnd = () => {};
    const end = (result: ChildEnd) => {
      cancel();
      cancelLineEnd();
      stop?.removeEventListener('abort', onStop);
      // Programs that it started may keep their end of the pipe open; they are not waited for.
      child.stdout?.destroy();
      child.kill('SIGKILL');
      resolve(result);
    };
    const onStop = () => end({kind: 'failed', reason: 'the run was ended'});
    stop?.addEventListener('abort', onStop, {once: true});
    const cancel = host.clock.after(timeoutMs, () => end({kind: 'timeout'}));
    const endAtFirstLine = () => {
      if (!firstLineOnly || exit === undefined) return;
      const ended: ChildEnd = {kind: 'ended', ...exit, stdout};
      cancelLineEnd();
      if (exit.status !== 0 || stdout.includes('\n')) end(ended);
      else if (stdout !== '') cancelLineEnd = host.clock.after(lineEndMs, () => end(ended));
    };
    child.on('exit', status => {
      exit = {status};
      endAtFirstLine();
    });
    child.on('error', error => end({kind: 'failed', reason: error.message}));
    child.on('close', status => end({kind: 'ended', status, stdout}));
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
    child.stdout?.setEncoding('utf8').on('data', text => {
      stdout += text;
      if (stdout.length > longestOutput) end({kind: 'failed', reason: 'it printed more than a key'});
      else endAtFirstLine();
    });
  });
}
