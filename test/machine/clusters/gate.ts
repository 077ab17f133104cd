import {createServer, type IncomingMessage, request, type ServerResponse} from 'node:http';
import {listen, urlOf} from '../../support/loopback.ts';

/** How the gate meets uploads while it is closed; it knows them by their lengths. */
export interface Closed {
  /** Bodies of this length are not read, so that whoever sends one is in the middle of it. */
  hold: number;
  /** Bodies of these lengths are put off for a minute, once each, when all of them have come. */
  putOff: readonly number[];
}

/** Stands before a service, lets everything through, and stops what it is told until it is opened. */
export interface Gate {
  url: string;
  /** How many bodies of this length have come, whatever became of them. */
  arrivals(contentLength: number): number;
  /** Reads on, and lets everything through from now on. */
  open(): void;
}

/** A gate before the service at `origin`, for the current test; open from the start unless told otherwise. */
export async function gateBefore(origin: string, closed?: Closed): Promise<Gate> {
  const lengths: number[] = [];
  const held: (() => void)[] = [];
  const refusals: (() => void)[] = [];
  const putOff = new Set(closed?.putOff);
  let hold = closed?.hold;
  const server = createServer((incoming, outgoing) => {
    const length = Number(incoming.headers['content-length']);
    lengths.push(length);
    if (length === hold) {
      held.push(() => forward(incoming, outgoing, origin));
    } else if (putOff.delete(length)) {
      incoming.resume();
      refusals.push(() => outgoing.writeHead(429, {'retry-after': '60'}).end());
      if (putOff.size === 0) for (const refuse of refusals) refuse();
    } else {
      forward(incoming, outgoing, origin);
    }
  });
  await listen(server);
  return {
    url: urlOf(server),
    arrivals: contentLength => lengths.filter(length => length === contentLength).length,
    open: () => {
      hold = undefined;
      for (const resume of held) resume();
    },
  };
}

/** Passes on what comes, byte for byte; an upload that breaks off breaks off at the service as well. */
function forward(incoming: IncomingMessage, outgoing: ServerResponse, origin: string): void {
  const {method = 'GET', url = '/', headers} = incoming;
  const onward = request(new URL(url, origin), {method, headers: {...headers, host: new URL(origin).host}});
  onward.on('response', answer => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  onward.on('error', () => outgoing.destroy());
  incoming.on('close', () => {
    if (!incoming.complete) onward.destroy();
  });
  incoming.pipe(onward);
}
