import type {Socket} from 'node:net';
import {nextTurn} from '../host.ts';

type Done = (error?: Error | null) => void;

/**
 * Lets what a socket has received be read before a failed write ends it. A service that refuses an upload early and closes
 * sends its response first, but Node destroys a socket as soon as a write fails.
 */
export function readBeforeWritesFail(socket: Socket): void {
  const write = socket._write.bind(socket);
  const writev = socket._writev?.bind(socket);
  socket._write = (chunk: unknown, encoding, done) => write(chunk, encoding, afterReading(done));
  if (writev !== undefined) socket._writev = (chunks, done) => writev(chunks, afterReading(done));
}

function afterReading(done: Done): Done {
  return error => {
    if (error) void twoTurns().then(() => done(error));
    else done(error);
  };
}

/** The first turn may have begun after its events were taken from the system. */
async function twoTurns(): Promise<void> {
  await nextTurn();
  await nextTurn();
}
