import type {BigIntStats} from 'node:fs';
import type {StopSignal} from '../../host.ts';
import {unlessStopped} from '../../lib/stop.ts';
import type {DiskFile, InlineFile} from './disk-file.ts';

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
