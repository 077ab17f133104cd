import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {constants} from 'node:os';
import {createInterface} from 'node:readline';
import {throwAs} from '../../src/errors.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** How `media` ended. */
export interface MediaEnd {
  /** As a shell counts it: 128 and more for a signal. */
  status: number;
  wasStopped: boolean;
}

/** Runs `media`; `shown` gets each line of its output and returns what is printed, if anything. A signal to this process goes to `media`. */
export async function runMedia(
  executable: string,
  parameters: readonly string[],
  env: NodeJS.ProcessEnv,
  shown?: (line: string) => string | undefined,
): Promise<MediaEnd> {
  const child = spawn(executable, parameters, {
    env,
    stdio: ['ignore', shown === undefined ? 'inherit' : 'pipe', 'inherit'],
  });
  const passOn = (signal: NodeJS.Signals) => void child.kill(signal);
  for (const signal of signals) process.on(signal, passOn);
  try {
    const hint = 'The directory that RUNNER_TEMP names must allow programs to be executed.';
    await once(child, 'spawn').catch(throwAs('local_failure', `${executable} could not be started`, hint));
    const end = endOf(child);
    if (child.stdout !== null) {
      for await (const line of createInterface({input: child.stdout})) {
        const text = shown?.(line);
        if (text !== undefined) process.stdout.write(`${text}\n`);
      }
    }
    return await end;
  } finally {
    for (const signal of signals) process.off(signal, passOn);
  }
}

async function endOf(child: ChildProcess): Promise<MediaEnd> {
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  if (signal !== null) return {status: 128 + constants.signals[signal], wasStopped: true};
  return {status: code ?? 1, wasStopped: false};
}
