import type {Clock} from '../host.ts';
import type {MediaRecord} from '../service/record.ts';
import type {RequestEntry, SeedFile} from './api/context.ts';
import type {BodyPace} from './exchange/exchange.ts';
import type {FaultOptions} from './faults/control.ts';
import type {Faults} from './faults/faults.ts';
import type {KeyOptions} from './state/keys.ts';
import type {ServiceState} from './state/state.ts';

export interface ServiceOptions {
  /** 0, the default, is any free port. */
  port?: number;
  /** The address to listen on: `127.0.0.1` (default), `::1`, `localhost`, or with a `fixedKey` any other. */
  host?: string;
  /** Further names in the Host field that are answered, such as `media` or `media:4010`; without a port, with any. */
  allowHosts?: readonly string[];
  /** Origins whose pages may upload, query and read files, such as `http://localhost:5173`; `*` is any, with a `fixedKey` only. */
  allowOrigins?: readonly string[];
  /** Media that are there from the start, and again after a reset; their IDs follow from their content. */
  seed?: AsyncIterable<SeedFile>;
  /** A key that the owner chose, with all permissions; it is not stored. At least 16 characters. */
  fixedKey?: string;
  /** Where everything is stored; created if missing (0700). Two processes may share it unless both are `exclusive`. */
  dataDirectory: string;
  /** Whether this is the only such service of its directory; it then removes what earlier ones left unfinished. Default false. */
  exclusive?: boolean;
  /** The largest upload in bytes; a larger one gets a 413. Default: any size. */
  maxSize?: number;
  /** How many bytes all uploads together may have; more get a 507. Default: what the disk holds. */
  quota?: number;
  /** The base of the URLs in records; by default the URL of the service. */
  publicUrl?: string;
  /** The status for requests without a token or with insufficient permissions; default 403. */
  deniedStatus?: 403 | 404;
  /** Whether the service supports and announces Idempotency-Key; default true. */
  idempotency?: boolean;
  /** Whether records get thumbnails, where sharp is installed, and videos HLS streams; default false, since making them takes a moment. */
  previews?: boolean;
  /** Whether /metrics is there, for Prometheus; default false. */
  metrics?: boolean;
  clock?: Clock;
  /** How slowly requests may arrive; missing parts have defaults. */
  pace?: Partial<BodyPace>;
  /** Faults on request, for tests of clients. */
  faults?: FaultOptions;
  /** Called with a sentence if the start has to wait. */
  onWait?: (why: string) => void;
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
  /** All uploads, oldest first. */
  records(): Promise<StoredMedia[]>;
  /**
   * Puts media, API keys and the user's name back to how they were at the start, if the service was started with a `seed` or a port
   * that controls it; resolves to the number of media.
   */
  readonly reset: (() => Promise<number>) | undefined;
  /** Stops listening, responds to the uploads that have arrived completely, and closes all connections; files stay. */
  close(): Promise<void>;
}
