import type {HttpAnswer} from './message.ts';
import type {ConnectionOptions} from './options.ts';
import type {UnsentRequest} from './unsent.ts';

/** The door of everything that speaks HTTP: whoever needs a connection, or the shape of what goes over it, comes in here. */
export {Connection} from './connection.ts';
export {describeConnectError} from './errors.ts';
export type {Body, HttpAnswer, HttpRequest, Wire} from './message.ts';
export type {ConnectionOptions} from './options.ts';
export {proxyFor} from './proxy.ts';

/** Sends the head of a POST and no body; what does it is loaded when it is asked for. */
export async function postWithoutBody(
  request: UnsentRequest,
  options: ConnectionOptions,
): Promise<HttpAnswer | undefined> {
  const {postHead} = await import('./unsent.ts');
  return postHead(request, options);
}
