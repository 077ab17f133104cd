import type {StopSignal} from '../host.ts';

/**
 * Ends a run or one attempt. An AbortController would do the same, for a twentieth of the CPU time of a small upload, and
 * warns of many who listen.
 */
export class Stop<Reason = unknown> implements StopSignal<Reason> {
  #aborted = false;
  #reason: Reason | undefined;
  readonly #listeners = new Set<() => void>();

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): Reason | undefined {
    return this.#reason;
  }

  /** Tells all who listen, each once; what comes after the first time counts for nothing. */
  abort(reason: Reason): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
  }
}
