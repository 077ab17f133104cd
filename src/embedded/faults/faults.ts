import type {StopSignal} from '../../host.ts';
import {parseObject} from '../../lib/json.ts';
import {own} from '../../lib/object.ts';
import {seededRandom} from '../../lib/seeded.ts';
import {Stop} from '../../lib/stop.ts';
import {
  type Disturbance,
  type Exchange,
  ExchangeOver,
  operationOf,
  type PlainResponse,
} from '../exchange/http-exchange.ts';
import {respond} from '../exchange/respond.ts';
import {type Fault, parseFault} from './fault.ts';

/** The faults of a service. The same faults and the same order of requests have the same effects. */
export class Faults {
  #active: readonly ActiveFault[] = [];

  /** Replaces all faults, and counts from 1 again; throws an InvalidOption, and changes nothing, for an invalid one. */
  replace(texts: readonly string[]): void {
    this.#active = texts.map((text, index) => {
      const fault = parseFault(text);
      return {...fault, random: seededRandom(fault.seed + 1_000_003 * index), matched: 0, applied: 0};
    });
  }

  /** The faults in force, in their order: how many requests each could have been for, and how often it was applied. */
  counts() {
    return this.#active.map(({text, matched, applied}) => ({fault: text, matched, applied}));
  }

  /** What is to be done to a request; undefined if there are no faults at all. `stop` ends all latencies. */
  disturbanceOf(exchange: Exchange, stop: StopSignal): Disturbance | undefined {
    return this.#active.length === 0 ? undefined : disturbanceOf(exchange, this.#active, stop);
  }
}

/** A fault in force. It has random numbers of its own, so that no other fault changes what it does. */
interface ActiveFault extends Fault {
  readonly random: () => number;
  matched: number;
  applied: number;
}

/** Counts a request that a fault is for; returns the fault with its latency, or undefined if it spares this request. */
function drawFault(fault: ActiveFault) {
  const {nth, rate, latency} = fault;
  fault.matched += 1;
  // Drawn for each request, so that the numbers of a request depend on its place in the order alone.
  const share = fault.random();
  const latencyMs = latency?.(fault.random) ?? 0;
  const [first, last] = nth;
  const isNamed = fault.matched >= first && fault.matched <= last;
  return isNamed && share < rate ? {fault, latencyMs} : undefined;
}

/** What the faults do to a request: each counts it now, or with `instead-of` at a response of that status. */
function disturbanceOf(exchange: Exchange, active: readonly ActiveFault[], stop: StopSignal): Disturbance {
  const operation = operationOf(exchange.path);
  // Other requests have no stages after their head.
  const hasStages = operation === 'upload' || operation === 'graphql';
  const matching = active.filter(fault => ['any', operation].includes(fault.operation));
  const early = matching
    .filter(fault => fault['instead-of'] === undefined)
    .flatMap(fault => drawFault(fault) ?? []);
  const appliedFaults = new Set<ActiveFault>();
  /** For the bytes that were paced and not waited for yet. */
  let owedMs = 0;
  /** Counts a fault as applied, once per request. */
  const markApplied = (fault: ActiveFault) => {
    if (!appliedFaults.has(fault)) fault.applied += 1;
    appliedFaults.add(fault);
  };
  /** The value of a part in the first fault that has it, and thereby is applied. */
  const use = <Name extends keyof Fault>(name: Name): Fault[Name] | undefined => {
    const match = early.find(({fault}) => fault[name] !== undefined);
    if (match !== undefined) markApplied(match.fault);
    return match?.fault[name];
  };
  return {
    get appliedFaults() {
      return [...appliedFaults].map(({text}) => text);
    },
    cuts: () => use('cut') === true,
    // Waits and ends the request as the faults of this stage say; see Disturbance.
    async at(stage) {
      for (const {fault, latencyMs} of early) {
        if ((hasStages ? fault.after : 'head') !== stage) continue;
        const ends = (fault.status ?? fault.reset ?? fault.silence) !== undefined;
        if (ends || fault.latency !== undefined) markApplied(fault);
        if (fault.latency !== undefined) await waitWhileConnected(exchange, latencyMs, stop);
        if (ends) endExchange(exchange, fault);
      }
    },
    // Waits as long as these bytes take with the bandwidth of a fault.
    async pace(bytes) {
      const bandwidth = use('bandwidth');
      if (bandwidth !== undefined) owedMs += (bytes * 1000) / bandwidth;
      // A timer is late by a millisecond or two.
      if (owedMs < 10) return;
      const waitMs = owedMs;
      owedMs = 0;
      await waitWhileConnected(exchange, waitMs, stop);
    },
    // The response in place of this one: an error for its status, or a record with a wrong field.
    instead(response) {
      // Every fault draws its random number, so that no fault changes how often another one is applied.
      const drawn = matching.filter(
        fault => fault['instead-of'] === response.status && drawFault(fault) !== undefined,
      );
      const [fault] = drawn;
      if (fault !== undefined) {
        markApplied(fault);
        return responseOf(fault);
      }
      const wrong = response.status === 200 ? use('wrong') : undefined;
      return wrong === undefined ? response : {...response, text: withWrongField(response.text, wrong)};
    },
  };
}

