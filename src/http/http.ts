import type {HttpAnswer} from './message.ts';
import type {ConnectionOptions} from './options.ts';
import type {UnsentRequest} from './unsent.ts';

/** The only entry to this folder for other folders: connections, and the types of what is sent over them. */
export {Connection} from './connection.ts';
export {describeConnectError} from './errors.ts';
export type {Body, HttpAnswer, HttpRequest, Wire} from './message.ts';
export type {ConnectionOptions} from './options.ts';
export {proxyFor} from './proxy.ts';

/** Sends the head of a POST without its body. Its code is loaded on first use. */
export async function postWithoutBody(
  request: UnsentRequest,
  options: ConnectionOptions,
): Promise<HttpAnswer | undefined> {
  const {postHead} = await import('./unsent.ts');
  return postHead(request, options);
}
