import {systemHost} from '../host.ts';
import type {ConnectionOptions, HttpAnswer} from '../http/http.ts';
import {type GraphqlRequest, ServiceClient, serviceIdentity} from '../service/client.ts';
import type {UploadAnswer, Uploader, UploadRequest} from '../service/uploader.ts';
import {parseKey, parseServiceUrl} from '../settings/settings.ts';
import {packageVersion} from '../version.ts';

export interface MediaClientOptions {
  /** The service, as in `https://api.example.com`; a path prefix is kept. https only, except to loopback. */
  baseUrl: string | URL;
  /** An API key. It is sent as a bearer token, and shown in no message. */
  apiKey: string;
  /** Where GraphQL requests go; by default /graphql at the root of the base URL's host. The key goes there too. */
  graphqlUrl?: string | URL;
  /** Allows plain http to other machines, which then can read the key on its way. */
  allowHttp?: boolean;
  /** Certificate authorities to trust instead of the system's, as PEM text. */
  certificateAuthorities?: string;
  /** Milliseconds; 10,000 by default. */
  connectTimeoutMs?: number;
  /** The User-Agent of every request; `media/VERSION` by default. */
  userAgent?: string;
}

/**
 * A service and a key for it. It connects when it is first used, keeps as many connections as there are requests at a
 * time, follows no redirect, and heeds HTTPS_PROXY, HTTP_PROXY and NO_PROXY. close() ends its connections.
 */
export class MediaClient implements Uploader {
  /** The service's host and port. */
  readonly host: string;
  /** The base URL, without a slash at its end: what a journal knows the service by. */
  readonly baseUrl: string;
  readonly #client: ServiceClient;

  /** Throws a MediaError `usage` when an address or the key is mistaken. */
  constructor(options: MediaClientOptions) {
    const {allowHttp = false, graphqlUrl, userAgent = `media/${packageVersion()}`} = options;
    const baseUrl = parseServiceUrl(String(options.baseUrl), 'base URL', allowHttp);
    const address = {
      baseUrl,
      graphqlUrl:
        graphqlUrl === undefined ? undefined : parseServiceUrl(String(graphqlUrl), 'GraphQL URL', allowHttp),
    };
    const {certificateAuthorities, connectTimeoutMs} = options;
    const {clock, env} = systemHost();
    const connection: ConnectionOptions = {
      clock,
      env,
      userAgent,
      certificateAuthorities,
      connectTimeoutMs,
    };
    this.host = baseUrl.host;
    this.baseUrl = serviceIdentity(baseUrl);
    this.#client = new ServiceClient(address, parseKey(options.apiKey, 'The API key'), connection);
  }

  /**
   * Makes one attempt at `POST {baseUrl}/v1/media/upload` and returns what was answered, whatever its status. It never
   * tries again and checks nothing: `uploadAll` does. Rejects with a MediaError when no connection could be made, and
   * with what broke the connection when that happened later.
   */
  upload(request: UploadRequest): Promise<UploadAnswer> {
    return this.#client.upload(request);
  }

  /**
   * Sends one GraphQL request and returns the answer, whatever its status; `body` holds at most 1 MiB of it. Rejects as
   * `upload` does, and with the signal's reason when that is aborted.
   */
  graphql(request: GraphqlRequest, signal?: AbortSignal): Promise<HttpAnswer> {
    return this.#client.graphql(request, signal);
  }

  /** Ends every connection at once; requests under way fail. */
  close(): Promise<void> {
    return this.#client.close();
  }
}
