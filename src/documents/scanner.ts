import {Worker} from 'node:worker_threads';
import {MediaError} from '../errors.ts';
import {systemHost} from '../host.ts';
import {boundedResponse} from '../lib/bounded-response.ts';
import {systemCode} from '../lib/system-code.ts';
import {threadSource} from '../package-file.ts';
import {mayHoldReference} from './may-hold.ts';
import type {ScanRequest, ScanResponse, ScanResult} from './scan/scan.ts';

const limits = {
  /** The longest document, and the longest MDX, for this thread: at most 3 s; another thread takes 0.1 s to start. */
  lengthHere: 16 * 1024,
  mdxLengthHere: 4 * 1024,
  /** Processor time for a longer document, for all complex ones together, and for each when that is used up. */
  processorMs: 10_000,
  togetherMs: 60_000,
  remainingMs: 1_000,
  /** The heap of the other thread. */
  heapMiB: 1_024,
};

/** Finds the references of documents one after the other; long or deep ones in another thread, which can be ended. */
export class Scanner {
  readonly #limits: typeof limits;
  #thread: Worker | undefined;
  /** The processor time that documents which failed have taken. */
  #lostMs = 0;

  constructor(options: Partial<typeof limits> = {}) {
    this.#limits = {...limits, ...options};
  }

  /** Finds the references of a document, in a thread with a time limit unless it is short and flat. */
  async scan(name: string, request: ScanRequest): Promise<ScanResult> {
    const {lengthHere, mdxLengthHere, processorMs, togetherMs, remainingMs} = this.#limits;
    if (!mayHoldReference(request)) return {references: []};
    const {responseTo, scanThread} = await import('./scan/scan.ts');
    // Many documents that fail would keep a run busy for hours, so later ones get less time.
    const isLate = this.#lostMs >= togetherMs;
    const {processorTime} = systemHost();
    const start = processorTime();
    // Lists, quotes or footnotes within each other, more than 30 deep: each later line costs the square of the depth.
    const deepLine = /^(?:[ \t>*+-]|\d+[.)]|\[\^[^\]\n]+\]:){64}/m;
    const response =
      request.text.length <= (request.kind === 'mdx' ? mdxLengthHere : lengthHere) &&
      !deepLine.test(request.text)
        ? await responseTo(request)
        : await this.#ask(request, scanThread, isLate ? remainingMs : processorMs);
    if (response !== undefined && 'references' in response) return response;
    this.#lostMs += processorTime() - start;
    if (response === undefined && isLate)
      throw new MediaError(
        'document_too_complex',
        `${name} was not checked: complex documents before it took ${togetherMs / 1_000} seconds.`,
        {hint: 'Run the same command for this document only.'},
      );
    const failure = response?.failure ?? `its references were not found in ${processorMs / 1_000} seconds`;
    throw tooComplex(`${name} is too complex: ${failure}.`);
  }

  async end(): Promise<void> {
    await this.#thread?.terminate();
  }

  /** The response of the other thread; undefined if it took too long and was ended: the next request starts another. */
  async #ask(request: ScanRequest, name: string, processorMs: number): Promise<ScanResponse | undefined> {
    const {heapMiB} = this.#limits;
    this.#thread ??= new Worker(threadSource('rewrite-scan'), {
      eval: true,
      workerData: name,
      resourceLimits: {maxOldGenerationSizeMb: heapMiB},
    });
    const response = await boundedResponse<ScanResponse>(this.#thread, request, processorMs).catch(error => {
      this.#thread = undefined;
      if (systemCode(error) !== 'ERR_WORKER_OUT_OF_MEMORY') throw error;
      return {failure: `its references could not be found in ${heapMiB} MiB of memory`};
    });
    if (response === undefined) this.#thread = undefined;
    return response;
  }
}

/** A refusal of a document that would take too much. */
export function tooComplex(sentence: string): MediaError {
  return new MediaError('document_too_complex', sentence, {
    hint: 'Divide it into smaller documents, or leave it out.',
  });
}
