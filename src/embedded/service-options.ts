import type {Observer, SeedFile, Service} from './api/context.ts';
import type {BodyPace} from './exchange/exchange.ts';
import type {FaultOptions} from './faults/control.ts';
import type {Faults} from './faults/faults.ts';
import type {KeyOptions} from './state/keys.ts';
import type {ServiceState, StateOptions} from './state/state.ts';

type Shared = 'idempotency' | 'previews' | 'maxSize' | 'allowHosts' | 'allowOrigins';

export interface ServiceOptions extends StateOptions, Partial<Observer & Pick<Service, Shared>> {
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

export interface EmbeddedService {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** Identifies its data directory, wherever it listens. */
  readonly identity: string;
  /** What was found at the start that earlier services had left behind. */
  readonly leftBehind: ServiceState['leftBehind'];
  /** Creates an API key and returns it; only its hash is stored. */
  createKey(options?: KeyOptions): Promise<string>;
  /** A URL that signs a browser in to the service's pages; it works once. */
  signInUrl(): string;
  /** Revokes every key with a label, or only those that were never used. */
  revokeKeys(label: string, which?: 'all' | 'unused'): Promise<void>;
  /** The faults that can be changed, if the service was started with `faults`. */
  readonly faults: Pick<Faults, 'replace' | 'counts'> | undefined;
  /** Where and with which key the faults can be changed by HTTP. */
  readonly faultControl: {readonly url: string; readonly key: string} | undefined;
  /** Restores the media, keys and name of the start, if there is a `seed` or a control port; resolves to the number of media. */
  readonly reset: (() => Promise<number>) | undefined;
  /** Stops listening, responds to the uploads that have arrived completely, and closes all connections; files stay. */
  close(): Promise<void>;
}
