import type {RandomAccess} from '../../lib/files/random-access.ts';
import type {Stop} from '../../lib/stop.ts';
import type {BodyPace} from '../exchange/http-exchange.ts';
import type {Faults} from '../faults/faults.ts';
import type {ServiceState} from '../state/state.ts';

/** A running service, for its routes. */
export interface Service extends Omit<ServiceState, 'close'> {
  /** Whether the service supports and announces Idempotency-Key; default true. */
  readonly idempotency: boolean;
  /** Whether records get thumbnails (with sharp) and videos HLS streams; default false, since that takes a moment. */
  readonly previews: boolean;
  /** The largest upload in bytes; a larger one gets a 413. Default: any size. */
  readonly maxSize: number;
  readonly pace: BodyPace;
  readonly observer: Observer;
  readonly faults: Faults | undefined;
  /** What is counted, if anything is: for Prometheus, in its text format. */
  readonly metrics: {show(): Promise<{text: string; contentType: string}>} | undefined;
  /** Further names in the Host field that are accepted, such as `media` or `media:4010`; without a port, with any. */
  readonly allowHosts: readonly string[];
  /** Origins whose pages may upload, query and read files, such as `http://localhost:5173`; `*` needs a `fixedKey`. */
  readonly allowOrigins: readonly string[];
  /** Aborted when the service is closed. */
  readonly closing: Stop<Error>;
  /** Where the service listens. */
  port(): number;
  /** The base of the URLs in records, without a trailing slash. */
  publicUrl(): string;
}

/** An image or a video that is stored at the start. */
export interface SeedFile {
  readonly name: string;
  readonly contentType: string;
  open(): Promise<RandomAccess & {close(): Promise<void>}>;
  /** Called with the name of another file that has the same content: one is stored for both. */
  onSame?(other: string): void;
}

/** Receives what the service does. */
export interface Observer {
  /** Called once for each request, when its response was sent or its connection was lost. */
  onRequest(entry: RequestEntry): void;
  /** Called with each failure of the service itself, which was sent as a 500. */
  onError(error: unknown): void;
}

/** A request that got a response or was abandoned. */
export interface RequestEntry {
  method: string;
  /** Without the query. */
  path: string;
  /** The status of the response, even if the client had disconnected; 0 if a fault prevented any. */
  status: number;
  /** The bytes of the request's body that arrived, or of the response's body if the request had none. */
  bytes: number;
  /** How long it took, in milliseconds. */
  elapsedMs: number;
  faults?: readonly string[];
}
