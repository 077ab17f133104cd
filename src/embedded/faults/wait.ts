import type {StopSignal} from '../../host.ts';
import type {Exchange} from '../exchange/exchange.ts';

/** Resolves after so many milliseconds; earlier when the client is gone, or the service ends. */
export function wait(exchange: Exchange, ms: number, stop: StopSignal): Promise<void> {
  const {clock, connection, response} = exchange;
  if (stop.aborted || response.destroyed || connection.failed.aborted) return Promise.resolve();
  return new Promise(resolve => {
    const end = () => {
      cancel();
      stopAsking();
      response.off('close', end);
      for (const signal of [connection.failed, stop]) signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    const stopAsking = askWhetherGone(exchange);
    response.once('close', end);
    for (const signal of [connection.failed, stop]) signal.addEventListener('abort', end);
  });
}

/** The first pause, which is doubled each time. */
const firstPauseMs = 10;

/**
 * A client that has closed its side may still read, or be gone: only sending shows which. From then on, sends it interim responses
 * (102; RFC 9110, 15.2), which break the connection if it is gone, at growing intervals. Returns a function that stops.
 */
function askWhetherGone({request, response, clock}: Exchange): () => void {
  const {socket, httpVersion} = request;
  // A client of HTTP/1.0 does not know interim responses.
  if (httpVersion === '1.0') return () => {};
  let cancel = () => {};
  let pauseMs = firstPauseMs;
  const askLater = () => {
    cancel = clock.after(pauseMs, () => {
      if (response.headersSent) return;
      response.writeProcessing();
      pauseMs *= 2;
      askLater();
    });
  };
  if (socket.readableEnded) askLater();
  else socket.once('end', askLater);
  return () => {
    socket.off('end', askLater);
    cancel();
  };
}
