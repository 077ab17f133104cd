import type {BigIntStats} from 'node:fs';
import type {StopSignal} from '../../host.ts';
import type {DiskFile, InlineFile} from './disk-file.ts';

/**
 * The result of a call on another thread. Rejects with the signal's reason as soon as it is aborted, since a disk may
 * never respond.
 */
export function unlessStopped<Result>(call: Promise<Result>, signal: StopSignal<Error>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const onStop = () => reject(signal.reason);
    const settled = () => signal.removeEventListener('abort', onStop);
    signal.addEventListener('abort', onStop);
    call.finally(settled).then(resolve, reject);
  });
}

/** A file whose calls on other threads are abandoned when the signal is aborted. */
export class StoppableFile implements DiskFile {
  readonly #file: DiskFile;
  readonly #signal: StopSignal<Error>;

  constructor(file: DiskFile, signal: StopSignal<Error>) {
    this.#file = file;
    this.#signal = signal;
  }

  get opened(): BigIntStats {
    return this.#file.opened;
  }

  get inline(): InlineFile | undefined {
    return this.#file.inline;
  }

  read(into: Uint8Array, position: number): number | Promise<number> {
    return this.#unlessStopped(this.#file.read(into, position));
  }

  stat(): BigIntStats | Promise<BigIntStats> {
    return this.#unlessStopped(this.#file.stat());
  }

  statPath(): BigIntStats | undefined | Promise<BigIntStats | undefined> {
    return this.#unlessStopped(this.#file.statPath());
  }

  close(): void | Promise<void> {
    const closing = this.#file.close();
    if (this.#signal.aborted || closing === undefined) return undefined;
    return unlessStopped(closing, this.#signal).catch(() => {});
  }

  #unlessStopped<Result>(result: Result | Promise<Result>): Result | Promise<Result> {
    return result instanceof Promise ? unlessStopped(result, this.#signal) : result;
  }
}
