import {seeded} from '../../lib/seeded.ts';
import type {Exchange} from '../exchange/exchange.ts';
import type {Fault} from './fault.ts';

/** A fault, and how often it was met. */
export interface FaultCount {
  fault: string;
  /** How many requests it could have been for. */
  matched: number;
  /** How often it was applied. */
  applied: number;
}

/** A fault in force. It has random numbers of its own, so that no other fault changes what it does. */
export class ActiveFault {
  readonly fault: Fault;
  readonly #random: () => number;
  #matched = 0;
  #applied = 0;

  constructor(fault: Fault, seed: number, index: number) {
    this.fault = fault;
    this.#random = seeded(seed + 1_000_003 * index);
  }

  /** Whether the fault is for such requests. */
  matches({request, path}: Exchange, operation: string): boolean {
    const {operation: own, name, type} = this.fault;
    if (own !== 'any' && own !== operation) return false;
    const {headers} = request;
    if (name !== undefined && !name.test(fileNameOf(path, headers['content-disposition']))) return false;
    return type === undefined || type.test(/^[^;\s]*/.exec(headers['content-type'] ?? '')?.[0] ?? '');
  }

  /** Counts a request that matches; returns whether the fault is to be applied, and its latency in milliseconds. */
  draw(): {latencyMs: number} | undefined {
    const {nth, rate, latency} = this.fault;
    this.#matched += 1;
    // Drawn for each request, so that it depends on the number of the request alone.
    const share = this.#random();
    const latencyMs = latency?.(this.#random) ?? 0;
    const [first, last] = nth;
    return this.#matched >= first && this.#matched <= last && share < rate ? {latencyMs} : undefined;
  }

  /** Counts that the fault was applied. */
  countApplied(): void {
    this.#applied += 1;
  }

  count(): FaultCount {
    return {fault: this.fault.text, matched: this.#matched, applied: this.#applied};
  }
}

/** The name that the client gave the file, or that it has in the URL; an upload need not have one. */
function fileNameOf(path: string, disposition: string | undefined): string {
  if (disposition === undefined) return path.slice(path.lastIndexOf('/') + 1);
  return /;\s*filename="?([^";]*)/i.exec(disposition)?.[1] ?? '';
}
