import type {EmbeddedService, ServiceOptions} from '../embedded/service.ts';
import {MediaError, systemCode} from '../errors.ts';
import {defined} from '../lib/defined.ts';

/** The port that `media serve` takes by default, so that the addresses in records keep working. */
export const defaultPort = 4010;

/**
 * Starts the embedded service and makes a key for it, in place of the earlier keys of that label. Rejects with
 * `local_failure` when its port or its data directory cannot be used.
 */
export async function startEmbedded(
  options: ServiceOptions,
  keyOptions: {label: string; persist: boolean},
): Promise<{service: EmbeddedService; key: string}> {
  const {startEmbeddedService} = await import('../embedded/service.ts');
  let service: EmbeddedService | undefined;
  try {
    service = await startEmbeddedService(options);
    if (keyOptions.persist) await service.revokeKeys(keyOptions.label);
    return {service, key: await service.createKey(keyOptions)};
  } catch (error) {
    await service?.close();
    throw describeServiceError(error, options);
  }
}

/** What went wrong in the embedded service, as a user can understand it; anything else is a bug, and stays as it is. */
export function describeServiceError(error: unknown, {port, dataDirectory}: ServiceOptions): unknown {
  const code = systemCode(error);
  if (code === 'EADDRINUSE' || code === 'EACCES') {
    const busy = code === 'EADDRINUSE';
    const syscall = (error as {syscall?: string}).syscall;
    if (busy || syscall === 'listen') {
      return new MediaError('local_failure', `Port ${port} ${busy ? 'is in use' : 'may not be used'}.`, {
        cause: error,
        hint: 'Choose another with --port, or any free one with --port 0.',
      });
    }
  }
  // The service words what it finds damaged or held; anything else without a code is a bug.
  if (code === undefined) {
    if (!(error instanceof Error) || !['DamagedFile', 'Error'].includes(error.name)) return error;
    const hint = 'hint' in error && typeof error.hint === 'string' ? error.hint : undefined;
    return new MediaError('local_failure', error.message, {cause: error, ...defined({hint})});
  }
  return new MediaError(
    'local_failure',
    `The embedded service cannot keep its data in ${dataDirectory}: ${code}.`,
    {
      cause: error,
      hint: 'Make room there, or name another directory with XDG_DATA_HOME (for serve, also with --data-dir).',
    },
  );
}
