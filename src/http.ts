import type {Socket} from 'node:net';
import {TLSSocket} from 'node:tls';
import {buildConnector, Client} from 'undici';
import {MediaError, systemCode} from './errors.ts';
import {type Clock, systemEnvironment} from './host.ts';
import {HttpTrace} from './http-trace.ts';
import {isLoopback} from './loopback.ts';
import {proxyVariableFor} from './proxy-variables.ts';

/** The longest answer that is read; everything past it is cut off and flagged. */
export const maxAnswerBytes = 1024 * 1024;

/** Numbers the connections that are traced, so that their lines can be told apart. */
let tracedConnections = 0;

/** How long an idle connection may be used again: servers commonly close theirs after 5 s. */
const idleMs = 4_000;

/**
 * How long one address of a host is tried before the next. Node gives an address up then, and 250 ms unless it is told
 * otherwise: less than a slow line takes.
 */
const addressTimeoutMs = 1_000;

export interface ConnectionOptions {
  clock: Clock;
  userAgent: string;
  connectTimeoutMs?: number;
  /** Certificate authorities to trust instead of Node's, as PEM text. */
  certificateAuthorities?: string;
  /** Told of each phase, with its time. */
  trace?: (message: string) => void;
  /** What to show a service that asks for a certificate, as PEM text. */
  clientCertificate?: {certificate: string; key: string};
}

/** What a request body may know of the connection that it is written to. */
export interface Wire {
  /** False once the connection is known to have ended: nothing that is written then is sent. */
  readonly open: boolean;
  /** Whether the head of the answer has arrived. */
  readonly answered: boolean;
  /** Resolves, never rejects, once the answer has been read to its end or the request has failed. */
  readonly settled: Promise<void>;
  /** How long the connection took to open, TLS included, in milliseconds. */
  readonly connectMs: number;
}

/** A body that is made while it is sent; it is asked for its first chunk only once a socket is connected. */
export type BodyWriter = (wire: Wire) => AsyncIterable<Uint8Array>;

export interface HttpRequest {
  method: 'GET' | 'POST';
  /** Path and query, beginning with a slash. */
  path: string;
  headers: Record<string, string>;
  body?: string | BodyWriter;
  signal?: AbortSignal;
}

export interface HttpAnswer {
  status: number;
  /** Names in lower case; repeated fields joined with a comma. */
  headers: Record<string, string>;
  body: Buffer;
  /** The body was longer than maxAnswerBytes: `body` holds its beginning. */
  truncated: boolean;
  /** The connection failed before the body's end: `body` holds what came. */
  cut: boolean;
}

/**
 * One keep-alive HTTP/1.1 connection to one origin, for one request at a time. Never follows a redirect, never
 * repeats a request, and has no timeout of its own after connecting: whoever sends decides how long to wait.
 */
export class Connection {
  readonly #origin: URL;
  readonly #client: Client;
  readonly #userAgent: string;
  readonly #trace: HttpTrace | undefined;
  #connectMs = 0;
  #socket: Socket | undefined;
  /** What became of a connection that looked open to us and never was to the service. */
  #refusal: MediaError | undefined;

