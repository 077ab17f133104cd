import {Stop} from '../lib/stop.ts';
import type {Observer, SeedFile, Service} from './api/context.ts';
import {checkOrigins} from './exchange/cross-origin.ts';
import {type BodyPace, defaultPace} from './exchange/http-exchange.ts';
import {InvalidOption, Refusal} from './exchange/refusal.ts';
import type {FaultOptions} from './faults/control.ts';
import type {Faults} from './faults/faults.ts';
import {createRoutedServer} from './server.ts';
import {allPermissions} from './state/keys.ts';
import {openState, type ServiceState, type StateOptions} from './state/state.ts';

export type {RequestEntry, SeedFile} from './api/context.ts';
export type {KeyOptions} from './state/keys.ts';
export {identityIn} from './state/store-identity.ts';

type ServiceFields = 'idempotency' | 'previews' | 'maxSize' | 'allowHosts' | 'allowOrigins';

export interface ServiceOptions extends StateOptions, Partial<Observer & Pick<Service, ServiceFields>> {
  /** 0, the default, is any free port. */
  port?: number;
  /** The address to listen on: `127.0.0.1` (default), `::1`, `localhost`, or with a `fixedKey` any other. */
  host?: string;
  /** Media that are there from the start, and again after a reset; their IDs follow from their content. */
  seed?: AsyncGenerator<SeedFile>;
  /** A key that the owner chose, with all permissions; it is not stored. At least 16 characters. */
  fixedKey?: string;
  /** The base of the URLs in records; by default the URL of the service. */
  publicUrl?: string;
  /** Whether /metrics is there, for Prometheus; default false. */
  metrics?: boolean;
  /** How slowly requests may arrive; missing parts have defaults. */
  pace?: Partial<BodyPace>;
  /** Faults on request, for tests of clients. */
  faults?: FaultOptions;
}

export type EmbeddedService = Awaited<ReturnType<typeof serve>>;

const loopbackHosts = ['127.0.0.1', '::1', '[::1]', 'localhost'];

/** Starts the service on loopback, unless a `host` and a `fixedKey` say otherwise; rejects with the system's error. */
export async function startEmbeddedService(options: ServiceOptions): Promise<EmbeddedService> {
  const host = options.host ?? '127.0.0.1';
  if (!loopbackHosts.includes(host) && options.fixedKey === undefined)
    throw new InvalidOption(
      `To listen on ${host}, beyond this machine, the service needs a key that you choose.`,
      'Set MEDIA_SERVE_KEY, or MEDIA_SERVE_KEY_FILE to a file that holds it.',
    );
  if (!URL.canParse(urlAt(host)))
    throw new InvalidOption(
      `"${host}" cannot be the host of a URL.`,
      'Name an address of this machine, such as 127.0.0.1 or ::1, without a zone.',
    );
  if (options.fixedKey !== undefined && !/^[!-~]{16,}$/.test(options.fixedKey))
    throw new InvalidOption(
      'The key of the service must have at least 16 characters, without spaces.',
      'Make one: openssl rand -hex 24',
    );
  const publicUrl = options.publicUrl === undefined ? undefined : parsePublicUrl(options.publicUrl);
  checkOrigins(options.allowOrigins ?? [], options.fixedKey !== undefined);
  const state = await openState(options);
  return serve({...options, host}, state, publicUrl).catch(async error => {
    await state.close();
    throw error;
  });
}

/** Makes a service over an opened state, and listens; if this rejects, the caller closes the state. */
async function serve(options: ServiceOptions & {host: string}, state: ServiceState, publicUrl?: string) {
  const {keys, sessions} = state;
  if (options.fixedKey !== undefined)
    await keys.create({key: options.fixedKey, permissions: allPermissions, label: 'owner', persist: false});
  // Loaded on first use, like the metrics: most services have neither.
  const faultControl = options.faults && (await import('./faults/control.ts')).prepareFaults(options.faults);
  const faults = faultControl?.faults;
  const metrics = options.metrics
    ? (await import('./api/metrics.ts')).startMetrics(async () => (await state.store.ids()).length)
    : undefined;
  const allowHosts = [...(options.allowHosts ?? [])];
  let url = '';
  let port = 0;
  const observer: Observer = {
    onRequest: entry => {
      metrics?.count(entry);
      options.onRequest?.(entry);
    },
    onError: options.onError ?? (() => {}),
  };
  const service: Service = {
    ...state,
    idempotency: options.idempotency ?? true,
    previews: options.previews ?? false,
    maxSize: options.maxSize ?? Number.POSITIVE_INFINITY,
    pace: {...defaultPace, ...options.pace},
    observer,
    faults,
    metrics,
    allowHosts,
    allowOrigins: options.allowOrigins ?? [],
    closing: new Stop(),
    port: () => port,
    publicUrl: () => publicUrl ?? url,
  };
  const {seed, signal} = options;
  const reset =
    seed !== undefined || options.faults?.control !== undefined
      ? await (await import('./api/start-state.ts')).storeStartState(service, seed, signal)
      : undefined;
  const control = reset && (await faultControl?.startControl(reset, observer.onError));
  const server = createRoutedServer(service);
  port = await server.listen({host: options.host, port: options.port ?? 0}).catch(async error => {
    await control?.close();
    throw error;
  });
  const listenUrl = new URL(urlAt(options.host, port));
  url = listenUrl.origin;
  if (!loopbackHosts.includes(listenUrl.hostname)) allowHosts.push(listenUrl.host);

  let closing: Promise<void> | undefined;
  return {
    /** `http://127.0.0.1:PORT` */
    url,
    /** Identifies its data directory, wherever it listens. */
    identity: state.store.identity,
    /** What was found at the start that earlier services had left behind. */
    leftBehind: state.leftBehind,
    /** A URL that signs a browser in to the service's pages; it works once. */
    signInUrl: () => `${publicUrl ?? url}/?token=${sessions.newToken()}`,
    /** Creates an API key and returns it; only its hash is stored. */
    createKey: keys.create,
    /** Revokes every key with a label, or only those that were never used. */
    revokeKeys: keys.revoke,
    /** The faults that can be changed, if the service was started with `faults`. */
    faults: faults as Pick<Faults, 'replace' | 'counts'> | undefined,
    /** Where and with which key the faults can be changed by HTTP. */
    faultControl: control && {url: control.url, key: control.key},
    /** Restores the start state, with a `seed` or a control port only; resolves to the number of media. */
    reset,
    /** Stops listening, responds to uploads that have arrived completely, and closes all connections; files stay. */
    close: (): Promise<void> => {
      service.closing.abort(new Refusal(503, 'The service is stopping.'));
      closing ??= Promise.all([control?.close(), server.close()])
        // A reset that is under way writes until its end.
        .then(() => state.resets.begin())
        .then(() => state.close());
      return closing;
    },
  };
}

/** The URL by which this machine reaches the address that a service listens on. */
function urlAt(host: string, port = 80): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/** The base of the URLs in records, without a trailing slash; throws an InvalidOption for any other text. */
function parsePublicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text).href : '';
  if (/^https?:\/\/[^/@]+\/[^?#]*$/.test(url)) return url.replace(/\/+$/, '');
  // The value is not shown: it may contain a password.
  throw new InvalidOption(
    'The public URL must be an http(s) URL without a user name, a query or a fragment.',
    'Write it like https://media.example.com',
  );
}
