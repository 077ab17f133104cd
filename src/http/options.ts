import type {Clock, Host} from '../host.ts';

/** How connections are made and traced. */
export interface ConnectionOptions {
  clock: Clock;
  /** The environment, which may name a proxy. */
  env: Host['env'];
  userAgent: string;
  connectTimeoutMs?: number | undefined;
  /** Certificate authorities to trust instead of Node's, as PEM text. */
  certificateAuthorities?: string | undefined;
  /** The client certificate for a service that asks for one, as PEM text. */
  clientCertificate?: {certificate: string; key: string} | undefined;
  /** Called for each phase, with its duration. */
  trace?: ((message: string) => void) | undefined;
}
