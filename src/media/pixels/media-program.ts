import {isMainThread, parentPort, Worker} from 'node:worker_threads';
import {systemHost} from '../../host.ts';
import {boundedResponse} from '../../lib/bounded-response.ts';
import {threadSource} from '../../package-file.ts';
import {agreeingFacts, canCompare, probeWithFfprobe} from './ffmpeg.ts';
import type {Findings, MediaFacts, MediaRequest} from './media-facts.ts';
import {probe} from './probe.ts';

/** Limits of the thread that reads files: processor time per file, and heap. Buffers outside take up to 64 MiB. */
const limits = {
  processorMs: {probe: 12_000, video: 2_000, size: 2_000, thumbnail: 12_000, stream: 20_000},
  heapMiB: 192,
};

/** Does everything that may need much memory or keep it busy forever. */
let thread: Worker | undefined;

if (!isMainThread)
  parentPort?.on('message', async (request: MediaRequest) => {
    parentPort?.postMessage(
      request.target === undefined ? await probe(request) : {isMade: await isMade(request)},
    );
  });

/** The other end of a MediaChild, its parent: responds to one request after the other, until the channel to it ends. */
export function serveMediaChild(channel: Pick<NodeJS.Process, 'on' | 'send'>): void {
  // A terminal sends Ctrl-C to this process too; the service may still need it for uploads that have arrived.
  systemHost().onEndSignal(() => {});
  channel.on('disconnect', () => void thread?.terminate());
  channel.on('message', async (request: MediaRequest) => {
    const {task} = request;
    const response = task === 'probe' ? facts(request) : inThread(request, limits.processorMs[task]);
    // An empty response says that the thread has ended: there are no facts, or there is no preview.
    channel.send?.((await response) ?? {});
  });
}

/** Makes what a request is for; each kind needs a large module. */
async function isMade(request: MediaRequest): Promise<boolean> {
  try {
    if (request.task === 'thumbnail') return await (await import('./thumbnail.ts')).writeThumbnail(request);
    return await (await import('./stream.ts')).writeStream(request);
  } catch {
    return false;
  }
}

/** The facts that our own reader and ffprobe agree on. */
async function facts(request: MediaRequest): Promise<MediaFacts | undefined> {
  const kind = request.contentType.startsWith('video/') ? 'video' : request.task;
  const reading = inThread<Findings>(request, limits.processorMs[kind]);
  // Starting ffprobe takes far longer than reading a header.
  const isDecided = request.contentType.startsWith('image/') && !canCompare((await reading)?.imageType);
  const [facts, others] = await Promise.all([reading, isDecided ? {} : probeWithFfprobe(request)]);
  return facts && agreeingFacts(facts, others);
}

/** Resolves to undefined if the thread has ended instead, also because it used too much time. */
async function inThread<Response extends object>(
  request: MediaRequest,
  processorMs: number,
): Promise<Response | undefined> {
  thread ??= new Worker(threadSource('media-program'), {
    eval: true,
    resourceLimits: {maxOldGenerationSizeMb: limits.heapMiB},
  });
  const response = await boundedResponse<Response>(thread, request, processorMs).catch(() => undefined);
  if (response === undefined) thread = undefined;
  return response;
}
