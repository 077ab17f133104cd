import type {Outcome} from '../transfer/outcome.ts';
import {exitStatus} from './exit-status.ts';

/** Counts what became of the inputs; keeps one outcome of each kind, however many there are. */
export class Tally {
  readonly #counts = {uploaded: 0, skipped: 0, checked: 0, failed: 0, unknown: 0};
  readonly #kinds = new Map<string, Outcome>();

  add(outcome: Outcome): void {
    this.#counts[outcome.status] += 1;
    this.#kinds.set(`${outcome.status} ${'error' in outcome ? outcome.error.code : ''}`, outcome);
  }

  count(status: Outcome['status']): number {
    return this.#counts[status];
  }

  /** How many inputs are done with. */
  get total(): number {
    return Object.values(this.#counts).reduce((sum, count) => sum + count, 0);
  }

  /** How many failed or ended unknown. */
  get failures(): number {
    return this.#counts.failed + this.#counts.unknown;
  }

  /** How many were uploaded, now or before, or found fit. */
  get successes(): number {
    return this.#counts.uploaded + this.#counts.skipped + this.#counts.checked;
  }

  /** The closing line, as the contract words it. */
  summary(): string {
    const {uploaded, skipped, checked, failed, unknown} = this.#counts;
    return `${uploaded} uploaded, ${skipped + checked} skipped, ${failed} failed, ${unknown} unknown`;
  }

  exitStatus(): number {
    return exitStatus([...this.#kinds.values()]);
  }
}
