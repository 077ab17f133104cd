import type {Dispatcher} from 'undici';
import type {HttpAnswer, HttpRequest, WholeBody} from './http.ts';
import type {HttpTrace} from './http-trace.ts';

/** The longest answer that is read; everything past it is cut off and flagged. */
const maxAnswerBytes = 1024 * 1024;

/** One request under way: collects its answer. */
export class Exchange implements Dispatcher.DispatchHandler {
  /** The answer, once it has been read to its end, to its limit, or to where it was cut off. */
  readonly answer: Promise<HttpAnswer>;
  readonly #request: HttpRequest;
  readonly #trace: HttpTrace | undefined;
  readonly #chunks: Buffer[] = [];
  readonly #onAbort = () => this.#controller?.abort(this.#request.signal?.reason as Error);
  #length = 0;
  #head: Pick<HttpAnswer, 'status' | 'headers'> | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #resolve: (answer: HttpAnswer) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(request: HttpRequest, trace: HttpTrace | undefined) {
    this.#request = request;
    this.#trace = trace;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    request.signal?.addEventListener('abort', this.#onAbort);
  }

  /** Resolves with the answer, or with the failure of the request. */
  get settled(): Promise<void> {
    return this.answer.then(
      () => {},
      () => {},
    );
  }

  /** Whether the head of the answer has arrived. */
  get answered(): boolean {
    return this.#head !== undefined;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    const {signal, body} = this.#request;
    if (signal?.aborted) this.#onAbort();
    else if (typeof body === 'object') this.#release(body, controller);
  }

  #release({release, bytes}: WholeBody, controller: Dispatcher.DispatchController): void {
    try {
      release();
      this.#trace?.phase('sent', `${bytes.length} bytes`);
    } catch (error) {
      controller.abort(error as Error);
    }
  }

  onResponseStart(_controller: unknown, status: number, headers: Headers): void {
    // An interim answer, such as 100 Continue, is none yet.
    if (status < 200) return;
    this.#head = {status, headers: joinHeaders(headers)};
    this.#trace?.phase('first byte', `${status} to ${this.#request.method} ${this.#request.path}`);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length > maxAnswerBytes) {
      this.#end({truncated: true, cut: false});
      controller.abort(new Error('The answer is too long.'));
    }
  }

  onResponseEnd(): void {
    this.#end({truncated: false, cut: false});
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#end({truncated: false, cut: true}, error);
  }

  #end(how: Pick<HttpAnswer, 'truncated' | 'cut'>, error?: Error): void {
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
    if (this.#head === undefined) {
      this.#reject(error);
    } else {
      const [only, ...others] = this.#chunks;
      const body = others.length === 0 && only ? only : Buffer.concat(this.#chunks);
      const {status, headers} = this.#head;
      this.#resolve({status, headers, body: body.subarray(0, maxAnswerBytes), ...how});
    }
  }
}

type Headers = Record<string, string | string[] | undefined>;

function joinHeaders(headers: Headers): Record<string, string> {
  const joined: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) joined[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return joined;
}
