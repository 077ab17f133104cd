import {ADDRCONFIG, type LookupAddress, lookup as lookUpByNode} from 'node:dns';
import {connect, isIP, type Socket} from 'node:net';
import type {Stop} from '../../lib/stop.ts';
import {systemReason} from '../../lib/system-code.ts';
import type {ConnectionOptions, Families, HttpTrace} from './connection-options.ts';

/** How long an attempt goes on before the next one begins beside it, in milliseconds (RFC 8305, section 8). */
const attemptDelayMs = 250;

/** What is written at a time may be as long as what is read from a file at a time. */
const socketOptions = {noDelay: true, highWaterMark: 64 * 1024};

interface Round extends Pick<ConnectionOptions, 'clock' | 'lookup'> {
  families: Families;
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
  const found = isKnown ? [{address: name, family}] : await lookUp(name, round);
  stop.throwIfAborted();
  const first = families.get(name) ?? found[0]?.family;
  const own = found.filter(({family}) => family === first);
  const others = found.filter(({family}) => family !== first);
  const alternating = found.flatMap((_, turn) => [
    ...own.slice(turn, turn + 1),
    ...others.slice(turn, turn + 1),
  ]);
  const reached = await firstOf(alternating, port, round);
  families.set(name, reached.family);
  return reached.socket;
}

/** The addresses of a host, from the lookup of the round, or from the system's. */
function lookUp(name: string, {trace, lookup = lookUpByNode}: Round): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(name, {all: true, hints: ADDRCONFIG}, (error, found) => {
      if (error || !Array.isArray(found)) {
        trace?.phase('DNS', `${name}: ${systemReason(error)}`);
        return reject(error);
      }
      trace?.phase('DNS', `${name} is at ${found.map(({address}) => address).join(', ')}`);
      resolve(found);
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
    const ended = (socket: Socket, how = '') => {
      const place = attempts.get(socket);
      if (attempts.delete(socket)) trace?.phase('connect', `${place}${how}`);
    };
    const end = () => {
      cancelNext();
      left.length = 0;
      for (const socket of attempts.keys()) ended(socket.destroy(), ': given up');
    };
    /** When this process has been stopped meanwhile, what an attempt came to is read first. */
    const late = () => {
      cancelNext = clock.after(0, next);
    };
    const next = () => {
      cancelNext();
      const tried = left.shift();
      if (tried === undefined) return;
      if (left.length > 0) cancelNext = clock.after(attemptDelayMs, late);
      const {address, family} = tried;
      const socket = connect({host: address, port, ...socketOptions});
      attempts.set(socket, `${address} port ${port}`);
      socket.once('connect', () => {
        ended(socket);
        end();
        resolve({socket: socket.setKeepAlive(true, 60_000), family});
      });
      // The listener stays, so that a later error is not thrown; once the socket is open, others handle its errors.
      socket.on('error', error => {
        ended(socket, `: ${systemReason(error)}`);
        failures.push(error);
        next();
        if (attempts.size === 0) reject(new AggregateError(failures));
      });
    };
    stop.addEventListener('abort', end);
    next();
  });
}
