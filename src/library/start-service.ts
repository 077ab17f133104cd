import type {EmbeddedService, ServiceOptions} from '../embedded/service.ts';

/**
 * Starts a service on loopback that stores uploads in a directory, for tests, demonstrations and work without a network.
 * Rejects with the system's error if the port is in use (`EADDRINUSE`) or the directory cannot be made.
 */
export async function startService(options: ServiceOptions): Promise<EmbeddedService> {
  // It is larger than the rest of the library, and most programs do not need it.
  const {startEmbeddedService: start} = await import('../embedded/service.ts');
  return start(options);
}
