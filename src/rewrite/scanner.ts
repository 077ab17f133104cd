import {fileURLToPath} from 'node:url';
import {createContext, Script} from 'node:vm';
import {Worker} from 'node:worker_threads';
import {MediaError} from '../errors.ts';
import {systemHost} from '../host.ts';
import {shellQuoted} from '../lib/shell.ts';
import {systemCode} from '../lib/system-code.ts';
import {packageFile} from '../package-file.ts';
import type {Reference} from './scan/reference.ts';
import type {ScanAnswer, ScanRequest} from './scan/scan.ts';

/**
 * In milliseconds: time on this thread, processor time for one document, and for all that are too complex together. The heap of the
 * other thread in MiB.
 */
const limits = {inlineMs: 1_000, processorMs: 10_000, togetherMs: 60_000, heapMiB: 1_024};

/** What remains for a document on this thread once that time is used up: enough for an ordinary one. */
const remainingMs = 100;

/**
 * Finds the references of documents one after the other. Some keep a parser busy for minutes: what takes long on this thread is done
 * in another one, which is ended when it takes too much. To start it would double the time of a run with ordinary documents.
 */
export class Scanner {
  readonly #limits: typeof limits;
  #thread: Worker | undefined;
  /** The processor time that documents which failed have taken. */
  #lostMs = 0;
  readonly #context: {scan?: () => ScanAnswer} = createContext({});
  readonly #call = new Script('scan()');

  constructor(given: Partial<typeof limits> = {}) {
    this.#limits = {...limits, ...given};
  }

  /** The references of the document of this name; rejects with `document_too_complex`. */
  async scan(name: string, request: ScanRequest): Promise<Reference[]> {
    const {inlineMs, processorMs, togetherMs} = this.#limits;
    const isUsedUp = this.#lostMs >= togetherMs;
    const {processorTime} = systemHost();
    const start = processorTime();
    const quick = await this.#scanInline(request, isUsedUp ? remainingMs : inlineMs);
    if (quick === undefined && isUsedUp)
      throw new MediaError(
        'document_too_complex',
        `${name} is untried: documents before it that are too complex took ${togetherMs / 1_000} seconds.`,
        {hint: `To try it alone, run: media rewrite ${shellQuoted(name)}`},
      );
    const answer = quick ?? (await this.#ask(request, start + processorMs));
    if ('references' in answer) return answer.references;
    this.#lostMs += processorTime() - start;
    throw tooComplex(`${name} is too complex: ${answer.failure}.`);
  }

  async end(): Promise<void> {
    await this.#thread?.terminate();
  }

  /** Resolves to undefined if it takes too long; nothing else happens on this thread meanwhile. */
  async #scanInline(request: ScanRequest, timeout: number): Promise<ScanAnswer | undefined> {
    const {answerTo} = await import('./scan/scan.ts');
    this.#context.scan = () => answerTo(request);
    try {
      return this.#call.runInContext(this.#context, {timeout});
    } catch (error) {
      if (systemCode(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
      throw error;
    }
  }

  #ask(request: ScanRequest, end: number): Promise<ScanAnswer> {
    const {processorMs, heapMiB} = this.#limits;
    this.#thread ??= new Worker(fileURLToPath(packageFile('dist/scan-thread.cjs')), {
      resourceLimits: {maxOldGenerationSizeMb: heapMiB},
    });
    const thread = this.#thread;
    const {clock, processorTime} = systemHost();
    return new Promise((resolve, reject) => {
      const stopWatching = clock.every(100, () => {
        if (processorTime() <= end) return;
        stopWatching();
        void thread.terminate();
      });
      const settle = (answer: ScanAnswer) => {
        stopWatching();
        thread.off('message', settle).off('error', onError).off('exit', onExit);
        resolve(answer);
      };
      const onError = (error: Error) => {
        if (systemCode(error) !== 'ERR_WORKER_OUT_OF_MEMORY') reject(error);
        onEnd(`its references could not be found in ${heapMiB} MiB of memory`);
      };
      const onExit = () => onEnd(`its references were not found in ${processorMs / 1_000} seconds`);
      const onEnd = (failure: string) => {
        this.#thread = undefined;
        settle({failure});
      };
      thread.on('message', settle).on('error', onError).on('exit', onExit);
      thread.postMessage(request);
    });
  }
}

/** A refusal of a document that would take too much. */
export function tooComplex(sentence: string): MediaError {
  return new MediaError('document_too_complex', sentence, {
    hint: 'Divide it into smaller documents, or leave it out.',
  });
}
