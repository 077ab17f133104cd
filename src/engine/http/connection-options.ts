import type {LookupFunction} from 'node:net';
import type {Clock, Host} from '../../host.ts';

/** The most bytes of header fields that a response may have, as in curl. */
export const maxHeaderSize = 300 * 1024;

export interface ConnectionOptions {
  clock: Clock;
  /** The environment, which may name a proxy. */
  env: Host['env'];
  /** Fields of every request. */
  headers: Readonly<Record<string, string>>;
  /** For each step: TCP, CONNECT, TLS. */
  connectTimeoutMs?: number | undefined;
  /** The family of addresses (4 or 6) that a run reached first, by host name: it is tried first from then on. */
  families?: Map<string, number> | undefined;
  /** Certificate authorities to trust instead of Node's, as PEM text. */
  certificateAuthorities?: string | undefined;
  /** The client certificate for a service that asks for one, as PEM text. */
  clientCertificate?: {certificate: string; key: string} | undefined;
  /** Looks up the addresses of the host, in place of Node. */
  lookup?: LookupFunction | undefined;
  /** Called for each phase, with its duration. */
  trace?: ((message: string) => void) | undefined;
}

export type HttpTrace = ReturnType<typeof traceOf>;

/** Traces the phases of a connection and its requests: names, addresses, sizes and times, never header values. */
export function traceOf(name: string, write: (message: string) => void, clock: Clock) {
  let last = clock.monotonic();
  return {
    /** Starts the next phase. */
    restart() {
      last = clock.monotonic();
    },
    /** Reports that a phase has ended, and its duration. */
    phase(phase: string, message: string) {
      const start = last;
      last = clock.monotonic();
      write(`${name}: ${phase}: ${message} (${(last - start).toFixed(1)} ms)`);
    },
  };
}
