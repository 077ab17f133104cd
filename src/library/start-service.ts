import type {EmbeddedService, ServiceOptions} from '../embedded/service.ts';

/**
 * Starts a service of your own on loopback, which keeps what is uploaded in a directory: for tests, demonstrations and
 * work without a network. Rejects with the system's error when the port is in use (`EADDRINUSE`) or the directory
 * cannot be made.
 */
export async function startService(options: ServiceOptions): Promise<EmbeddedService> {
  // It weighs more than all the rest, and a program with a service elsewhere never comes to it.
  const {startEmbeddedService: start} = await import('../embedded/service.ts');
  return start(options);
}
