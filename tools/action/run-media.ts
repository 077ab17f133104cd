import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {constants} from 'node:os';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** How `media` ended. */
export interface MediaEnd {
  /** As a shell counts it: 128 and more for a signal. */
  status: number;
  wasStopped: boolean;
}

/** Runs `media`; `take` gets each line of its output, which is printed all the same. A signal to this process goes to `media`. */
export async function runMedia(
  program: URL,
  parameters: readonly string[],
  env: NodeJS.ProcessEnv,
  take?: (line: string) => void,
): Promise<MediaEnd> {
  const child = spawn(process.execPath, [fileURLToPath(program), ...parameters], {
    env,
    stdio: ['ignore', take === undefined ? 'inherit' : 'pipe', 'inherit'],
  });
  const passOn = (signal: NodeJS.Signals) => void child.kill(signal);
  for (const signal of signals) process.on(signal, passOn);
  try {
    const end = endOf(child);
    if (child.stdout !== null) {
      for await (const line of createInterface({input: child.stdout})) {
        process.stdout.write(`${line}\n`);
        take?.(line);
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
