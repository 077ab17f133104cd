import {createInterface} from 'node:readline';
import {isMainThread, parentPort, Worker} from 'node:worker_threads';
import {systemHost} from '../../host.ts';
import {boundedAnswer} from '../../lib/bounded-answer.ts';
import {hasShape, parseObject} from '../../lib/json.ts';
import {agreeing, canCompare, probeWithFfprobe} from './ffmpeg.ts';
import {type Findings, type MediaRequest, requestShape} from './media-facts.ts';
import {probe} from './probe.ts';

/** Limits of the thread that reads videos: for one of them, and for its heap. What it reads is held outside, at most 64 MiB. */
const limits = {processorMs: 2_000, heapMiB: 192};

/** Reads videos, which may keep it busy forever. */
let thread: Worker | undefined;

if (isMainThread) void serve();
else {
  parentPort?.on('message', async (request: MediaRequest) => {
    parentPort?.postMessage(await probe(request));
  });
}

/** The other end of a MediaChild: reads one request per line and writes one response per line in the same order, until its input ends. */
async function serve(): Promise<void> {
  const {stdin, stdout, onEndSignal} = systemHost();
  // A terminal sends Ctrl-C to this process too; the service may still need it for uploads that have arrived.
  onEndSignal(() => {});
  const lines = createInterface({input: stdin});
  lines.once('close', () => void thread?.terminate());
  const respond = (response: object) => stdout.write(`${JSON.stringify(response)}\n`);
  respond({});
  for await (const line of lines) {
    const request = parseObject(line) ?? {};
    respond(hasShape(request, requestShape) ? await responseTo(request) : {});
  }
}

async function responseTo(request: MediaRequest): Promise<object> {
  if (request.task === 'probe') return facts(request);
  return {isMade: await make(request).catch(() => false)};
}

/** Makes what a request is for; each kind needs a large module. */
async function make(request: MediaRequest): Promise<boolean> {
  const {task, path, target = ''} = request;
  if (task === 'thumbnail') {
    const {writeThumbnail} = await import('./thumbnail.ts');
    return writeThumbnail(request, target);
  }
  const {writeStream} = await import('./stream.ts');
  return writeStream(path, target);
}

/** The facts that our own reader and ffprobe agree on. */
async function facts(request: MediaRequest): Promise<object> {
  const isVideo = request.contentType.startsWith('video/');
  const reading = isVideo ? probeInThread(request) : probe(request);
  // Starting ffprobe takes far longer than reading a header.
  const isDecided = request.contentType.startsWith('image/') && !canCompare((await reading)?.imageType);
  const [found, others] = await Promise.all([reading, isDecided ? {} : probeWithFfprobe(request)]);
  return found === undefined ? {} : agreeing(found, others);
}

/** Resolves to undefined if the thread has ended instead, also because it used too much time. */
async function probeInThread(request: MediaRequest): Promise<Findings | undefined> {
  thread ??= new Worker(new URL(import.meta.url), {
    resourceLimits: {maxOldGenerationSizeMb: limits.heapMiB},
  });
  const found = await boundedAnswer<Findings>(thread, request, limits.processorMs).catch(() => undefined);
  if (found === undefined) thread = undefined;
  return found;
}