  constructor(origin: URL, options: ConnectionOptions) {
    if (options.trace !== undefined) {
      tracedConnections += 1;
      this.#trace = new HttpTrace(`connection ${tracedConnections}`, options.trace, options.clock);
    }
    const connect = connector(origin, options, this.#trace);
    this.#origin = origin;
    this.#userAgent = options.userAgent;
    this.#client = new Client(origin.origin, {
      allowH2: false,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: idleMs,
      connect: (parameters, callback) => {
        const start = options.clock.monotonic();
        connect(parameters, (error, socket) => {
          this.#connectMs = options.clock.monotonic() - start;
          if (error) {
            callback(describeConnectError(error, origin), null);
          } else {
            this.#socket = socket;
            this.#watchForRefusal(socket);
            callback(null, socket);
          }
        });
      },
    });
  }

  /**
   * Sends one request and reads its answer. Rejects with a MediaError when no connection could be made (nothing was
   * sent then), with the signal's reason when aborted, and with whatever broke the connection otherwise.
   */
  async request(request: HttpRequest): Promise<HttpAnswer> {
    let settle = () => {};
    const settled = new Promise<void>(resolve => {
      settle = resolve;
    });
    let answered = false;
    const wire = () => this.#wire(() => answered, settled);
    this.#trace?.restart();
    try {
      const response = await this.#client.request({
        method: request.method,
        path: request.path,
        headers: {'user-agent': this.#userAgent, 'accept-encoding': 'identity', ...request.headers},
        body:
          typeof request.body === 'function'
            ? (deferred(request.body, wire, this.#trace) as never)
            : (request.body ?? null),
        signal: request.signal ?? null,
      });
      answered = true;
      this.#trace?.phase('first byte', `${response.statusCode} to ${request.method} ${request.path}`);
      const answer = await readBounded(response.body);
      this.#trace?.phase('answered', `${answer.body.length} bytes${answer.cut ? ', cut off' : ''}`);
      return {status: response.statusCode, headers: joinHeaders(response.headers), ...answer};
    } catch (error) {
      throw this.#refusal ?? error;
    } finally {
      settle();
    }
  }

  /**
   * With TLS 1.3 a service judges our certificate when the connection is open on our side already. Until it has, it can
   * read nothing that we send, and it cannot ask for one later: its alert always says that no request was taken.
   */
  #watchForRefusal(socket: Socket): void {
    this.#refusal = undefined;
    if (!(socket instanceof TLSSocket) || socket.getProtocol() !== 'TLSv1.3') return;
    socket.once('error', error => {
      if (isCertificateAlert(error)) this.#refusal = describeConnectError(error, this.#origin);
    });
  }

  /** The connection as it is when its first chunk is asked for. */
  #wire(answered: () => boolean, settled: Promise<void>): Wire {
    const socket = this.#socket;
    return {
      get open() {
        return socket?.destroyed === false;
      },
      get answered() {
        return answered();
      },
      settled,
      connectMs: this.#connectMs,
    };
  }

  /** Ends the connection at once; a request under way rejects. */
  async destroy(): Promise<void> {
    await this.#client.destroy();
  }
}

async function* deferred(
  writer: BodyWriter,
  wire: () => Wire,
  trace: HttpTrace | undefined,
): AsyncGenerator<Uint8Array> {
  if (trace === undefined) return yield* writer(wire());
  let length = 0;
  for await (const chunk of writer(wire())) {
    length += chunk.length;
    yield chunk;
  }
  trace.phase('sent', `${length} bytes`);
}

async function readBounded(
  body: AsyncIterable<Buffer>,
): Promise<Pick<HttpAnswer, 'body' | 'truncated' | 'cut'>> {
  const chunks: Buffer[] = [];
  let length = 0;
  let cut = false;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > maxAnswerBytes) break;
    }
  } catch {
    cut = true;
  }
  const truncated = length > maxAnswerBytes;
  return {body: Buffer.concat(chunks).subarray(0, maxAnswerBytes), truncated, cut};
}

function joinHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const joined: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) joined[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return joined;
}

function connector(
  origin: URL,
  options: ConnectionOptions,
  trace: HttpTrace | undefined,
): buildConnector.connector {
  const timeout = options.connectTimeoutMs ?? 10_000;
  const common = {
    allowH2: false,
    timeout,
    autoSelectFamilyAttemptTimeout: addressTimeoutMs,
    ...(trace === undefined ? {} : {lookup: trace.lookup}),
    ...(options.certificateAuthorities === undefined ? {} : {ca: options.certificateAuthorities}),
  };
  const direct = buildConnector({
    ...common,
    ...(options.clientCertificate === undefined
      ? {}
      : {cert: options.clientCertificate.certificate, key: options.clientCertificate.key}),
  });
  const proxy = proxyFor(origin);
  const traced = (connect: buildConnector.connector) => trace?.stepwise(connect) ?? connect;
  return proxy === undefined
    ? traced(direct)
    : tunnelThrough(
        proxy,
        origin,
        {toProxy: traced(buildConnector(common)), toService: traced(direct)},
        timeout,
      );
}

