import {once} from 'node:events';
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {finished} from 'node:stream/promises';
import {BridgeRefusal, desktopOrigin, refuseOtherUsers, refusePages, refuseStrangers} from './caller.ts';
import {isForm} from './request-files.ts';

interface BridgeServerOptions {
  port: number;
  secret: string | undefined;
  /** The id of the user whose processes may name files without the secret; undefined: anybody may. */
  user: number | undefined;
  /** Uploads the files of a request; resolves to their URLs in order, or rejects, if possible with a refusal. */
  upload: (request: IncomingMessage) => Promise<string[]>;
  /** Called for each request that fails. */
  onFailure: (error: unknown) => void;
}

/** Serves the protocol of PicGo's server on 127.0.0.1; rejects with the system's error if the port cannot be used. */
export async function startBridgeServer(options: BridgeServerOptions) {
  let port = options.port;
  const running = new Map<IncomingMessage, Promise<void>>();
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    try {
      refusePages(request.headers, port);
      allowDesktop(request, response);
      if (request.method === 'OPTIONS') response.writeHead(204, everyHeader).end();
      else send(response, 200, {success: true, result: await resultOf(request, options)});
    } catch (error) {
      options.onFailure(error);
      const {status, message} =
        error instanceof BridgeRefusal ? error : new BridgeRefusal(500, 'Internal error.', {cause: error});
      // Clients that still send see a broken connection, not the response. It closes as well when the server ends.
      if (!request.complete && !request.destroyed) await once(request.resume(), 'close').catch(() => {});
      send(response, status, {success: false, message});
    }
  };
  const server = createServer((request, response) => {
    running.set(
      request,
      respond(request, response)
        // Until the system has taken all of it, or the client is gone.
        .then(() => finished(response).catch(() => {}))
        .finally(() => running.delete(request)),
    );
  });
  // A large file takes longer to arrive than Node allows by default.
  server.requestTimeout = 0;
  server.listen({host: '127.0.0.1', port});
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${port}`,
    /** Accepts no more requests; resolves when all have been answered, and nothing is left of those that broke off. */
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const {complete, socket} of running.keys()) if (!complete) socket.destroy();
      await Promise.all(running.values());
      // Browsers open connections in advance, and may have sent a request meanwhile.
      server.closeAllConnections();
      await closed;
      await Promise.all(running.values());
    },
  };
}

async function resultOf(
  request: IncomingMessage,
  {secret, user, upload}: BridgeServerOptions,
): Promise<string | string[]> {
  const {method = '', url = '', headers} = request;
  const [path = '', ...parts] = url.split('?');
  const query = parts.join('?');
  if (path === '/heartbeat' && ['GET', 'POST'].includes(method)) return 'alive';
  if (path !== '/upload' && path !== '/heartbeat')
    throw new BridgeRefusal(404, 'The only paths here are /upload and /heartbeat.');
  if (method !== 'POST') throw new BridgeRefusal(405, 'The method must be POST.');
  refuseStrangers(headers, query, secret);
  if (secret === undefined && user !== undefined && !isForm(headers))
    await refuseOtherUsers(request.socket, user);
  return upload(request);
}

/** Tells the browser engine of a desktop program that its page may read the response. */
function allowDesktop({headers: {origin}}: IncomingMessage, response: ServerResponse): void {
  if (origin !== desktopOrigin) return;
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Access-Control-Allow-Headers', 'Authorization, Content-Type, X-PicGo-Secret');
  response.setHeader('Access-Control-Allow-Private-Network', 'true');
  response.setHeader('Vary', 'Origin');
}

/** Each response ends its connection, so that the server can end at any time. */
const everyHeader = {'Cache-Control': 'no-store', Connection: 'close'};

function send(response: ServerResponse, status: number, value: object): void {
  const headers = {...everyHeader, 'Content-Type': 'application/json'};
  response.writeHead(status, headers).end(JSON.stringify(value));
}
