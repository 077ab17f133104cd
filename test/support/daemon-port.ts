import {connect} from 'node:net';
import {eventually} from './eventually.ts';

/** Resolves when somebody listens on a port of 127.0.0.1; `refuseEnded` throws if the program that is to do so has ended. */
export async function listensOn(port: number, refuseEnded: () => void): Promise<void> {
  await eventually(
    async () => {
      refuseEnded();
      return accepts(port);
    },
    {pauseMs: 20, state: () => ({port})},
  );
}

function accepts(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
