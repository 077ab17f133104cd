import type {Clock, Host} from '../host.ts';

/** How connections are made, and what is told of them. */
export interface ConnectionOptions {
  clock: Clock;
  /** Names the proxy, if any. */
  env: Host['env'];
  userAgent: string;
  connectTimeoutMs?: number | undefined;
  /** Certificate authorities to trust instead of Node's, as PEM text. */
  certificateAuthorities?: string | undefined;
  /** What to show a service that asks for a certificate, as PEM text. */
  clientCertificate?: {certificate: string; key: string} | undefined;
  /** Told of each phase, with its time. */
  trace?: ((message: string) => void) | undefined;
}
