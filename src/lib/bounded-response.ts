import type {Worker} from 'node:worker_threads';
import {systemHost} from '../host.ts';

/** The response of a thread; undefined if it ended, as it must once this process has used `processorMs` meanwhile. */
export function boundedResponse<Response>(
  thread: Worker,
  request: unknown,
  processorMs: number,
): Promise<Response | undefined> {
  const {clock, processorTime} = systemHost();
  const limit = processorTime() + processorMs;
  return new Promise((resolve, reject) => {
    const stopWatching = clock.every(100, () => {
      if (processorTime() <= limit) return;
      stopWatching();
      // A response that comes now would be taken for one of a thread that goes on.
      thread.off('message', end);
      void thread.terminate();
    });
    const end = (response?: Response) => {
      stopWatching();
      thread.off('message', end).off('error', onError).off('exit', onExit);
      resolve(response);
    };
    const onError = (error: Error) => {
      reject(error);
      end();
    };
    const onExit = () => end();
    thread.on('message', end).on('error', onError).on('exit', onExit);
    thread.postMessage(request);
  });
}
