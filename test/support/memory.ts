const program = `
  import {readFileSync} from 'node:fs';
  process.on('exit', () => {
    const status = process.platform === 'linux' ? readFileSync('/proc/self/status', 'utf8') : '';
    process._rawDebug('memory', /VmHWM:\\s*(\\d+)/.exec(status)?.[1] ?? process.resourceUsage().maxRSS);
  });`;

/**
 * A value of NODE_OPTIONS that has a program tell its greatest resident set on standard error as it ends. On Linux not by
 * its resource usage: that counts what the process was before it became this program, a test's own memory.
 */
export const tellMemory = `--import=data:text/javascript,${encodeURIComponent(program)}`;

const told = /^memory (\d+)$\n?/m;

/** The greatest resident set that a program told, in bytes; more than any bound if it told none. */
export function memoryIn(stderr: string): number {
  return Number(told.exec(stderr)?.[1] ?? Number.POSITIVE_INFINITY) * 1024;
}

/** What else it wrote. */
export function withoutMemory(stderr: string): string {
  return stderr.replace(told, '');
}
