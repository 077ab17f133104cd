/** The door of everything that speaks HTTP: whoever needs a connection, or the shape of what goes over it, comes in here. */
export {Connection} from './connection.ts';
export type {Body, HttpAnswer, HttpRequest, Wire} from './message.ts';
export type {ConnectionOptions} from './options.ts';
export {proxyFor} from './proxy.ts';
