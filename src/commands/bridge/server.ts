import {answersPreflight} from '../../embedded/exchange/cross-origin.ts';
import {defaultPace, type Exchange} from '../../embedded/exchange/exchange.ts';
import {createHttpServer} from '../../embedded/exchange/http-server.ts';
import {Refusal} from '../../embedded/exchange/refusal.ts';
import {respondJson} from '../../embedded/exchange/respond.ts';
import type {Clock} from '../../host.ts';
import {desktopOrigin, refuseOtherUsers, refusePages, refuseStrangers} from './caller.ts';
import {isForm} from './request-files.ts';

interface BridgeServerOptions {
  port: number;
  clock: Clock;
  secret: string | undefined;
  /** The id of the user whose processes may name files without the secret; undefined: anybody may. */
  user: number | undefined;
  /** Uploads the files of a request; resolves to their URLs in order. */
  upload: (exchange: Exchange) => Promise<string[]>;
  /** Called for each request that fails; returns what its sender is told. */
  onFailure: (error: unknown) => Refusal;
}

/** Serves the protocol of PicGo's server on 127.0.0.1; rejects with the system's error if the port cannot be used. */
export async function startBridgeServer({clock, onFailure, ...options}: BridgeServerOptions) {
  let {port} = options;
  const server = createHttpServer({
    // A program on this machine may take any time to send a file.
    ...{clock, pace: {...defaultPace, bytesPerSecond: 0}, commonHeaders: {}},
    async handle(exchange) {
      try {
        const {headers} = exchange.request;
        refusePages(headers, port);
        // The browser engine of a desktop program lets its page read a response that says so.
        if (headers.origin === desktopOrigin)
          exchange.commonHeaders = {'Access-Control-Allow-Origin': desktopOrigin, Vary: 'Origin'};
        if (answersPreflight(exchange)) return;
        respondJson(exchange, 200, {success: true, result: await resultOf(exchange, options)});
      } catch (error) {
        const {status, message} = onFailure(error);
        respondJson(exchange, status, {success: false, message});
      }
    },
    onError: onFailure,
  });
  port = await server.listen({host: '127.0.0.1', port});
  return {url: `http://127.0.0.1:${port}`, close: server.close};
}

async function resultOf(
  exchange: Exchange,
  {secret, user, upload}: Pick<BridgeServerOptions, 'secret' | 'user' | 'upload'>,
): Promise<string | string[]> {
  const {method, path, request} = exchange;
  if (path === '/heartbeat' && ['GET', 'POST'].includes(method)) return 'alive';
  if (path !== '/upload' && path !== '/heartbeat')
    throw new Refusal(404, 'The only paths here are /upload and /heartbeat.');
  if (method !== 'POST') throw new Refusal(405, 'The method must be POST.');
  refuseStrangers(request, secret);
  if (secret === undefined && user !== undefined && !isForm(request.headers))
    await refuseOtherUsers(request.socket, user);
  return upload(exchange);
}
