import {lookup} from 'node:dns';
import type {LookupFunction, Socket} from 'node:net';
import type {TLSSocket} from 'node:tls';
import type {buildConnector} from 'undici';
import type {Clock} from '../host.ts';

/** Traces the phases of a connection and its requests: names, addresses, sizes and times, never header values. */
export class HttpTrace {
  readonly #write: (message: string) => void;
  readonly #clock: Clock;
  readonly #name: string;
  #last: number;

  constructor(name: string, write: (message: string) => void, clock: Clock) {
    this.#name = name;
    this.#write = write;
    this.#clock = clock;
    this.#last = clock.monotonic();
  }

  /** Starts the next phase. */
  restart(): void {
    this.#last = this.#clock.monotonic();
  }

  /** Reports that a phase has ended, and its duration. */
  phase(name: string, message: string): void {
    const now = this.#clock.monotonic();
    this.#write(`${this.#name}: ${name}: ${message} (${(now - this.#last).toFixed(1)} ms)`);
    this.#last = now;
  }

  /** Looks names up as Node does, and reports the result. */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    lookup(hostname, options, (error, address, family) => {
      const addresses = Array.isArray(address) ? address.map(found => found.address).join(', ') : address;
      this.phase('DNS', error === null ? `${hostname} is at ${addresses}` : `${hostname}: ${error.code}`);
      callback(error, address, family);
    });
  };

  /** Splits a connector into TCP and TLS, and reports each. */
  stepwise(connect: buildConnector.connector): buildConnector.connector {
    return (parameters, callback) => {
      this.restart();
      const secure = (socket: Socket) =>
        connect({...parameters, httpSocket: socket}, (error, secured) => {
          if (error) return callback(error, null);
          const {authorized} = secured as TLSSocket;
          const cipher = (secured as TLSSocket).getCipher().name;
          this.phase(
            'TLS',
            `${(secured as TLSSocket).getProtocol()}, ${cipher}${authorized ? '' : ', not verified'}`,
          );
          callback(null, secured);
        });
      if (parameters.httpSocket !== undefined) return secure(parameters.httpSocket);
      const port = parameters.port || (parameters.protocol === 'https:' ? '443' : '80');
      connect({...parameters, protocol: 'http:', port}, (error, socket) => {
        if (error) return callback(error, null);
        this.phase('connect', `${socket.remoteAddress} port ${socket.remotePort}`);
        if (parameters.protocol === 'https:') secure(socket);
        else callback(null, socket);
      });
    };
  }
}
