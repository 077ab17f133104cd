import type {HeadRequest} from './head.ts';
import type {HttpAnswer} from './message.ts';
import type {ConnectionOptions} from './options.ts';

/** The only entry to this folder for other folders: connections, and the types of what is sent over them. */
export {Connection} from './connection.ts';
export {describeConnectError} from './errors.ts';
export type {Body, HttpAnswer, HttpRequest, Wire} from './message.ts';
export type {ConnectionOptions} from './options.ts';
export {proxyFor} from './proxy.ts';

/** Sends the head of a request without a body. Its code is loaded on first use. */
export async function sendHead(
  request: HeadRequest,
  options: ConnectionOptions,
): Promise<HttpAnswer | undefined> {
  const {answerToHead} = await import('./head.ts');
  return answerToHead(request, options);
}