/** How long a fault keeps a connection in silence. */
const longestSilenceMs = 3_600_000;

/** Ends an exchange as a fault says: with its status, by a reset, or in silence until the client closes. */
function endExchange(exchange: Exchange, fault: Fault): never {
  const {socket} = exchange.request;
  const close = () => socket.destroy();
  if (fault.status !== undefined) {
    respond(exchange, responseOf(fault));
  } else {
    // The log has no status for what was never sent.
    exchange.response.statusCode = 0;
    if (fault.reset) socket.resetAndDestroy();
    else if (socket.readableEnded) close();
    // Behind bytes that nobody reads, the end of a client that has gone is never seen.
    else socket.once('end', close).once('close', exchange.clock.after(longestSilenceMs, close));
  }
  throw new ExchangeOver();
}

/** The response of a fault: an error record or, with `record=no`, an HTML page such as a proxy sends. */
function responseOf({status = 500, record, 'retry-after': retryAfter}: Fault): PlainResponse {
  const wait = retryAfter === undefined ? {} : {'Retry-After': String(retryAfter)};
  if (record)
    return {status, text: JSON.stringify({code: status, message: 'A fault on request.'}), headers: wait};
  const headers = {...wait, 'Content-Type': 'text/html; charset=utf-8'};
  return {status, text: '<!doctype html><title>A fault on request</title>\n', headers};
}

/** A response's JSON with another value of that field: a number that is 1 more, or something else. */
function withWrongField(text: string, field: string): string {
  const record = parseObject(text);
  if (record === undefined) return text;
  const value = own(record, field);
  return JSON.stringify({...record, [field]: typeof value === 'number' ? value + 1 : 'wrong'});
}

/** Resolves after `ms` milliseconds; earlier when the client is gone, or when `stop` ends the service. */
async function waitWhileConnected(exchange: Exchange, ms: number, stop: StopSignal): Promise<void> {
  const {clock, connection, response} = exchange;
  const signals = [connection.failed, stop];
  if (response.destroyed || signals.some(signal => signal.aborted)) return;
  const over = new Stop<undefined>();
  const end = () => over.abort(undefined);
  response.once('close', end);
  for (const signal of signals) signal.addEventListener('abort', end);
  const stopAsking = askWhetherGone(exchange);
  await clock.sleep(ms, over).catch(() => {});
  stopAsking();
  response.off('close', end);
  for (const signal of signals) signal.removeEventListener('abort', end);
}

/**
 * A client that has closed its side may still read, or be gone: only sending shows which. From then on, sends it
 * interim responses (102; RFC 9110, 15.2), which break the connection if it is gone, at growing intervals. Returns a
 * function that stops.
 */
function askWhetherGone({request, response, clock}: Exchange): () => void {
  const {socket, httpVersion} = request;
  // A client of HTTP/1.0 does not know interim responses.
  if (httpVersion === '1.0') return () => {};
  let cancel = () => {};
  let pauseMs = 10;
  // Sends an interim response after a pause, and after each further pause, which is twice as long.
  const askLater = () => {
    cancel = clock.after(pauseMs, () => {
      if (response.headersSent) return;
      response.writeProcessing();
      pauseMs *= 2;
      askLater();
    });
  };
  if (socket.readableEnded) askLater();
  else socket.once('end', askLater);
  return () => {
    socket.off('end', askLater);
    cancel();
  };
}
