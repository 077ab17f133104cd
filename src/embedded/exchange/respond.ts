import type {ServerResponse} from 'node:http';
import {type Exchange, isBodyPending, type PlainResponse} from './http-exchange.ts';
import type {Refusal} from './refusal.ts';

export function respondJson(exchange: Exchange, status: number, value: unknown): void {
  respond(exchange, {status, text: JSON.stringify(value), headers: {}});
}

/** Responds with an error record (docs/design/interface.md). */
export function respondRefusal(exchange: Exchange, refusal: Refusal): void {
  const {status, message, headers} = refusal;
  respond(exchange, {status, text: JSON.stringify({code: status, message}), headers});
}

/** Responds with text, by default JSON. Cuts off a response that has begun; closes the connection of an unread body. */
export function respond(exchange: Exchange, plain: PlainResponse): void {
  const {request, response, connection, disturbance, clock} = exchange;
  const {socket} = request;
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const {status, text, headers} = disturbance?.instead(plain) ?? plain;
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  const body = Buffer.from(text);
  exchange.sent = request.method === 'HEAD' ? 0 : body.length;
  const fields = {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...exchange.commonHeaders,
    ...headers,
    'Content-Length': String(body.length),
  };
  // Set one by one, so that names that differ only in case are sent once.
  for (const [name, value] of Object.entries(fields)) response.setHeader(name, value);
  const early = isBodyPending(request) || connection.failed.aborted;
  if (early) response.setHeader('Connection', 'close');
  response.writeHead(status);
  if (disturbance?.cuts()) {
    sendHalf(response, body);
    return;
  }
  if (!early || request.method === 'HEAD') {
    response.end(body);
    return;
  }
  // Closing a socket with unread bytes resets the connection, and the client may see the reset before the response. So
  // only our side is closed, and what the client still sends is read and dropped for 30 s.
  if (!connection.closing && !socket.destroyed) {
    const cancel = clock.after(30_000, () => socket.destroy());
    socket.once('close', cancel);
  }
  connection.closing = true;
  response.write(body, () => socket.end());
  request.resume();
}

/** Sends the first half of these bytes, then closes the connection: a client sees that the rest is missing. */
export function sendHalf(response: ServerResponse, bytes: Buffer): void {
  response.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), () => response.socket?.destroy());
  // What else is piped into it must not follow.
  Object.assign(response, {write: () => true, end: () => response});
}