/** The proxy that the environment names for this origin; throws `proxy_failed` when it names none that can be used. */
export function proxyFor(origin: URL): URL | undefined {
  const proxy = isLoopback(origin.hostname) ? undefined : proxyVariableFor(origin, systemEnvironment);
  return proxy === undefined ? undefined : parseProxy(proxy);
}

function parseProxy(value: string): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new MediaError('proxy_failed', 'The proxy in the environment is no http or https URL.', {
      hint: 'Set HTTPS_PROXY to a value like http://proxy.example:3128.',
    });
  }
  return url;
}

/** Opens each connection through CONNECT on an HTTP proxy (RFC 9110, section 9.3.6). */
function tunnelThrough(
  proxy: URL,
  origin: URL,
  {toProxy, toService}: {toProxy: buildConnector.connector; toService: buildConnector.connector},
  timeout: number,
): buildConnector.connector {
  const authority = `${origin.hostname}:${origin.port || (origin.protocol === 'https:' ? '443' : '80')}`;
  const headers = {host: authority, ...proxyAuthorization(proxy)};
  return (parameters, callback) => {
    const client = new Client(proxy.origin, {
      allowH2: false,
      headersTimeout: timeout,
      // Or the proxy would have to show a certificate of the host that the request names.
      connect: (toward, connected) => toProxy({...toward, servername: undefined as never}, connected),
    });
    client
      .connect({path: authority, headers})
      .then(({statusCode, headers: answer, socket}) => {
        if (statusCode < 200 || statusCode > 299) {
          socket.on('error', () => {}).destroy();
          throw proxyRefusal(statusCode, [answer['proxy-authenticate'] ?? []].flat(), proxy, origin);
        }
        if (parameters.protocol !== 'https:') callback(null, socket as never);
        else toService({...parameters, httpSocket: socket as never}, callback);
      })
      .catch((error: unknown) => {
        callback(error instanceof MediaError ? error : describeConnectError(error, proxy, 'proxy'), null);
      });
  };
}

