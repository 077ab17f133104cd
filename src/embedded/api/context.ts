import type {Clock} from '../../host.ts';
import type {BodyPace} from '../exchange/pace.ts';
import type {Faults} from '../faults/faults.ts';
import type {KeyUses} from '../keys/key-uses.ts';
import type {KeyRing} from '../keys/keys.ts';
import type {Sessions} from '../keys/sessions.ts';
import type {IdempotencyEntries} from '../store/idempotency.ts';
import type {UserProfile} from '../store/profile.ts';
import type {Store} from '../store/store.ts';
import type {Metrics} from './metrics.ts';
import type {RequestEntry} from './request-entry.ts';

/** The state of a running service, for its routes. */
export interface Service {
  /** Identifies the data directory. */
  readonly identity: string;
  readonly store: Store;
  readonly keys: KeyRing;
  readonly keyUses: KeyUses;
  readonly profile: UserProfile;
  readonly sessions: Sessions;
  readonly entries: IdempotencyEntries;
  readonly idempotency: boolean;
  readonly previews: boolean;
  readonly deniedStatus: 403 | 404;
  /** The largest upload, in bytes. */
  readonly maxSize: number;
  readonly clock: Clock;
  readonly pace: BodyPace;
  readonly observer: Observer;
  /** The faults that are applied to requests. */
  readonly faults: Faults | undefined;
  /** What is counted, if anything is. */
  readonly metrics: Promise<Metrics> | undefined;
  /** Names in the Host field that are answered besides loopback. */
  readonly allowHosts: readonly string[];
  /** Where the service listens. */
  port(): number;
  /** The base of the URLs in records, without a trailing slash. */
  publicUrl(): string;
}

/** Receives what the service does. */
export interface Observer {
  onRequest(entry: RequestEntry): void;
  /** A failure of the service itself, which was sent as a 500. */
  onError(error: unknown): void;
}
