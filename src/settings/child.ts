import {type SpawnOptions, spawn} from 'node:child_process';
import type {Host, StopSignal} from '../host.ts';
import {childEnvironment} from '../lib/secrets/child-environment.ts';

/** A program to run for a line of text: a keychain, a password manager. */
export interface ChildRequest {
  /** A command line for the shell, or a program with its parameters. */
  command: string | {program: string; parameters: string[]};
  /** What it reads on standard input; nothing by default. */
  input?: string;
  /** Whether its standard error is ours, or nobody's. */
  stderr: 'inherit' | 'ignore';
  /** Its working directory: never the user's, which anybody may have filled. */
  cwd: string;
  timeoutMs: number;
  /** Aborted when nobody waits for it any more: it is killed then. */
  stop?: StopSignal | undefined;
  /** Whether its first line is all that is wanted: programs that it leaves running may keep its standard output open. */
  firstLineOnly?: boolean;
}

export type ChildEnd =
  | {kind: 'ended'; status: number | null; stdout: string}
  /** It was killed for taking too long. */
  | {kind: 'timeout'}
  /** It could not be started, or prints without end. */
  | {kind: 'failed'; reason: string};

const longestOutput = 64 * 1024;

/** How long a line may take to go on once the program that began it has ended. */
const lineEndMs = 1000;

/** Runs a program to its end or to the end of its time, whichever comes first; never rejects. */
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
      // What it started may live on and hold its end of the pipe; we do not wait for that.
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
