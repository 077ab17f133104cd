import {spawn} from '@lydell/node-pty';
import {afterTest} from './after-test.ts';
import {eventually} from './eventually.ts';
import {mediaCommand, type Sandbox} from './media.ts';

export interface TerminalOptions {
  columns?: number;
  rows?: number;
  env?: Record<string, string>;
  /** A shell command that receives the program's command line as "$@". */
  shell?: string;
}

/**
 * What runs first on the terminal. It prints the exit status and stays: 200 ms after the end of its process, node-pty drops what
 * has not been read.
 */
const shellOfTerminal = `trap : INT QUIT; sh -c "$0" sh "$@"; printf '\\033]ended %d\\007' $?; kill -STOP $$`;
// biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence begins with one
const endOfProgram = /\u001b\]ended (\d+)\u0007/;

/** Runs `media` on a new pseudo-terminal. */
export function onTerminal(
  box: Sandbox,
  parameters: readonly string[],
  {columns = 80, rows = 24, env = {}, shell = 'exec "$@"'}: TerminalOptions = {},
) {
  const child = spawn('sh', ['-c', shellOfTerminal, shell, ...mediaCommand, ...parameters], {
    cols: columns,
    rows,
    cwd: box.directory,
    env: {...box.env, TERM: 'xterm-256color', LANG: 'C.UTF-8', ...env},
  });
  let isGone = false;
  child.onExit(() => {
    isGone = true;
  });
  const kill = () => {
    if (!isGone) child.kill('SIGKILL');
  };
  afterTest(kill);
  let output = '';
  const end = new Promise<{exitCode: number; signal?: number}>(resolve => {
    child.onData(data => {
      output += data;
      const status = endOfProgram.exec(output)?.[1];
      if (status === undefined) return;
      output = output.replace(endOfProgram, '');
      kill();
      resolve(
        Number(status) > 128 ? {exitCode: 0, signal: Number(status) - 128} : {exitCode: Number(status)},
      );
    });
  });
  return {
    output: () => output,
    write: (text: string) => child.write(text),
    /** Resolves once the terminal shows the text. */
    shows: (text: string | RegExp) =>
      eventually(() => (typeof text === 'string' ? output.includes(text) : text.test(output))),
    end,
    pty: (child as unknown as {ptsName: string}).ptsName,
  };
}

/**
 * Runs `media` on a pseudo-terminal until it ends; resolves to the text on the terminal, and the exit status or minus
 * the signal.
 */
export async function runOnTerminal(
  box: Sandbox,
  parameters: readonly string[],
  options: TerminalOptions = {},
): Promise<{output: string; exitCode: number}> {
  const terminal = onTerminal(box, parameters, {columns: 100, rows: 50, ...options});
  const {exitCode, signal} = await terminal.end;
  return {output: terminal.output(), exitCode: signal ? -signal : exitCode};
}
