/** The door of everything that speaks HTTP: whoever needs a connection, or the shape of what goes over it, comes in here. */
export {Connection} from './connection.ts';
export type {Body, HttpAnswer, HttpRequest, Wire} from './message.ts';
export type {ConnectionOptions} from './options.ts';
export {proxyFor} from './proxy.ts';

/** Sends the head of a request and no body; what does it is loaded when it is asked for. */
export const postWithoutBody: typeof import('./unsent.ts').postHead = async (...parameters) => {
  const unsent = await import('./unsent.ts');
  return unsent.postHead(...parameters);
};
