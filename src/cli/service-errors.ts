import type {ServiceOptions} from '../embedded/service.ts';
import {MediaError} from '../errors.ts';
import {defined} from '../lib/defined.ts';
import {isOutOfSpace, systemCode} from '../lib/system-code.ts';

/** Turns an error of the embedded service into a message for the user; a bug is returned unchanged. */
export function describeServiceError(error: unknown, options: ServiceOptions): unknown {
  if (error instanceof Error && error.name === 'InvalidOption' && 'hint' in error) {
    return new MediaError('usage', error.message, {cause: error, hint: String(error.hint)});
  }
  const code = systemCode(error);
  // The service writes its own messages for damaged or locked files; any other error without a code is a bug.
  if (code === undefined) {
    if (!(error instanceof Error) || !['DamagedFile', 'DirectoryInUse', 'Error'].includes(error.name))
      return error;
    const hint = 'hint' in error && typeof error.hint === 'string' ? error.hint : undefined;
    return new MediaError('local_failure', error.message, {cause: error, ...defined({hint})});
  }
  const {syscall, port} = error as {syscall?: string; port?: number};
  const [message, hint] =
    syscall === 'listen' || syscall === 'getaddrinfo'
      ? noListening(code, port, options)
      : noStoring(code, options.dataDirectory, isOutOfSpace(error));
  return new MediaError('local_failure', message, {cause: error, hint});
}

/** Why the service cannot listen, and what to do. */
function noListening(
  code: string,
  port: number | undefined,
  {host, faults}: ServiceOptions,
): [message: string, hint: string] {
  const option = faults?.control?.port === port ? '--fault-port' : '--port';
  const another = `Choose another with ${option}, or any free one with ${option} 0.`;
  if (code === 'EADDRINUSE') return [`Port ${port} is in use.`, another];
  if (code === 'EACCES') return [`Port ${port} cannot be used without more permissions.`, another];
  return [
    `The embedded service cannot listen on ${host}: ${code}.`,
    'Choose an address of this machine with --host, such as 127.0.0.1, or 0.0.0.0 for all of them.',
  ];
}

const notADirectory = ['EEXIST', 'ENOTDIR'];

/** Why the service cannot store anything, and what to do. */
function noStoring(code: string, directory: string, isFull: boolean): [message: string, hint: string] {
  const why = notADirectory.includes(code) ? 'it is not a directory' : code;
  const another = 'another directory with XDG_DATA_HOME (for serve, also with --data-dir).';
  return [
    `The embedded service cannot keep its data in ${directory}: ${why}.`,
    isFull ? `Free some space there, or choose ${another}` : `Choose ${another}`,
  ];
}
