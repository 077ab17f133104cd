import type {Dispatcher} from 'undici';
import {syntaxError} from '../../errors.ts';
import {nextTurn} from '../../host.ts';
import {omitUndefined} from '../../lib/object.ts';
import {closedError} from './connection-errors.ts';
import type {HttpTrace} from './connection-options.ts';
import {
  type Body,
  type HeaderFields,
  type HttpRequest,
  type HttpResponse,
  joinHeaders,
  type SocketWire,
  withoutContentCoding,
} from './message.ts';

/** The longest response that is read; the rest is dropped, and `truncated` is set. */
const maxResponseBytes = 1024 * 1024;

/** The connection under a request. */
interface Opener {
  trace: HttpTrace | undefined;
  /** The socket that was opened last, if any. */
  wire(): SocketWire | undefined;
  /** Ends the opening of a socket; the request gets the reason. */
  abandon(reason: Error): void;
}

/** A pending request: sends its body and collects the response. */
export class HttpExchange implements Dispatcher.DispatchHandler {
  /** The response, once it has been read to its end, to the limit, or until the connection broke. */
  readonly response: Promise<HttpResponse>;
  readonly #request: HttpRequest;
  readonly #content: Body['content'] | undefined;
  readonly #opener: Opener;
  readonly #chunks: Buffer[] = [];
  readonly #onAbort = () => this.#abort();
  #length = 0;
  #head: Pick<HttpResponse, 'status' | 'headers'> | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #resolve: (response: HttpResponse | Promise<HttpResponse>) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  /** `content`: how the body is sent, if there is one. */
  constructor(request: HttpRequest, content: Body['content'] | undefined, opener: Opener) {
    this.#request = request;
    this.#content = content;
    this.#opener = opener;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    request.signal?.addEventListener('abort', this.#onAbort);
  }

  /** The open connection that the request is written to. */
  get #wire(): SocketWire {
    const wire = this.#opener.wire();
    if (wire === undefined) throw new Error('A body was requested before its connection was open.');
    return wire;
  }

  /** The body in the form that undici takes. */
  get body(): Uint8Array | AsyncIterable<Uint8Array> | null {
    const {body} = this.#request;
    const content = this.#content;
    if (body === undefined || content === undefined) return null;
    return content instanceof Uint8Array ? content : this.#sending(body, content);
  }

  /** Called by undici before it writes the head; a whole body is written with the head, so it is released here. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    const {signal, body} = this.#request;
    if (signal?.aborted) this.#abort();
    else if (body !== undefined && this.#content instanceof Uint8Array) this.#sendWhole(body, controller);
  }

  /** Ends the request with the signal's reason: its socket, or the opening of that if undici has not begun yet. */
  #abort(): void {
    const reason: unknown = this.#request.signal?.reason;
    const error = reason instanceof Error ? reason : new Error('The request was aborted.', {cause: reason});
    if (this.#controller === undefined) this.#opener.abandon(error);
    else this.#controller.abort(error);
  }

  /** Releases a body that undici sends with the head; a release that throws drops the request. */
  #sendWhole(body: Body, controller: Dispatcher.DispatchController): void {
    try {
      this.#release(body);
      this.#opener.trace?.phase('sent', `${body.length} bytes`);
    } catch (error) {
      controller.abort(error as Error);
    }
  }

  /** undici asks for the first chunk when a socket is connected; each `yield` writes one to the socket. */
  async *#sending(body: Body, chunksFor: (wire: SocketWire) => AsyncIterable<Uint8Array>) {
    const wire = this.#wire;
    let length = 0;
    for await (const chunk of chunksFor(wire)) {
      // An early refusal is read before a write finds the connection closed and loses it.
      await nextTurn();
      if (this.#head !== undefined) {
        // Nothing more is sent; the request ends when the response has been read.
        await this.response.catch(() => {});
        throw new Error('The response came before the whole body was sent.');
      }
      length += chunk.length;
      if (length === body.length) this.#release(body);
      yield chunk;
      if (wire.unsentBytes > 0) await wire.drained();
    }
    this.#opener.trace?.phase('sent', `${length} bytes`);
  }

  /** Tells the body that its last bytes leave: nothing else can run between this call and their write. */
  #release(body: Body): void {
    const wire = this.#wire;
    if (!wire.isOpen) throw closedError('The connection ended before the whole body was sent.');
    body.release?.(wire);
  }

  /** Called by undici for the head of each response, interim ones (1xx) included. */
  onResponseStart(_controller: unknown, status: number, headers: HeaderFields): void {
    if (status < 200) return;
    this.#head = {status, headers: joinHeaders(headers)};
    this.#opener.trace?.phase('first byte', `${status} to ${this.#request.method} ${this.#request.path}`);
  }

  /** Collects the body. Beyond 1 MiB, the response ends as truncated, and the connection is closed. */
  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length > maxResponseBytes) {
      this.#end({truncated: true, cut: false});
      controller.abort(new Error('The response is too long.'));
    }
  }

  onResponseEnd(): void {
    this.#end({truncated: false, cut: false});
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#end({truncated: false, cut: true, ...omitUndefined({fault: syntaxError(error)})}, error);
  }

  /** Ends the response: after its head, with the body as far as it came; before it, rejects with the error. */
  #end(how: Pick<HttpResponse, 'truncated' | 'cut' | 'fault'>, error?: Error): void {
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
    if (this.#head === undefined) {
      this.#reject(error);
    } else {
      const [only, ...others] = this.#chunks;
      const body = others.length === 0 && only ? only : Buffer.concat(this.#chunks);
      const {status, headers} = this.#head;
      const response: HttpResponse = {status, headers, body: body.subarray(0, maxResponseBytes), ...how};
      const isCoded = headers['content-encoding'] !== undefined && !how.cut && !how.truncated;
      this.#resolve(isCoded ? withoutContentCoding(response, maxResponseBytes) : response);
    }
  }
}
