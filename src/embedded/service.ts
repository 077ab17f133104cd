import {systemClock} from '../host.ts';
import type {Observer, Service} from './api/context.ts';
import {parseOrigins} from './exchange/cross-origin.ts';
import {defaultPace} from './exchange/exchange.ts';
import {InvalidOption} from './exchange/refusal.ts';
import {createRoutedServer} from './server.ts';
import type {EmbeddedService, ServiceOptions} from './service-options.ts';
import {allPermissions} from './state/keys.ts';
import {Resets} from './state/resets.ts';
import {openState, type ServiceState} from './state/state.ts';

export type {RequestEntry, SeedFile} from './api/context.ts';
export type {EmbeddedService, ServiceOptions} from './service-options.ts';
export {identityIn} from './state/identity.ts';
export type {KeyOptions} from './state/keys.ts';

const loopbackHosts = ['127.0.0.1', '::1', '[::1]', 'localhost'];

/** Starts the service on loopback, unless a `host` and a `fixedKey` say otherwise; rejects with the system's error. */
export async function startEmbeddedService(options: ServiceOptions): Promise<EmbeddedService> {
  const host = options.host ?? '127.0.0.1';
  if (!loopbackHosts.includes(host) && options.fixedKey === undefined) {
    throw new InvalidOption(
      `To listen on ${host}, beyond this machine, the service needs a key that you choose.`,
      'Set MEDIA_SERVE_KEY, or MEDIA_SERVE_KEY_FILE to a file that holds it.',
    );
  }
  if (!URL.canParse(urlAt(host))) {
    throw new InvalidOption(
      `"${host}" cannot be the host of a URL.`,
      'Name an address of this machine, such as 127.0.0.1 or ::1, without a zone.',
    );
  }
  if (options.fixedKey !== undefined && !/^[!-~]{16,}$/.test(options.fixedKey)) {
    throw new InvalidOption(
      'The key of the service must have at least 16 characters, without spaces.',
      'Make one: openssl rand -hex 24',
    );
  }
  const publicUrl = options.publicUrl === undefined ? undefined : parsePublicUrl(options.publicUrl);
  const allowOrigins = parseOrigins(options.allowOrigins ?? [], options.fixedKey !== undefined);
  const state = await openState(options);
  try {
    return await serve({...options, host, allowOrigins}, state, publicUrl);
  } catch (error) {
    await state.close();
    throw error;
  }
}

/** Listens, with the state of the data directory. */
async function serve(
  options: ServiceOptions & {host: string; allowOrigins: readonly string[]},
  state: ServiceState,
  publicUrl: string | undefined,
): Promise<EmbeddedService> {
  const {keys, sessions} = state;
  if (options.fixedKey !== undefined)
    await keys.create({key: options.fixedKey, permissions: allPermissions, label: 'owner', persist: false});
  // Loaded on first use, like the metrics: most services have neither.
  const prepared = options.faults && (await import('./faults/control.ts')).prepareFaults(options.faults);
  const faults = prepared?.faults;
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
    clock: options.clock ?? systemClock,
    pace: {...defaultPace, ...options.pace},
    observer,
    faults,
    metrics,
    allowHosts,
    allowOrigins: options.allowOrigins,
    resets: new Resets(),
    port: () => port,
    publicUrl: () => publicUrl ?? url,
  };
  const {seed, signal} = options;
  const reset =
    seed !== undefined || options.faults?.control !== undefined
      ? await (await import('./api/start-state.ts')).rememberStart(service, seed, signal)
      : undefined;
  const control = reset && (await prepared?.startControl(reset, observer.onError));
  const server = createRoutedServer(service);
  port = await server.listen({host: options.host, port: options.port ?? 0}).catch(async error => {
    await control?.close();
    throw error;
  });
  const own = new URL(urlAt(options.host, port));
  url = own.origin;
  if (!loopbackHosts.includes(own.hostname)) allowHosts.push(own.host);

  let closed: Promise<void> | undefined;
  return {
    url,
    identity: state.identity,
    leftBehind: state.leftBehind,
    signInUrl: () => `${publicUrl ?? url}/?token=${sessions.newToken()}`,
    createKey: keys.create,
    revokeKeys: keys.revoke,
    faults,
    faultControl: control,
    reset,
    close: () => {
      faults?.stop();
      closed ??= Promise.all([control?.close(), server.close()])
        // A reset that is under way writes until its end.
        .then(() => service.resets.begin())
        .then(() => state.close());
      return closed;
    },
  };
}

/** The URL by which this machine reaches the address that a service listens on. */
function urlAt(host: string, port = 80): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

function parsePublicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new InvalidOption(
      `The public URL must be an http(s) URL without query and fragment, not "${text}".`,
      'Write it like https://media.example.com',
    );
  }
  return url.href.replace(/\/+$/, '');
}
