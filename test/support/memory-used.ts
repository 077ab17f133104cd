import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';

/** The bytes that are in use, of the heap and outside it, where columns of numbers lie. */
export function memoryUsed(): number {
  const {heapUsed, arrayBuffers} = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Frees what is no longer used; buffers are freed by another thread, some time later. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
