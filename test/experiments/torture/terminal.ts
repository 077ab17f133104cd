import type {Sandbox} from '../../support/media.ts';
import {runOnTerminal} from '../../support/terminal.ts';

/** Everything that `media` writes to a terminal, which it may neither colour nor animate, and its exit status. */
export async function runOnPlainTerminal(
  box: Sandbox,
  parameters: readonly string[],
): Promise<{output: string; exitCode: number}> {
  const env = {TERM: 'dumb', NO_COLOR: '1'};
  const {output, exitCode} = await runOnTerminal(box, parameters, {columns: 200, env});
  // The terminal's own line discipline writes CR LF for each line feed.
  return {output: output.replaceAll('\r\n', '\n'), exitCode};
}
