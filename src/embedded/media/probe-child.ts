import {createInterface} from 'node:readline';
import {isMainThread, parentPort, Worker} from 'node:worker_threads';
import {systemHost} from '../../host.ts';
import {parseObject} from '../../lib/json.ts';
import {hasShape, isString, type Shape} from '../../lib/shape.ts';
import type {MediaFacts, ProbeRequest} from './media-facts.ts';
import {probe} from './probe.ts';

/** The heap limit of the thread that reads videos. What it reads is held outside the heap, at most 64 MiB. */
const heapMiB = 192;

const requestShape: Shape<ProbeRequest> = {path: isString, contentType: isString};

if (isMainThread) void serve();
else {
  parentPort?.on('message', async (request: ProbeRequest) => {
    parentPort?.postMessage(await probe(request));
  });
}

/**
 * Reads one request per line and writes the facts, one line per response in the same order, until standard input ends. The first line
 * says that it is ready. The parent process kills it if a response takes too long.
 */
async function serve(): Promise<void> {
  const {stdin, stdout, onEndSignal} = systemHost();
  // A terminal sends Ctrl-C to this process too; the service may still need it for uploads that have arrived.
  onEndSignal(() => {});
  const lines = createInterface({input: stdin});
  let thread: Worker | undefined;
  // Not awaited: a video may keep its thread busy forever.
  lines.once('close', () => thread?.terminate());
  stdout.write('{}\n');
  for await (const line of lines) {
    const request = parseObject(line) ?? {};
    let facts: MediaFacts | undefined = {};
    if (hasShape(request, requestShape)) {
      const isVideo = request.contentType.startsWith('video/');
      if (isVideo) thread ??= startThread();
      facts = thread !== undefined && isVideo ? await answerOf(thread, request) : await probe(request);
    }
    if (facts === undefined) thread = undefined;
    stdout.write(`${JSON.stringify(facts ?? {})}\n`);
  }
}

function startThread(): Worker {
  return new Worker(new URL(import.meta.url), {resourceLimits: {maxOldGenerationSizeMb: heapMiB}});
}

/** Resolves to undefined if the thread has ended instead. */
function answerOf(thread: Worker, request: ProbeRequest): Promise<MediaFacts | undefined> {
  return new Promise(resolve => {
    const settle = (facts?: MediaFacts) => {
      thread.off('message', settle).off('error', onEnd).off('exit', onEnd);
      resolve(facts);
    };
    const onEnd = () => settle();
    thread.on('message', settle).on('error', onEnd).on('exit', onEnd);
    thread.postMessage(request);
  });
}
