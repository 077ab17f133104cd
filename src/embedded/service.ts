import {once} from 'node:events';
import type {AddressInfo} from 'node:net';
import {resolve} from 'node:path';
import {type Clock, systemClock} from '../host.ts';
import type {MediaRecord} from '../service/record.ts';
import type {RequestEntry} from './api/context.ts';
import {type BodyPace, defaultPace} from './exchange/pace.ts';
import {createRoutedServer, type RoutedServer} from './server.ts';
import {IdempotencyEntries} from './store/idempotency.ts';
import {KeyUses} from './store/key-uses.ts';
import {type KeyOptions, KeyRing} from './store/keys.ts';
import {UserProfile} from './store/profile.ts';
import {Sessions} from './store/sessions.ts';
import {mediaRecord, Store} from './store/store.ts';

export type {RequestEntry} from './api/context.ts';
export type {KeyOptions} from './store/keys.ts';
export {identityIn} from './store/store.ts';

export interface ServiceOptions {
  /** 0, the default, is any free port. */
  port?: number;
  /** A loopback address: `127.0.0.1` (default), `::1` or `localhost`. */
  host?: string;
  /** Where everything is stored; created if missing (0700). Two processes may share it. */
  dataDirectory: string;
  /** The base of the URLs in records; by default the URL of the service. */
  publicUrl?: string;
  /** The status for requests without a token or with insufficient permissions; default 403. */
  deniedStatus?: 403 | 404;
  /** Whether the service supports and announces Idempotency-Key; default true. */
  idempotency?: boolean;
  /** Whether records get thumbnails, where sharp is installed; default false, since its start takes a moment. */
  thumbnails?: boolean;
  clock?: Clock;
  /** How slowly requests may arrive; missing parts have defaults. */
  pace?: Partial<BodyPace>;
  /** Called once for each request, when its response was sent or its connection was lost. */
  onRequest?: (entry: RequestEntry) => void;
  /** Called with each error that was sent as a 500. */
  onError?: (error: unknown) => void;
}

/** A stored upload. */
export interface StoredMedia {
  record: MediaRecord;
  contentType: string;
  /** The file with the bytes. */
  path: string;
  /** Hexadecimal. */
  sha256: string;
  /** ISO 8601, UTC. */
  createdAt: string;
}

export interface EmbeddedService {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** Identifies its data directory, wherever it listens. */
  readonly identity: string;
  /** Creates an API key and returns it; only its hash is stored. */
  createKey(options?: KeyOptions): Promise<string>;
  /** A URL that signs a browser in to the service's pages; it works once. */
  signInUrl(): string;
  /** Revokes every key with a label. */
  revokeKeys(label: string): Promise<void>;
  /** All uploads, oldest first. */
  records(): Promise<StoredMedia[]>;
  /** Stops listening, responds to the uploads that have arrived completely, and closes all connections; files stay. */
  close(): Promise<void>;
}

const loopbackHosts = ['127.0.0.1', '::1', 'localhost'];

/**
 * Starts the embedded service, which implements the service interface with a data directory, on loopback only. Rejects with
 * the system's error if the port is in use (`EADDRINUSE`) or the directory cannot be created.
 */
export async function startEmbeddedService(options: ServiceOptions): Promise<EmbeddedService> {
  const host = options.host ?? '127.0.0.1';
  if (!loopbackHosts.includes(host)) {
    throw new Error(
      `The embedded service listens on loopback only (${loopbackHosts.join(', ')}), not on "${host}".`,
    );
  }
  const publicUrl = options.publicUrl === undefined ? undefined : parsePublicUrl(options.publicUrl);
  const clock = options.clock ?? systemClock;
  const dataDirectory = resolve(options.dataDirectory);
  const store = new Store(dataDirectory, clock);
  await store.prepare();
  const identity = await store.identity();
  const keys = new KeyRing(dataDirectory, clock);
  await keys.prepare();

  const keyUses = new KeyUses(dataDirectory, clock);
  const sessions = new Sessions();

  let url = '';
  let port = 0;
  const observer = {onRequest: options.onRequest ?? (() => {}), onError: options.onError ?? (() => {})};
  const routed = createRoutedServer({
    store,
    keys,
    keyUses,
    profile: new UserProfile(store),
    sessions,
    entries: new IdempotencyEntries(store, clock),
    idempotency: options.idempotency ?? true,
    thumbnails: options.thumbnails ?? false,
    deniedStatus: options.deniedStatus ?? 403,
    clock,
    pace: {...defaultPace, ...options.pace},
    observer,
    port: () => port,
    publicUrl: () => publicUrl ?? url,
  });
  routed.server.listen({host, port: options.port ?? 0});
  await once(routed.server, 'listening');
  // Failing to accept a connection, for example without file descriptors, must not end the service.
  routed.server.on('error', observer.onError);
  port = (routed.server.address() as AddressInfo).port;
  url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

  let closed: Promise<void> | undefined;
  return {
    url,
    identity,
    signInUrl: () => `${url}/?token=${sessions.newToken()}`,
    createKey: keyOptions => keys.create(keyOptions),
    revokeKeys: label => keys.revoke(label),
    records: () => storedMedia(store, publicUrl ?? url),
    close: () => {
      closed ??= closeServer(routed).then(() => keyUses.settled());
      return closed;
    },
  };
}

async function storedMedia(store: Store, baseUrl: string): Promise<StoredMedia[]> {
  const found = await Promise.all((await store.ids()).map(id => store.find(id)));
  return found
    .filter(stored => stored !== undefined)
    .map(stored => ({
      record: mediaRecord(stored, baseUrl),
      contentType: stored.contentType,
      path: store.filePath(stored.id),
      sha256: stored.sha256,
      createdAt: stored.createdAt,
    }));
}

async function closeServer({server, whole, idle}: RoutedServer): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  await whole();
  server.closeAllConnections();
  await closed;
  // An upload that lost its connection still removes its temporary file.
  await idle();
}

function parsePublicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new Error(`publicUrl must be an http(s) URL without query and fragment, not "${text}".`);
  }
  return url.href.replace(/\/+$/, '');
}
