import type {LookupFunction} from 'node:net';
import type {Clock, Host} from '../host.ts';
import type {Families} from './addresses.ts';

/** How connections are made and traced. */
export interface ConnectionOptions {
  clock: Clock;
  /** The environment, which may name a proxy. */
  env: Host['env'];
  userAgent: string;
  /** For each step: TCP, CONNECT, TLS. */
  connectTimeoutMs?: number | undefined;
  /** What the connections of a run learn of the hosts. */
  families?: Families;
  /** Certificate authorities to trust instead of Node's, as PEM text. */
  certificateAuthorities?: string | undefined;
  /** The client certificate for a service that asks for one, as PEM text. */
  clientCertificate?: {certificate: string; key: string} | undefined;
  /** Looks up the addresses of the host, in place of Node. */
  lookup?: LookupFunction | undefined;
  /** Called for each phase, with its duration. */
  trace?: ((message: string) => void) | undefined;
}
