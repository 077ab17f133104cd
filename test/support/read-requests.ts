import type {IncomingMessage, RequestListener, ServerResponse} from 'node:http';

/** A listener that reads the request; a client that goes before its end is no failure of the test. */
export function readingRequests(
  listener: (request: IncomingMessage, response: ServerResponse) => Promise<unknown>,
): RequestListener {
  return (request, response) => {
    listener(request, response).catch((error: unknown) => {
      response.destroy();
      if (!request.destroyed) throw error;
    });
  };
}
