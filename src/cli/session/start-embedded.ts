import type {EmbeddedService, ServiceOptions} from '../../embedded/service.ts';
import {MediaError} from '../../errors.ts';
import {isOutOfSpace, systemCode} from '../../lib/system-code.ts';

/** The default port of `media serve`. It is fixed so that the URLs in records keep working. */
export const defaultPort = 4010;

/**
 * Starts the embedded service with a new key, or with `fixedKey`. A key that persists replaces the earlier ones of its
 * label; with `keepsUsedKeys`, only those that were never used.
 */
export async function startEmbedded(
  options: ServiceOptions,
  {keepsUsedKeys, ...keyOptions}: {label: string; persist: boolean; keepsUsedKeys?: boolean},
): Promise<{service: EmbeddedService; key: string}> {
  const {startEmbeddedService} = await import('../../embedded/service.ts');
  let service: EmbeddedService | undefined;
  try {
    service = await startEmbeddedService(options);
    if (keyOptions.persist) await service.revokeKeys(keyOptions.label, keepsUsedKeys ? 'unused' : 'all');
    return {service, key: options.fixedKey ?? (await service.createKey(keyOptions))};
  } catch (error) {
    await service?.close();
    throw describeServiceError(error, options);
  }
}

/** The identity of the embedded service that keeps its data in a directory; undefined if none has used it yet. */
export async function embeddedIdentity(dataDirectory: string): Promise<string | undefined> {
  const {identityIn} = await import('../../embedded/service.ts');
  return identityIn(dataDirectory).catch(error => {
    throw describeServiceError(error, {dataDirectory});
  });
}

/** Turns an error of the embedded service into a message for the user; a bug is returned unchanged. */
export function describeServiceError(error: unknown, options: ServiceOptions): unknown {
  if (error instanceof MediaError) return error;
  const code = systemCode(error);
  // The service explains wrong options and damaged or locked files itself, by errors that have these names, since it is
  // built as a file of its own with its own classes. Any other error without a code is a bug.
  if (code === undefined) {
    if (!(error instanceof Error)) return error;
    const {name, message, hint}: Error & {hint?: string} = error;
    if (name === 'InvalidOption') return new MediaError('usage', message, {cause: error, hint});
    if (!['DamagedFile', 'DirectoryInUse', 'Error'].includes(name)) return error;
    return new MediaError('local_failure', message, {cause: error, hint});
  }
  const {syscall, port} = error as {syscall?: string; port?: number};
  const [message, hint] =
    syscall === 'listen' || syscall === 'getaddrinfo'
      ? listenFailure(code, port, options)
      : storeFailure(code, options.dataDirectory, isOutOfSpace(error));
  return new MediaError('local_failure', message, {cause: error, hint});
}

/** Why the service cannot listen, and what to do. */
function listenFailure(
  code: string,
  port: number | undefined,
  {host = '127.0.0.1', faults}: ServiceOptions,
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

/** Why the service cannot store anything, and what to do. */
function storeFailure(code: string, directory: string, isFull: boolean): [message: string, hint: string] {
  const why = ['EEXIST', 'ENOTDIR'].includes(code) ? 'it is not a directory' : code;
  const another = 'another directory with XDG_DATA_HOME (for serve, --data-dir, or TMPDIR if --ephemeral).';
  return [
    `The embedded service cannot keep its data in ${directory}: ${why}.`,
    isFull ? `Free some space there, or choose ${another}` : `Choose ${another}`,
  ];
}
