import type {EmbeddedService, ServiceOptions} from '../embedded/service.ts';
import {describeServiceError} from './service-errors.ts';

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
