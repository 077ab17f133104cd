import type {EmbeddedService, ServiceOptions} from '../embedded/service.ts';
import {MediaError} from '../errors.ts';
import {defined} from '../lib/defined.ts';
import {systemCode} from '../lib/system-code.ts';

/** The default port of `media serve`. It is fixed so that the URLs in records keep working. */
export const defaultPort = 4010;

/**
 * Starts the embedded service and creates a key for it, unless one was chosen. It replaces earlier keys with the same label, or with
 * `keepsUsed` those of them that were never used. Rejects with
 * `local_failure` if its port or its data directory cannot be used.
 */
export async function startEmbedded(
  options: ServiceOptions,
  keyOptions: {label: string; persist: boolean; keepsUsed?: boolean},
): Promise<{service: EmbeddedService; key: string}> {
  const {startEmbeddedService} = await import('../embedded/service.ts');
  let service: EmbeddedService | undefined;
  try {
    service = await startEmbeddedService(options);
    const {keepsUsed = false, ...others} = keyOptions;
    if (others.persist) await service.revokeKeys(others.label, keepsUsed ? 'unused' : 'all');
    return {service, key: options.fixedKey ?? (await service.createKey(others))};
  } catch (error) {
    await service?.close();
    throw describeServiceError(error, options);
  }
}

/** The identity of the embedded service that keeps its data in a directory; undefined if none has used it yet. */
export async function embeddedIdentity(dataDirectory: string): Promise<string | undefined> {
  const {identityIn} = await import('../embedded/service.ts');
  return identityIn(dataDirectory).catch(error => {
    throw describeServiceError(error, {dataDirectory});
  });
}

/** Turns an error of the embedded service into a message for the user; a bug is returned unchanged. */
export function describeServiceError(error: unknown, {port, dataDirectory}: ServiceOptions): unknown {
  const code = systemCode(error);
  if (code === 'EADDRINUSE' || code === 'EACCES') {
    const busy = code === 'EADDRINUSE';
    const syscall = (error as {syscall?: string}).syscall;
    if (busy || syscall === 'listen') {
      return new MediaError(
        'local_failure',
        `Port ${port} ${busy ? 'is in use' : 'cannot be used without more permissions'}.`,
        {
          cause: error,
          hint: 'Choose another with --port, or any free one with --port 0.',
        },
      );
    }
  }
  if (error instanceof Error && error.name === 'InvalidOption' && 'hint' in error) {
    return new MediaError('usage', error.message, {cause: error, hint: String(error.hint)});
  }
  // The service writes its own messages for damaged or locked files; any other error without a code is a bug.
  if (code === undefined) {
    if (!(error instanceof Error) || !['DamagedFile', 'DirectoryInUse', 'Error'].includes(error.name))
      return error;
    const hint = 'hint' in error && typeof error.hint === 'string' ? error.hint : undefined;
    return new MediaError('local_failure', error.message, {cause: error, ...defined({hint})});
  }
  return new MediaError(
    'local_failure',
    `The embedded service cannot keep its data in ${dataDirectory}: ${code}.`,
    {
      cause: error,
      hint: 'Free some space there, or choose another directory with XDG_DATA_HOME (for serve, also with --data-dir).',
    },
  );
}
