import {parseObject} from '../../lib/json.ts';
import {own} from '../../lib/own.ts';
import {type Disturbance, ExchangeOver, type PlainResponse, type Stage} from '../exchange/disturbance.ts';
import type {Exchange} from '../exchange/exchange.ts';
import {respond} from '../exchange/respond.ts';
import type {ActiveFault} from './active-fault.ts';
import type {Fault} from './fault.ts';
import type {Waits} from './waits.ts';

/** A fault that is to be applied to this request. */
interface Drawn {
  readonly active: ActiveFault;
  readonly latencyMs: number;
}

/** The faults of one request. */
export class RequestFaults implements Disturbance {
  readonly #exchange: Exchange;
  readonly #waits: Waits;
  readonly #drawn: readonly Drawn[];
  /** Those that depend on the response. */
  readonly #replacing: readonly ActiveFault[];
  readonly #applied = new Set<ActiveFault>();
  /** Only uploads and queries have a body that is received, and something that is done then. */
  readonly #hasStages: boolean;

  constructor(exchange: Exchange, operation: string, active: readonly ActiveFault[], waits: Waits) {
    this.#exchange = exchange;
    this.#waits = waits;
    this.#hasStages = operation === 'upload' || operation === 'graphql';
    const matching = active.filter(one => one.matches(exchange, operation));
    this.#replacing = matching.filter(({fault}) => fault.insteadOf !== undefined);
    this.#drawn = matching
      .filter(({fault}) => fault.insteadOf === undefined)
      .flatMap(one => {
        const drawn = one.draw();
        return drawn === undefined ? [] : [{active: one, latencyMs: drawn.latencyMs}];
      });
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
      const {status, text, headers} = errorOf(fault);
      respond(this.#exchange, status, text, headers);
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
    if (!this.#applied.has(active)) active.countApplied();
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
