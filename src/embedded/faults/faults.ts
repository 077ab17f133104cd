import {parseObject} from '../../lib/json.ts';
import {own} from '../../lib/object.ts';
import {seeded} from '../../lib/seeded.ts';
import {
  type Disturbance,
  type Exchange,
  ExchangeOver,
  operationOf,
  type PlainResponse,
  type Stage,
} from '../exchange/exchange.ts';
import {respond} from '../exchange/respond.ts';
import {type Fault, parseFault} from './fault.ts';
import {Waits} from './waits.ts';

/** The faults of a service. The same seed and the same order of requests give the same faults. */
export class Faults {
  seed = 0;
  #active: readonly ActiveFault[] = [];
  readonly #waits = new Waits();

  /** Replaces all faults, and counts from 1 again; throws an InvalidOption if one cannot be read, and changes nothing then. */
  replace(texts: readonly string[], seed = 0): void {
    this.#active = texts.map((text, index) => new ActiveFault(parseFault(text), seed, index));
    this.seed = seed;
  }

  /** The faults in force, in the order in which they were given. */
  counts(): FaultCount[] {
    return this.#active.map(({fault, matched, applied}) => ({fault: fault.text, matched, applied}));
  }

  /** What is to be done to a request; undefined if there are no faults at all. */
  disturbanceOf(exchange: Exchange): Disturbance | undefined {
    if (this.#active.length === 0) return undefined;
    return new RequestFaults(exchange, operationOf(exchange.path), this.#active, this.#waits);
  }

  /** Ends all latencies, so that the service can end. */
  stop(): void {
    this.#waits.end();
  }
}

/** A fault, and how often it was met. */
interface FaultCount {
  fault: string;
  /** How many requests it could have been for. */
  matched: number;
  /** How often it was applied. */
  applied: number;
}

/** A fault in force. It has random numbers of its own, so that no other fault changes what it does. */
class ActiveFault {
  readonly fault: Fault;
  readonly #random: () => number;
  matched = 0;
  applied = 0;

  constructor(fault: Fault, seed: number, index: number) {
    this.fault = fault;
    this.#random = seeded(seed + 1_000_003 * index);
  }

  matches({request, path}: Exchange, operation: string): boolean {
    const {operation: own, name} = this.fault;
    if (own !== 'any' && own !== operation) return false;
    return name === undefined || name.test(fileNameOf(path, request.headers['content-disposition']));
  }

  /** Counts a request that matches; returns the fault as it is to be applied, or undefined if it is not. */
  draw(): Drawn | undefined {
    const {nth, rate, latency} = this.fault;
    this.matched += 1;
    // Drawn for each request, so that it depends on the number of the request alone.
    const share = this.#random();
    const latencyMs = latency?.(this.#random) ?? 0;
    const [first, last] = nth;
    const isNamed = this.matched >= first && this.matched <= last;
    return isNamed && share < rate ? {active: this, latencyMs} : undefined;
  }
}

/** The name that the client gave the file, or that it has in the URL; an upload need not have one. */
function fileNameOf(path: string, disposition: string | undefined): string {
  if (disposition === undefined) return path.slice(path.lastIndexOf('/') + 1);
  return /;\s*filename="?([^";]*)/i.exec(disposition)?.[1] ?? '';
}

/** A fault that is to be applied to this request. */
interface Drawn {
  readonly active: ActiveFault;
  readonly latencyMs: number;
}

class RequestFaults implements Disturbance {
  readonly #exchange: Exchange;
  readonly #waits: Waits;
  readonly #drawn: readonly Drawn[];
  /** Faults with `instead-of`, which depend on the response. */
  readonly #replacing: readonly ActiveFault[];
  readonly #applied = new Set<ActiveFault>();
  /** Whether the request has stages after its head: only uploads and queries have. */
  readonly #hasStages: boolean;

  constructor(exchange: Exchange, operation: string, active: readonly ActiveFault[], waits: Waits) {
    this.#exchange = exchange;
    this.#waits = waits;
    this.#hasStages = operation === 'upload' || operation === 'graphql';
    const matching = active.filter(one => one.matches(exchange, operation));
    this.#replacing = matching.filter(({fault}) => fault.insteadOf !== undefined);
    this.#drawn = matching
      .filter(({fault}) => fault.insteadOf === undefined)
      .flatMap(one => one.draw() ?? []);
  }

  get applied(): readonly string[] {
    return [...this.#applied].map(({fault}) => fault.text);
  }

  cuts(): boolean {
    return this.#use(({isCut}) => isCut) !== undefined;
  }

  async at(stage: Stage): Promise<void> {
    for (const {active, latencyMs} of this.#drawn) {
      const {fault} = active;
      if ((this.#hasStages ? fault.after : 'head') !== stage) continue;
      if (fault.latency !== undefined) {
        this.#note(active);
        await this.#waits.wait(this.#exchange, latencyMs);
      }
      this.#end(active);
    }
  }

  async pace(bytes: number): Promise<void> {
    const bandwidth = this.#use(fault => fault.bandwidth !== undefined)?.bandwidth;
    if (bandwidth !== undefined) await this.#waits.wait(this.#exchange, (bytes * 1000) / bandwidth);
  }

  instead(response: PlainResponse): PlainResponse {
    for (const active of this.#replacing) {
      if (active.fault.insteadOf !== response.status || active.draw() === undefined) continue;
      this.#note(active);
      return errorOf(active.fault);
    }
    const wrong = response.status === 200 ? this.#use(fault => fault.wrong !== undefined)?.wrong : undefined;
    return wrong === undefined ? response : {...response, text: withWrongField(response.text, wrong)};
  }

  /** Ends the exchange, if that is what the fault does. */
  #end(active: ActiveFault): void {
    const {fault} = active;
    const {request, response} = this.#exchange;
    if (fault.status === undefined && fault.end === undefined) return;
    this.#note(active);
    if (fault.status !== undefined) {
      respond(this.#exchange, errorOf(fault));
    } else {
      // The log has no status for what was never sent.
      response.statusCode = 0;
      if (fault.end === 'reset') request.socket.resetAndDestroy();
      else if (request.socket.readableEnded) request.socket.destroy();
      else request.socket.once('end', () => request.socket.destroy());
    }
    throw new ExchangeOver();
  }

  /** The first fault of a kind that is to be applied. */
  #use(isIt: (fault: Fault) => boolean): Fault | undefined {
    const found = this.#drawn.find(({active}) => isIt(active.fault));
    if (found !== undefined) this.#note(found.active);
    return found?.active.fault;
  }

  #note(active: ActiveFault): void {
    if (!this.#applied.has(active)) active.applied += 1;
    this.#applied.add(active);
  }
}

function errorOf({status = 500, withRecord, retryAfter}: Fault): PlainResponse {
  const wait = retryAfter === undefined ? {} : {'Retry-After': String(retryAfter)};
  if (withRecord) {
    return {status, text: JSON.stringify({code: status, message: 'A fault on request.'}), headers: wait};
  }
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
