import {MediaError} from '../../errors.ts';
import type {Host, StopSignal} from '../../host.ts';
import {runChild} from '../../lib/child.ts';
import {type GlobalOptions, profileOption} from './hint-options.ts';
import {configDirectory} from './paths.ts';

/** Enough time to unlock a password manager or to touch a security key. */
const timeLimitMs = 60_000;

/**
 * Runs a profile's `key-command` and returns the first line of its output. The shell runs it in the settings directory,
 * without standard input; its standard error goes to ours. Rejects with `key_unavailable`; messages never contain the
 * output.
 */
export async function runKeyCommand(
  host: Host,
  command: string,
  globals: GlobalOptions,
  stop: StopSignal | undefined,
): Promise<string> {
  const unavailable = (how: string) =>
    new MediaError('key_unavailable', `The key-command of the profile ${how}.`, {
      hint: `Try it in a shell; this prints it: media config get key-command${profileOption({host, globals})}`,
    });
  const end = await runChild(host, {
    command,
    stderr: 'inherit',
    cwd: configDirectory(host),
    timeoutMs: timeLimitMs,
    stop,
    firstLineOnly: true,
  });
  stop?.throwIfAborted();
  if (end.kind === 'timeout') throw unavailable(`did not end within ${timeLimitMs / 1000} s`);
  if (end.kind === 'failed') throw unavailable(`could not be used: ${end.reason}`);
  if (end.status !== 0)
    throw unavailable(end.status === null ? 'was ended by a signal' : `ended with status ${end.status}`);
  const [line = ''] = end.stdout.toString().split(/\r?\n/);
  if (line.trim() === '') throw unavailable('printed no key');
  return line;
}
