import {existsSync} from 'node:fs';
import {versions} from 'node:process';

/**
 * A command line whose process may allocate 448 MiB, which only the shell can tell the system, and not on Windows and
 * macOS. `nodeThreads` raises that by what each thread of Node reserves.
 */
export function limitedCommand(
  command: readonly string[],
  {nodeThreads = 0, processorSeconds}: {nodeThreads?: number; processorSeconds?: number},
): [string, string[]] {
  const ofTime = processorSeconds === undefined ? '' : `ulimit -t ${processorSeconds}; `;
  // From Node 24 on, each of its threads reserves this much for compiled code, which counts as allocated.
  const reservedKiB = Number.parseInt(versions.node, 10) >= 24 ? 512 * 1024 : 0;
  const ofMemory = `ulimit -d ${448 * 1024 + nodeThreads * reservedKiB}; `;
  const limit = `ulimit -c 0; ${ofTime}${ofMemory}exec "$0" "$@"`;
  const shell = ['/bin/sh', '-c', limit];
  const [program = '', ...parameters] = existsSync('/bin/sh') ? [...shell, ...command] : command;
  return [program, parameters];
}
