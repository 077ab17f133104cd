import {type AddressInfo, createServer, type Server, type Socket} from 'node:net';
import {afterTest} from '../after-test.ts';
import type {Lie} from './lies.ts';

/** The authority of a server that does so with each connection; it ends with the test. */
export async function listening(onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server: Server = createServer(socket => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    onConnection(socket);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  afterTest(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
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