function proxyAuthorization(proxy: URL): Record<string, string> {
  if (proxy.username === '') return {};
  const credentials = `${percentDecoded(proxy.username)}:${percentDecoded(proxy.password)}`;
  return {'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}`};
}

/** A password that was put into the URL as it is may have a percent sign that encodes nothing. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function proxyRefusal(status: number, challenges: string[], proxy: URL, origin: URL): MediaError {
  // tinyproxy says 401 to credentials that it does not accept.
  if (status !== 407 && status !== 401) {
    return new MediaError(
      'proxy_failed',
      `The proxy ${proxy.host} refused to open a connection (${status}).`,
      {
        status,
        hint:
          origin.protocol === 'http:'
            ? 'Many proxies open connections for https alone. Ask whoever runs it, or name the host in NO_PROXY.'
            : 'Ask whoever runs the proxy, or name the host in NO_PROXY.',
      },
    );
  }
  if (challenges.length > 0 && !challenges.some(challenge => /(^|,)\s*basic\b/i.test(challenge))) {
    return new MediaError('proxy_failed', `The proxy ${proxy.host} takes no Basic credentials (${status}).`, {
      status,
      hint: 'Run a local proxy that logs in there, such as cntlm or px, and name that one in HTTPS_PROXY.',
    });
  }
  return new MediaError(
    'proxy_failed',
    proxy.username === ''
      ? `The proxy ${proxy.host} asks for credentials (${status}).`
      : `The proxy ${proxy.host} does not accept the credentials in the proxy variable (${status}).`,
    {
      status,
      hint:
        proxy.username === ''
          ? 'Put them into the proxy variable: HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT.'
          : 'Correct HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT; write @ as %40, : as %3A, / as %2F and % as %25.',
    },
  );
}

const certificateHint =
  'If the service uses a certificate authority of your own, name its certificate with --cacert FILE.';

/** Whether the other side says, in the words of TLS, that it wants or does not take a certificate of ours. */
function isCertificateAlert(error: unknown): boolean {
  return /^ERR_SSL_.*ALERT_(.*CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE)/.test(
    systemCode(error) ?? '',
  );
}

/** `certificate required` in `…:tlsv13 alert certificate required:…`. */
function alertOf(text: string): string {
  return /alert ([a-z ]+)/.exec(text)?.[1] ?? reason(text);
}

/** Of several addresses of one host, the failure of one that answered tells more than that of one out of reach. */
function tellingError(error: unknown): unknown {
  if (!(error instanceof AggregateError)) return error;
  const outOfReach = /^(ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL|EAFNOSUPPORT)$/;
  return error.errors.find(one => !outOfReach.test(systemCode(one) ?? '')) ?? error.errors.at(-1);
}

/** The MediaError for a failure to connect; `nothing was sent` holds for every one of them. */
function describeConnectError(failure: unknown, url: URL, role: 'service' | 'proxy' = 'service'): MediaError {
  if (failure instanceof MediaError) return failure;
  const error = tellingError(failure);
  const code = systemCode(error) ?? '';
  const host = role === 'proxy' ? `the proxy ${url.host}` : url.host;
  const details = {cause: error};
  const text = error instanceof Error ? error.message : String(error);
  if (code === 'ENOTFOUND') {
    return new MediaError('host_not_found', `No host is called ${url.hostname}.`, {
      ...details,
      hint: `Check the spelling of ${role === 'proxy' ? 'the proxy variable' : 'the base URL'}.`,
    });
  }
  if (code === 'EMFILE' || code === 'ENFILE') {
    return new MediaError('too_many_open_files', `No connection to ${host}: too many files are open.`, {
      ...details,
      hint: 'Raise the limit with ulimit -n, or lower --concurrency.',
    });
  }
  if (code === 'EAI_AGAIN') {
    return new MediaError('dns_unavailable', `The name ${url.hostname} could not be looked up just now.`, {
      ...details,
      hint: 'Check the network connection, then try again.',
    });
  }
  if (code === 'ECONNREFUSED') {
    return new MediaError('connection_refused', `Nothing answers at ${host}: the connection was refused.`, {
      ...details,
      hint: 'Check the host and the port, and that the service runs.',
    });
  }
  if (/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|UND_ERR_HEADERS_TIMEOUT)$/.test(code)) {
    return new MediaError('connect_timeout', `Connecting to ${host} took too long.`, {
      ...details,
      hint: 'Check the network connection and any firewall in between.',
    });
  }
  if (isCertificateAlert(error)) {
    return new MediaError('tls_failed', `The TLS connection was refused by ${host}: ${alertOf(text)}.`, {
      ...details,
      hint: 'If it asks for a certificate of yours, set MEDIA_CLIENT_CERT, or: media config set client-cert FILE',
    });
  }
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_|INVALID_CA|EPROTO)/.test(code)) {
    const plain = /wrong version number|packet length too long|record layer/i.test(text);
    return new MediaError(
      'tls_failed',
      plain
        ? `${role === 'proxy' ? 'The proxy ' : ''}${url.host} does not speak TLS on this port.`
        : `The TLS certificate of ${host} was not accepted: ${reason(text)}.`,
      {...details, hint: plain ? plainHint(role) : certificateHint},
    );
  }
  return new MediaError('connect_failed', `No connection to ${host}: ${reason(text)}.`, {
    ...details,
    hint: 'Check the network connection, then try again.',
  });
}

function plainHint(role: 'service' | 'proxy'): string {
  return role === 'proxy'
    ? 'Write the proxy as http://HOST:PORT in the proxy variable.'
    : 'Check the port; plain http needs http:// and --allow-http.';
}

function reason(text: string): string {
  return text.split('\n', 1)[0]?.replace(/[.\s]+$/, '') || 'unknown reason';
}
