import type {FaultOptions} from '../embedded/faults/control.ts';
import type {EmbeddedService, ServiceOptions} from '../embedded/service.ts';
import type {HttpResponse} from '../engine/http/http.ts';
import {type GraphqlRequest, ServiceClient, serviceIdentity} from '../engine/service/client.ts';
import {parseKey, parseServiceUrl} from '../engine/service/service-url.ts';
import type {Uploader, UploadRequest, UploadResponse} from '../engine/service/uploader.ts';
import {MediaError} from '../errors.ts';
import {type StopSignal, systemHost} from '../host.ts';
import {isString} from '../lib/json.ts';
import {packageVersion} from '../package-file.ts';
import {callInWords, inLibraryWords} from './library-face.ts';
import {allowManyListeners} from './library-inputs.ts';
import {type Checks, check, checkOptions, isUrl, requiredCheck} from './option-checks.ts';

export interface MediaClientOptions {
  /** The base URL, such as `https://api.example.com`. Only https, except for loopback. */
  baseUrl: string | URL;
  /** An API key. It is never shown in messages. */
  apiKey: string;
  /** Where GraphQL requests go; by default /graphql on the host of the base URL. The key goes there too. */
  graphqlUrl?: string | URL;
  /** Allows plain http to other machines, where the key can be intercepted. */
  allowHttp?: boolean;
  /** Certificate authorities to trust instead of the system's, as PEM text. */
  certificateAuthorities?: string;
  /** 10,000 by default. */
  connectTimeoutMs?: number;
  /** The User-Agent of every request; `media/VERSION` by default. */
  userAgent?: string;
}

const checks: Checks<MediaClientOptions> = {
  baseUrl: requiredCheck('a URL', isUrl),
  apiKey: requiredCheck('a text', isString),
  graphqlUrl: check.url,
  allowHttp: check.flag,
  certificateAuthorities: check.text,
  connectTimeoutMs: check.positive,
  userAgent: check.visible,
};

/**
 * A client for a service. It connects on first use, keeps one connection for each concurrent request, follows no
 * redirects, and obeys HTTPS_PROXY, HTTP_PROXY and NO_PROXY. close() closes its connections.
 */
export class MediaClient implements Uploader {
  /** The service's host and port. */
  readonly host: string;
  /** The base URL without a trailing slash; a journal identifies the service by it. */
  readonly baseUrl: string;
  readonly #client: ServiceClient;

  /** Throws a MediaError `usage` if a URL or the key is invalid. */
  constructor(options: MediaClientOptions) {
    checkOptions(options, checks);
    const {allowHttp, certificateAuthorities, connectTimeoutMs} = options;
    const parse = (url: string | URL, what: string) =>
      callInWords(() => parseServiceUrl(String(url), what, allowHttp));
    const baseUrl = parse(options.baseUrl, 'base URL');
    const graphqlUrl =
      options.graphqlUrl === undefined ? undefined : parse(options.graphqlUrl, 'GraphQL URL');
    const key = parseKey(options.apiKey, 'The API key');
    const {clock, env} = systemHost();
    const headers = {'user-agent': options.userAgent ?? `media/${packageVersion()}`};
    const connection = {clock, env, headers, certificateAuthorities, connectTimeoutMs};
    this.host = baseUrl.host;
    this.baseUrl = serviceIdentity(baseUrl);
    this.#client = new ServiceClient({baseUrl, graphqlUrl}, key, connection);
  }

  /**
   * Sends `POST {baseUrl}/v1/media/upload` once and returns the response, whatever its status. It does not retry and
   * checks nothing: `uploadAll` does. Rejects with a MediaError if no connection can be made, and with the error that
   * broke the connection later.
   */
  upload(request: UploadRequest): Promise<UploadResponse> {
    allowManyListeners(request.signal);
    return this.#client.upload(request).catch(error => {
      throw inLibraryWords(error);
    });
  }

  get honoursKeys(): boolean | undefined {
    return this.#client.honoursKeys;
  }

  /** Asks, without a file, whether the service takes requests: resolves to why not, as a sentence, or to undefined. */
  probeAvailability(signal: StopSignal): Promise<string | undefined> {
    return this.#client.probeAvailability(signal);
  }

  /** Asks, without a file, which service is behind the URL: resolves to its Media-Service-Id, or to undefined. */
  serviceId(signal: StopSignal): Promise<string | undefined> {
    return this.#client.serviceId(signal);
  }

  /** Sends one GraphQL request; resolves for any status, with at most 1 MiB of `body`. Rejects as `upload` does. */
  async graphql(request: GraphqlRequest, signal?: AbortSignal): Promise<HttpResponse> {
    checkOptions(request, requestChecks);
    allowManyListeners(signal);
    try {
      return await this.#client.graphql(request, signal);
    } catch (error) {
      // The request was ended with an Error; the caller gets its own reason, which may be anything.
      throw signal?.aborted ? signal.reason : inLibraryWords(error);
    }
  }

  /** Closes every connection at once; pending requests fail. */
  close(): Promise<void> {
    return this.#client.close();
  }
}

const requestChecks: Checks<GraphqlRequest> = {
  query: requiredCheck('a text', isString),
  variables: check.anything,
  operationName: check.text,
};

const {anything, callback, text, texts, flag, positive, callbacks, signal} = check;

const serviceChecks: Checks<ServiceOptions> = {
  ...{port: check.integer(0, 65_535), host: text, allowHosts: texts, allowOrigins: texts},
  ...{seed: check.generator, fixedKey: text, exclusive: flag},
  dataDirectory: requiredCheck('a text', isString),
  ...{maxSize: positive, quota: positive, publicUrl: text, idempotency: flag},
  ...{previews: flag, metrics: flag, clock: anything, pace: callbacks, faults: anything},
  ...{signal, onWait: callback, onRequest: callback, onError: callback},
};

/**
 * Starts a service on loopback that stores uploads in a directory, for tests, demonstrations and work without a
 * network. Rejects with the system's error if the port is in use (`EADDRINUSE`) or the directory cannot be made.
 */
export async function startService(options: ServiceOptions): Promise<EmbeddedService> {
  checkOptions(options, serviceChecks);
  checkOptions<FaultOptions>(options.faults ?? {}, {list: texts, control: callbacks});
  // It is larger than the rest of the library, and most programs do not need it.
  const {startEmbeddedService: start} = await import('../embedded/service.ts');
  return start(options).catch(error => {
    throw error.name === 'InvalidOption' ? new MediaError('usage', error.message, {cause: error}) : error;
  });
}
