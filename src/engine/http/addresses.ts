import {ADDRCONFIG, type LookupAddress, lookup as lookUpByNode} from 'node:dns';
import {connect, isIP, type Socket} from 'node:net';
import type {Stop} from '../../lib/stop.ts';
import {systemReason} from '../../lib/system-code.ts';
import type {ConnectionOptions, HttpTrace} from './connection-options.ts';

/** How long an attempt goes on before the next one begins beside it, in milliseconds (RFC 8305, section 8). */
const attemptDelayMs = 250;

interface Round extends Pick<ConnectionOptions, 'clock' | 'lookup'> {
  families: Map<string, number>;
  trace: HttpTrace | undefined;
  /** Ends the round, and closes what it has opened. */
  stop: Stop<Error>;
}

/** Connects to the first address that responds (RFC 8305, sections 4 and 5); rejects with the errors of all. */
export async function connectToHost(name: string, port: number, round: Round): Promise<Socket> {
  const {families, lookup, stop} = round;
  const family = isIP(name);
  // A lookup may refuse an address, so it gets every name.
  const isKnown = family !== 0 && lookup === undefined;
  const addresses = isKnown ? [{address: name, family}] : await lookUp(name, round);
  stop.throwIfAborted();
  const first = families.get(name) ?? addresses[0]?.family;
  const preferred = addresses.filter(({family}) => family === first);
  const others = addresses.filter(({family}) => family !== first);
  const alternating = addresses.flatMap((_, turn) =>
    [preferred, others].flatMap(list => list.slice(turn, turn + 1)),
  );
  const reached = await firstOf(alternating, port, round);
  families.set(name, reached.family);
  return reached.socket;
}

/** The addresses of a host, from the lookup of the round, or from the system's. */
function lookUp(name: string, {trace, lookup = lookUpByNode}: Round): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(name, {all: true, hints: ADDRCONFIG}, (error, addresses) => {
      if (error || !Array.isArray(addresses)) {
        trace?.phase('DNS', `${name}: ${systemReason(error)}`);
        return reject(error);
      }
      trace?.phase('DNS', `${name} is at ${addresses.map(({address}) => address).join(', ')}`);
      resolve(addresses);
    });
  });
}

/** Tries the addresses in turn, 250 ms apart: the first to connect wins. Stays pending once the round is stopped. */
function firstOf(left: LookupAddress[], port: number, {clock, trace, stop}: Round) {
  return new Promise<{socket: Socket; family: number}>((resolve, reject) => {
    const failures: Error[] = [];
    /** The attempts that go on, and where each leads. */
    const attempts = new Map<Socket, string>();
    let cancelNext = () => {};
    /** Forgets an attempt that has ended, and traces that; `how` completes the line. */
    const endAttempt = (socket: Socket, how = '') => {
      const place = attempts.get(socket);
      if (attempts.delete(socket)) trace?.phase('connect', `${place}${how}`);
    };
    /** Gives up all attempts that still go on; the one that has won must be forgotten first. */
    const end = () => {
      cancelNext();
      left.length = 0;
      for (const socket of attempts.keys()) endAttempt(socket.destroy(), ': given up');
    };
    /** Begins the next attempt; once all have failed, the round rejects. */
    const next = () => {
      cancelNext();
      const target = left.shift();
      if (target === undefined) return;
      // If this process was stopped meanwhile (SIGSTOP), what an attempt came to is read first.
      const later = () => {
        cancelNext = clock.after(0, next);
      };
      if (left.length > 0) cancelNext = clock.after(attemptDelayMs, later);
      const {address, family} = target;
      // As much is written at a time as the smallest chunk has.
      const options = {host: address, port, noDelay: true, highWaterMark: 64 * 1024};
      const socket = connect(options);
      attempts.set(socket, `${address} port ${port}`);
      socket.once('connect', () => {
        endAttempt(socket);
        end();
        resolve({socket: socket.setKeepAlive(true, 60_000), family});
      });
      // The listener stays, so that a later error is not thrown; once the socket is open, others handle its errors.
      socket.on('error', error => {
        endAttempt(socket, `: ${systemReason(error)}`);
        failures.push(error);
        next();
        if (attempts.size === 0) reject(new AggregateError(failures));
      });
    };
    stop.addEventListener('abort', end);
    next();
  });
}
