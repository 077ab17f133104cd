import {randomUUID} from 'node:crypto';
import {afterTest} from './after-test.ts';
import {type EmbeddedService, startEmbeddedService} from './embedded-service.ts';
import {freePort} from './free-ports.ts';
import {sandbox, temporaryDirectory} from './media.ts';

/** A machine with a key for a service, whose store can be replaced: as by `media serve --ephemeral` that is started anew. */
export async function twoStores() {
  const fixedKey = randomUUID();
  const first = await temporaryDirectory();
  const start = (port: number, dataDirectory: string) =>
    startEmbeddedService({port, fixedKey, dataDirectory});
  let service: EmbeddedService = await start(await freePort(), first);
  afterTest(() => service.close());
  const {url} = service;
  const another = async (dataDirectory: string) => {
    await service.close();
    service = await start(Number(new URL(url).port), dataDirectory);
    return service;
  };
  return {
    url,
    box: await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: fixedKey}),
    service: () => service,
    stored: async () => (await service.records()).length,
    /** Puts an empty store behind the URL. */
    replace: async () => another(await temporaryDirectory()),
    /** Puts the first store back behind the URL. */
    restore: () => another(first),
  };
}
