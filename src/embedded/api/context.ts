import type {Clock} from '../../host.ts';
import type {BodyPace} from '../exchange/pace.ts';
import type {IdempotencyEntries} from '../store/idempotency.ts';
import type {KeyRing} from '../store/keys.ts';
import type {Store} from '../store/store.ts';

/** What the routes of one running service work with. */
export interface Service {
  readonly store: Store;
  readonly keys: KeyRing;
  readonly entries: IdempotencyEntries;
  readonly idempotency: boolean;
  readonly deniedStatus: 403 | 404;
  readonly clock: Clock;
  readonly pace: BodyPace;
  readonly observer: Observer;
  /** Where the service listens. */
  port(): number;
  /** The base of the URLs in records, without a trailing slash. */
  publicUrl(): string;
}

/** Who is told what the service did. */
export interface Observer {
  onRequest(entry: RequestEntry): void;
  /** A failure of the service itself, answered with 500. */
  onError(error: unknown): void;
}

/** One answered (or abandoned) request. */
export interface RequestEntry {
  method: string;
  /** Without the query. */
  path: string;
  /** Of the answer, or the one that the client did not stay for. */
  status: number;
  /** Of the request's body as far as it arrived, or of the answer's body when the request had none. */
  bytes: number;
  elapsedMs: number;
}
