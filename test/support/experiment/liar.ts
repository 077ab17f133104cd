import {createServer, type Socket} from 'node:net';
import {listen, portOf} from '../loopback.ts';
import type {Lie} from './lies.ts';

/** The authority of a server that does so with each connection; it ends with the test. */
export async function listening(onConnection: (socket: Socket) => void): Promise<string> {
  const server = createServer(socket => onConnection(socket.on('error', () => {})));
  await listen(server);
  return `127.0.0.1:${portOf(server)}`;
}

/** What a server answers that is there. */
const refusal = 'HTTP/1.1 415 Unsupported Media Type\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';

/** A server that answers each upload with the lie that its body asks for, and refuses requests that send no file. */
export function liar(told: () => readonly Lie[]): Promise<string> {
  return listening(socket => {
    let received = Buffer.alloc(0);
    const onData = (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      if (/^GET |^content-type: text\/plain\r$/im.test(received.toString('latin1'))) socket.end(refusal);
      const asked = /lie (\d+)\./.exec(received.toString('latin1'))?.[1];
      if (asked === undefined) return;
      socket.off('data', onData).resume();
      const answer = told()[Number(asked)]?.answer ?? '';
      if (typeof answer === 'function') answer(socket);
      else socket.end(answer);
    };
    socket.on('data', onData);
  });
}
