import type {Disturbance} from '../exchange/disturbance.ts';
import type {Exchange} from '../exchange/exchange.ts';
import {operationOf} from '../exchange/operation.ts';
import {ActiveFault, type FaultCount} from './active-fault.ts';
import {parseFault} from './fault.ts';
import {RequestFaults} from './request-faults.ts';
import {Waits} from './waits.ts';

/** The faults of a service. The same seed and the same order of requests give the same faults. */
export class Faults {
  #seed = 0;
  #active: readonly ActiveFault[] = [];
  readonly #waits = new Waits();

  get seed(): number {
    return this.#seed;
  }

  /** Replaces all faults, and counts from 1 again; throws an InvalidOption if one cannot be read, and changes nothing then. */
  replace(texts: readonly string[], seed = 0): void {
    this.#active = texts.map((text, index) => new ActiveFault(parseFault(text), seed, index));
    this.#seed = seed;
  }

  /** The faults in force, in the order in which they were given. */
  counts(): FaultCount[] {
    return this.#active.map(one => one.count());
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
