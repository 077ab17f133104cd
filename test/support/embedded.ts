import {afterTest} from './after-test.ts';
import {type EmbeddedService, type ServiceOptions, startEmbeddedService} from './embedded-service.ts';
import {Sandbox, temporaryDirectory} from './media.ts';

/** An embedded service for the current test, with a key that has all permissions. */
export async function embeddedService(
  options: Partial<ServiceOptions> = {},
): Promise<{service: EmbeddedService; key: string}> {
  const service = await startEmbeddedService({dataDirectory: await temporaryDirectory(), ...options});
  afterTest(() => service.close());
  return {service, key: await service.createKey()};
}

/** How a service responds to a key that lacks a permission: the interface leaves the choice. */
export function denyingWith(status: 403 | 404): Partial<ServiceOptions> {
  return {faults: {list: [`any:status=${status},instead-of=403`]}};
}

/** A sandbox whose environment sets an embedded service and a key for it. */
export async function connectedSandbox(
  options: Partial<ServiceOptions> = {},
): Promise<{service: EmbeddedService; key: string; sandbox: Sandbox}> {
  const {service, key} = await embeddedService(options);
  const directory = await temporaryDirectory();
  const sandbox = new Sandbox(directory, {MEDIA_BASE_URL: service.url, MEDIA_API_KEY: key});
  return {service, key, sandbox};
}

/** The embedded service's message about an unknown key. */
export function unknownKey(url: string): string {
  return `The API key is unknown; create one on the profile page (${url}/profile).`;
}
