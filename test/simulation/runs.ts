import type {Uploader} from '../../src/engine/service/uploader.ts';
import type {Source} from '../../src/engine/sources/open/source.ts';
import type {Outcome} from '../../src/engine/transfer/outcome.ts';
import type {MediaError} from '../../src/errors.ts';
import type {Stop} from '../../src/lib/stop.ts';
import {uploadOn} from '../../src/library/upload-all.ts';
import type {Process} from './process.ts';

export interface LibraryRun {
  process: Process;
  uploader: Uploader;
  cwd: string;
  journal: string;
  concurrency: number;
  onUnknown: 'hold' | 'retry';
  stop: Stop<MediaError>;
}

/** A run of a program that calls the library. */
export async function* libraryRun(
  inputs: (string | Source)[],
  {process, uploader, stop, ...options}: LibraryRun,
): AsyncGenerator<Outcome> {
  const controller = new AbortController();
  stop.addEventListener('abort', () => controller.abort(stop.reason));
  const client = {...uploader, host: 'a.example', baseUrl: 'https://a.example'};
  const results = uploadOn(
    inputs,
    {
      ...{client, ...options, contentType: 'image/png', signal: controller.signal},
      ...{retries: 2, timeoutMs: 10_000, retryMaxWaitMs: 60_000},
    },
    process.host,
  );
  yield* results;
}

/** Bytes that come once, as through a pipe, and are no file that anybody could open again. */
export function streamOf(name: string, bytes: Buffer, process: Process, onOpenedAgain: () => void): Source {
  let opened = 0;
  let isOpen = false;
  return {
    ...{name, relativePath: name, isOnce: true},
    open: async () => {
      opened += 1;
      isOpen = true;
      if (opened > 1) onOpenedAgain();
      return {
        size: bytes.length,
        // Whoever reads what is closed may get the bytes of another file.
        read: (position, length) => {
          const from = isOpen ? bytes : Buffer.alloc(bytes.length, 'x');
          return process.step(() => Buffer.from(from.subarray(position, position + length)));
        },
        verify: async () => 'unchanged',
        close: async () => {
          isOpen = false;
        },
      };
    },
  };
}
