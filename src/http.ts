/** The door of everything that speaks HTTP: whoever needs a connection, or the shape of what goes over it, comes in here. */
export {Connection} from './http-connection.ts';
export type {Body, HttpAnswer, HttpRequest, Wire} from './http-message.ts';
export type {ConnectionOptions} from './http-options.ts';
export {proxyFor} from './http-proxy.ts';
