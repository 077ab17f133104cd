import {isUnreachable, MediaError, unlessBug} from '../../errors.ts';
import type {StopSignal} from '../../host.ts';
import type {Secret} from '../../lib/secrets/secret.ts';
import {cleanText} from '../../lib/words.ts';
import {
  Connection,
  type ConnectionOptions,
  type HttpRequest,
  type HttpResponse,
  sendHead,
} from '../http/http.ts';
import {bodyText, honoursKeysIn, type MediaRecord, parseRecord, serviceIdIn} from './record.ts';
import {refusalIn, type Uploader, type UploadRequest, type UploadResponse, uploadPath} from './uploader.ts';

export interface ServiceAddress {
  /** The base URL; a path prefix is kept and trailing slashes are ignored. */
  baseUrl: URL;
  /** The GraphQL URL; by default /graphql at the root of the base URL's host. */
  graphqlUrl?: URL | undefined;
  /** Whether the service runs inside this process; the URLs in its records lead to where `media serve` would be. */
  isEmbedded?: boolean;
}

export interface GraphqlRequest {
  query: string;
  variables?: Record<string, unknown>;
  operationName?: string;
}

/** Identifies a service: the scheme, host, port and path of its base URL. */
export function serviceIdentity({origin, pathname}: URL): string {
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

/** A client of the hosted service (docs/design/interface.md), with one connection for each concurrent request. */
export class ServiceClient implements Uploader {
  readonly #address: ServiceAddress;
  readonly uploadUrl: URL;
  /** As the last response from there declares that said so. */
  honoursKeys: boolean | undefined;
  readonly #key: Secret;
  readonly #options: ConnectionOptions;
  readonly #connections = new Set<Connection>();
  #opened = 0;
  /** Idle connections by origin; the one used last is used first. */
  readonly #idle = new Map<string, Connection[]>();
  /** Origins that closed an idle connection just as it was reused: each request to them uses a new connection. */
  readonly #closesIdle = new Set<string>();

  constructor(address: ServiceAddress, key: Secret, options: ConnectionOptions) {
    this.#address = address;
    this.uploadUrl = uploadUrl(address.baseUrl);
    this.#key = key;
    this.#options = {...options, families: new Map()};
  }

  /** Sends POST {base_url}/v1/media/upload once (docs/design/interface.md); follows no redirects. */
  async upload(request: UploadRequest): Promise<UploadResponse> {
    const {contentType, idempotencyKey, ...sent} = request;
    const fields = {'content-type': contentType, 'idempotency-key': `"${idempotencyKey}"`};
    return interpretUpload(await this.#post(this.uploadUrl, sent, fields));
  }

  /** Sends one POST to the GraphQL URL (docs/design/interface.md) and returns the response, whatever its status. */
  async graphql(request: GraphqlRequest, signal?: AbortSignal): Promise<HttpResponse> {
    const content = Buffer.from(JSON.stringify(request));
    const sent = {body: {length: content.length, content}, signal};
    return this.#post(graphqlUrl(this.#address), sent, {
      'content-type': 'application/json',
      accept: 'application/graphql-response+json, application/json;q=0.9',
    });
  }

  /** Whether the file of a record is still there, with its size in bytes. */
  async isStored(record: MediaRecord, size: number, signal: StopSignal): Promise<boolean> {
    const {isStillStored} = await import('./stored.ts');
    return isStillStored(record, size, {...this.#address, signal}, this.#options);
  }

  /** Why the service accepts no requests, asked without a file; undefined if it does. */
  async probeAvailability(signal: StopSignal): Promise<string | undefined> {
    try {
      const response = await this.#probeResponse(signal);
      if (response === undefined) return 'It did not respond.';
      const {status} = response;
      return status >= 502 && status <= 504 ? `It returned ${status}.` : undefined;
    } catch (cause) {
      const error = unlessBug(cause);
      return isUnreachable(error) ? error.message : undefined;
    }
  }

  /** Asks, without a file, which service is behind the URL; undefined if it does not say so. */
  async serviceId(signal: StopSignal): Promise<string | undefined> {
    signal.throwIfAborted();
    const response = await this.#probeResponse(signal);
    signal.throwIfAborted();
    return response && serviceIdIn(response);
  }

  /** The response to the head of a POST or, since some services wait for its body, to a GET. */
  async #probeResponse(signal: StopSignal): Promise<HttpResponse | undefined> {
    const response = await this.askUploadPath('POST', 1_000, signal);
    // A gateway may try for several seconds to reach a service before it gives up.
    return response ?? this.askUploadPath('GET', 10_000, signal);
  }

  /** Sends the upload path what stores nothing: a GET, or the head of a POST; undefined without a response in time. */
  async askUploadPath(method: 'GET' | 'POST', waitMs: number, signal: StopSignal) {
    const headers = {
      authorization: `Bearer ${this.#key.reveal()}`,
      ...(method === 'POST' && {'content-type': 'text/plain', 'content-length': '1'}),
    };
    const request = {method, url: this.uploadUrl, headers, waitMs, signal};
    const response = await sendHead(request, this.#options);
    return response === undefined ? undefined : this.#takeResponse(response, this.uploadUrl);
  }

  /** Closes every connection at once. */
  async close(): Promise<void> {
    await this.#end([...this.#connections]);
    this.#idle.clear();
  }

  /** Sends a POST with the key over an idle connection, or a new one. */
  async #post(url: URL, sent: Pick<HttpRequest, 'body' | 'signal'>, fields: HttpRequest['headers']) {
    const path = `${url.pathname}${url.search}`;
    const headers = {authorization: `Bearer ${this.#key.reveal()}`, ...fields};
    const idle = this.#idle.get(url.origin) ?? [];
    this.#idle.set(url.origin, idle);
    const reused = idle.pop();
    if (reused === undefined) this.#opened += 1;
    const connection = reused ?? new Connection(url, this.#options, this.#opened);
    this.#connections.add(connection);
    try {
      const received = await connection.request({method: 'POST', path, headers, ...sent});
      const response = this.#takeResponse(received, url);
      if (response.status > 299 && response.body.length > 0)
        this.#options.trace?.(`response body: ${cleanText(bodyText(response.body.subarray(0, 4096)))}`);
      return response;
    } catch (error) {
      if (reused !== undefined && !(error instanceof MediaError)) this.#closesIdle.add(url.origin);
      throw error;
    } finally {
      idle.push(connection);
      if (this.#closesIdle.has(url.origin)) await this.#end(idle.splice(0));
    }
  }

  /** Closes these connections, and forgets them. */
  async #end(connections: readonly Connection[]): Promise<void> {
    for (const connection of connections) this.#connections.delete(connection);
    await Promise.all(connections.map(connection => connection.destroy()));
  }

  /** Makes a Location absolute, notes whether keys are honoured, and removes the key, which a service may echo. */
  #takeResponse(response: HttpResponse, url: URL): HttpResponse {
    const {location} = response.headers;
    if (url.origin === this.uploadUrl.origin) this.honoursKeys = honoursKeysIn(response) ?? this.honoursKeys;
    if (location !== undefined && URL.canParse(location, url.href))
      response.headers['location'] = new URL(location, url).href;
    const isSuccess = response.status >= 200 && response.status < 300;
    // A record may share words with the key, so only the whole key is removed from it.
    const redact = (text: string) => (isSuccess ? this.#key.redactWholeIn(text) : this.#key.redactIn(text));
    const body = response.body.toString('latin1');
    const redacted = redact(body);
    if (redacted !== body) response.body = Buffer.from(redacted, 'latin1');
    for (const [name, value] of Object.entries(response.headers)) response.headers[name] = redact(value);
    return response;
  }
}

/** Where files are posted to, below the path of the base URL. */
export function uploadUrl(baseUrl: URL): URL {
  return new URL(`${serviceIdentity(baseUrl)}${uploadPath}`);
}

export function graphqlUrl(address: ServiceAddress): URL {
  return address.graphqlUrl ?? new URL('/graphql', address.baseUrl);
}

/** What a response means. A 2xx whose record cannot be read completely is `unreadable`, never `stored`. */
function interpretUpload(response: HttpResponse): UploadResponse {
  const {status} = response;
  if (status < 200 || status > 299) return refusalIn(response);
  if (response.cut) return {kind: 'unreadable', status, problem: response.fault ?? 'cut off'};
  if (response.truncated) return {kind: 'unreadable', status, problem: 'longer than 1 MiB'};
  if (response.body.length === 0) return {kind: 'unreadable', status, problem: 'empty'};
  const coding = response.headers['content-encoding'];
  const received = parseRecord(bodyText(response.body));
  if (coding !== undefined && 'problem' in received)
    return {kind: 'unreadable', status, problem: `encoded as ${coding}, which could not be decoded`};
  if ('problem' in received) return {kind: 'unreadable', status, problem: received.problem};
  const serviceId = serviceIdIn(response);
  return {kind: 'stored', received: serviceId === undefined ? received : {...received, serviceId}};
}
