import {spawn} from '@lydell/node-pty';
import {program, type Sandbox} from '../support/media.ts';

/** Everything that `media` writes to a terminal, which it may neither colour nor animate, and its exit status. */
export function runOnTerminal(
  box: Sandbox,
  parameters: readonly string[],
): Promise<{output: string; exitCode: number}> {
  const child = spawn(process.execPath, [program, ...parameters], {
    cols: 200,
    rows: 50,
    cwd: box.directory,
    env: {...box.env, TERM: 'dumb', NO_COLOR: '1', LANG: 'C.UTF-8'},
  });
  let output = '';
  child.onData(data => {
    output += data;
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), 60_000);
  return new Promise(resolve => {
    child.onExit(({exitCode, signal}) => {
      clearTimeout(timer);
      // The terminal's own line discipline writes CR LF for each line feed.
      resolve({output: output.replaceAll('\r\n', '\n'), exitCode: signal ? -signal : exitCode});
    });
  });
}
