const program = `
  import {readFileSync} from 'node:fs';
  process.on('exit', () => {
    const status = process.platform === 'linux' ? readFileSync('/proc/self/status', 'utf8') : '';
    process._rawDebug('memory', /VmHWM:\\s*(\\d+)/.exec(status)?.[1] ?? process.resourceUsage().maxRSS);
  });`;

/**
 * A value of NODE_OPTIONS that makes a program print its peak resident set on standard error at its end. On Linux,
 * resource usage would include the memory of the test process that it was forked from.
 */
export const tellMemory = `--import=data:text/javascript,${encodeURIComponent(program)}`;

const told = /^memory (\d+)$\n?/m;

/** The peak resident set that a program printed, in bytes; greater than any bound if it printed none. */
export function memoryIn(stderr: string): number {
  return Number(told.exec(stderr)?.[1] ?? Number.POSITIVE_INFINITY) * 1024;
}

/** The rest of its standard error. */
export function withoutMemory(stderr: string): string {
  return stderr.replace(told, '');
}

const heapProgram = `
  import {setFlagsFromString} from 'node:v8';
  import {runInNewContext} from 'node:vm';
  setFlagsFromString('--expose-gc');
  // What V8 compiles better while the program runs is no leak.
  setFlagsFromString('--no-opt');
  const collect = runInNewContext('gc');
  setInterval(() => {
    collect();
    process._rawDebug('heap', process.memoryUsage().heapUsed);
  }, 1000).unref();`;

/** A value of NODE_OPTIONS that makes a program print, each second, what its heap holds once garbage is collected. */
export const tellHeap = `--import=data:text/javascript,${encodeURIComponent(heapProgram)}`;

/** What a program's heap held last, in bytes. */
export function heapIn(stderr: string): number {
  return Number([...stderr.matchAll(/^heap (\d+)$/gm)].at(-1)?.[1] ?? Number.POSITIVE_INFINITY);
}
