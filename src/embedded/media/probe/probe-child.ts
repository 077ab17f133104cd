import {isMainThread, parentPort, Worker} from 'node:worker_threads';
import {systemHost} from '../../../host.ts';
import {isString, type Shape} from '../../../lib/shape.ts';
import {answerRequests} from '../child/answer-requests.ts';
import type {Findings, MediaFacts, ProbeRequest} from '../media-facts.ts';
import {probe} from './probe.ts';
import {agreeing, canCompare, probeWithFfprobe} from './probe-ffprobe.ts';

/** Limits of the thread that reads videos: for one of them, and for its heap. What it reads is held outside, at most 64 MiB. */
const limits = {processorMs: 2_000, heapMiB: 192};

const requestShape: Shape<ProbeRequest> = {path: isString, contentType: isString};

if (isMainThread) void serve();
else {
  parentPort?.on('message', async (request: ProbeRequest) => {
    parentPort?.postMessage(await probe(request));
  });
}

/** Images are read in this process, videos in a thread of it, which may be busy forever. */
async function serve(): Promise<void> {
  let thread: Worker | undefined;
  const read = async (request: ProbeRequest): Promise<Findings | undefined> => {
    if (!request.contentType.startsWith('video/')) return probe(request);
    thread ??= startThread();
    const facts = await answerOf(thread, request);
    if (facts === undefined) thread = undefined;
    return facts;
  };
  const answer = async (request: ProbeRequest): Promise<MediaFacts> => {
    const reading = read(request);
    // Starting ffprobe takes far longer than reading a header.
    const isDecided = request.contentType.startsWith('image/') && !canCompare((await reading)?.imageType);
    const [facts, others] = await Promise.all([reading, isDecided ? {} : probeWithFfprobe(request)]);
    return facts === undefined ? {} : agreeing(facts, others);
  };
  await answerRequests(requestShape, answer, () => void thread?.terminate());
}

function startThread(): Worker {
  return new Worker(new URL(import.meta.url), {resourceLimits: {maxOldGenerationSizeMb: limits.heapMiB}});
}

/** Resolves to undefined if the thread has ended instead, also because it used too much time. */
function answerOf(thread: Worker, request: ProbeRequest): Promise<Findings | undefined> {
  const {clock, processorTime} = systemHost();
  const end = processorTime() + limits.processorMs;
  return new Promise(resolve => {
    const stopWatching = clock.every(100, () => {
      if (processorTime() > end) void thread.terminate();
    });
    const settle = (facts?: Findings) => {
      stopWatching();
      thread.off('message', settle).off('error', onEnd).off('exit', onEnd);
      resolve(facts);
    };
    const onEnd = () => settle();
    thread.on('message', settle).on('error', onEnd).on('exit', onEnd);
    thread.postMessage(request);
  });
}
