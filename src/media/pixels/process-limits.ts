import {existsSync} from 'node:fs';
import {versions} from 'node:process';

/** What a process that reads media may allocate; only the shell can tell the system. Not on Windows and macOS. */
const mostMemoryKiB = 448 * 1024;
const shell = '/bin/sh';

/** From Node 24 on, each of its threads reserves this much for compiled code, which counts as allocated. */
const reservedKiB = Number.parseInt(versions.node, 10) >= 24 ? 512 * 1024 : 0;

/** A command line under `ulimit`; `nodeThreads` raises its memory limit by what each thread of Node reserves. */
export function limitedCommand(
  command: readonly string[],
  {nodeThreads = 0, processorSeconds}: {nodeThreads?: number; processorSeconds?: number},
): [string, string[]] {
  const ofTime = processorSeconds === undefined ? '' : `ulimit -t ${processorSeconds}; `;
  const ofMemory = `ulimit -d ${mostMemoryKiB + nodeThreads * reservedKiB}; `;
  const limit = `ulimit -c 0; ${ofTime}${ofMemory}exec "$0" "$@"`;
  const [program = '', ...parameters] = existsSync(shell) ? [shell, '-c', limit, ...command] : command;
  return [program, parameters];
}
