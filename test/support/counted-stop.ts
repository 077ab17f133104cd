import {Stop} from '../../src/lib/stop.ts';

/** A stop that counts who listens to it. */
export class CountedStop<Reason extends Error> extends Stop<Reason> {
  readonly listeners = new Set<() => void>();

  override addEventListener(type: 'abort', listener: () => void): void {
    this.listeners.add(listener);
    super.addEventListener(type, listener);
  }

  override removeEventListener(type: 'abort', listener: () => void): void {
    this.listeners.delete(listener);
    super.removeEventListener(type, listener);
  }
}
