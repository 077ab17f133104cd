import {constants, readFileSync} from 'node:fs';
import {Socket} from 'node:net';
import {constants as systemConstants} from 'node:os';
import type {ExitStatus} from './cli/session/invocation.ts';
import {type EndSignal, endSignals, type Host, systemHost} from './host.ts';
import {undefinedIfThrows} from './lib/system-code.ts';

/** Runs a program, and ends the process with its result; `keep` stores compiled code at the end of a success. */
export async function runProcess(
  program: (argv: readonly string[], host: Host) => Promise<ExitStatus>,
  keep: () => void,
): Promise<void> {
  const argv = process.argv.slice(2);
  // Before a stream is opened.
  const blocking = blockingStreams();
  // A command that listens too decides on the end itself.
  for (const signal of endSignals)
    process.on(signal, () => process.listenerCount(signal) === 1 && endBySignal(signal, blocking));
  const status = await program(argv, systemHost());
  const isSignal = typeof status === 'string';
  if (status === 0 || (isSignal && ['serve', 'watch'].includes(argv[0] ?? ''))) keep();
  if (isSignal) endBySignal(status, blocking);
  else end(status, blocking);
}

/** Ends the process by the signal itself; where that is impossible, with the status that a shell reports for it. */
function endBySignal(signal: EndSignal, blocking: readonly number[]): void {
  // The first process of a container cannot be ended by its own signal, and Windows has no signals.
  if (process.pid === 1 || process.platform === 'win32') process.exit(128 + systemConstants.signals[signal]);
  // With the signal, a shell loop stops as well; the timer keeps the process alive until the signal arrives.
  process.removeAllListeners(signal);
  setTimeout(() => process.exit(1), 5000);
  restoreStreams(blocking);
  process.kill(process.pid, signal);
}

/**
 * Ends with this status. Node would wait for calls on other threads, and a name lookup may take 10 s or more, so
 * another program that exits at once replaces the process. Node has that from version 22.15 on; on Windows, it throws.
 */
function end(status: number, blocking: readonly number[]): void {
  const isCalling = process.getActiveResourcesInfo().some(name => /^(GetAddrInfo|FS)Req/.test(name));
  const {execve} = process as {execve?: (file: string, args: readonly string[]) => never};
  if (isCalling && execve !== undefined && process.platform !== 'win32') {
    // A shell complains if the working directory was removed.
    process.chdir('/');
    restoreStreams(blocking);
    execve('/bin/sh', ['sh', '-c', `exit ${status}`]);
  }
  process.exit(status);
}

/** The standard streams (0, 1, 2) that are blocking; all of them on a system that does not say. */
function blockingStreams(): number[] {
  return [0, 1, 2].filter(fd => {
    const info = undefinedIfThrows(() => readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1')) ?? '';
    const [, octal = '0'] = /^flags:\s*(\d+)$/m.exec(info) ?? [];
    return (Number.parseInt(octal, 8) & constants.O_NONBLOCK) === 0;
  });
}

/**
 * Makes these standard streams blocking again, and ends raw mode. Node makes a pipe non-blocking when it opens it, for
 * all programs that share it, and undoes that only when it exits or is ended by a signal that nothing listens to: the
 * next program in the same pipe would lose output. On a terminal in raw mode, nobody would see what they type.
 */
function restoreStreams(blocking: readonly number[]): void {
  if (process.stdin.isRaw) process.stdin.setRawMode(false);
  const streams = [process.stdin, process.stdout, process.stderr] as NodeStream[];
  for (const fd of blocking)
    undefinedIfThrows(() => {
      // A stream that was closed has no handle any more, though its descriptor is open. A file throws: it has none.
      const handle = streams[fd]?._handle ?? (new Socket({fd, readable: false}) as NodeStream)._handle;
      handle?.setBlocking(true);
    });
}

/** What Node does not document of its streams. */
type NodeStream = {_handle?: {setBlocking(isBlocking: boolean): void} | null};
