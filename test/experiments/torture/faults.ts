import {
  type Fault,
  type Link,
  pause,
  pauseBriefly,
  type Toxic,
} from '../../support/experiment/fault-proxy.ts';

export interface FaultParameters {
  random: () => number;
  /** How many bytes an upload has. */
  bodyBytes: number;
}

/** Answers that are made up and come as the service's own would: whose record they bring, no client can tell. */
export const deceptive = new Set([
  '200 at 0 %',
  '200 at 50 %',
  '200 at 100 %',
  'an answer before the request',
]);

/** A whole answer as the service would give it. */
function answer(status: number, fields = '', id = 'invented'): Buffer {
  const body =
    status < 300 ? JSON.stringify({id, type: 'IMAGE'}) : `{"code":${status},"message":"Not like this."}`;
  return Buffer.from(
    `HTTP/1.1 ${status} Status\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${fields}\r\n${body}`,
  );
}

const latency =
  (ms: number): Toxic =>
  way =>
  async chunk => {
    await pause(way.link.random() * ms);
    await way.pass(chunk);
  };

const bandwidth =
  (bytesPerMs: number): Toxic =>
  way =>
  async chunk => {
    for (let start = 0; start < chunk.length; start += bytesPerMs * 10) {
      await way.pass(chunk.subarray(start, start + bytesPerMs * 10));
      await pause(10);
    }
  };

const slicer =
  (pieces: number): Toxic =>
  way =>
  async chunk => {
    const size = Math.max(1, Math.ceil(chunk.length / pieces));
    for (let start = 0; start < chunk.length; start += size) {
      await way.pass(chunk.subarray(start, start + size));
      await pauseBriefly(0.2);
    }
  };

/** Passes on so many bytes, then does something instead; what comes later is swallowed. */
export function after(bytes: number, act: (link: Link) => Promise<void> | void): Toxic {
  return way => async chunk => {
    if (way.seen > bytes) return;
    await way.pass(chunk.subarray(0, bytes - way.seen));
    if (way.seen + chunk.length >= bytes) await act(way.link);
  };
}

const reset = (bytes: number) => after(bytes, link => link.cut('reset'));
const limitData = (bytes: number) => after(bytes, link => link.cut('end'));
const halfOpen = (bytes: number) =>
  after(bytes, link => {
    link.isDead = true;
  });

/** Where in the stream of a request so much of its body has come, for each share; undefined until its head has come. */
function placesOf(...shares: number[]): (chunk: Buffer) => number[] | undefined {
  let head = '';
  let places: number[] | undefined;
  return chunk => {
    if (places !== undefined) return places;
    head += chunk.toString('latin1');
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const length = Number(/^content-length: *(\d+)/im.exec(head.slice(0, end))?.[1]);
    places = shares.map(share => end + 4 + Math.floor(share * length));
    return places;
  };
}

/** Refuses by itself once so much of the body has come; the rest is kept from the service, and read to its end. */
function earlyRefusal(status: number, share: number): Toxic {
  return way => {
    const placesIn = placesOf(share);
    let answered = false;
    return async chunk => {
      const [place = Number.POSITIVE_INFINITY] = placesIn(chunk) ?? [];
      if (answered) return;
      if (way.seen + chunk.length < place) return way.pass(chunk);
      answered = true;
      way.link.client.end(answer(status, 'Connection: close\r\n'));
      // Short of the last byte, so that the service has nothing that it could store.
      await way.pass(chunk.subarray(0, Math.max(0, place - way.seen - 1)));
      way.link.server.end();
    };
  };
}

/** Claims success by itself once so much of the body has come; the service gets the rest, and its answer is lost. */
function earlySuccess(share: number): Fault {
  const up: Toxic = way => {
    const placesIn = placesOf(share, 1);
    return async chunk => {
      const [place = Number.POSITIVE_INFINITY, end = place] = placesIn(chunk) ?? [];
      const there = way.seen + chunk.length;
      if (there >= place && way.seen < place) {
        way.link.client.end(answer(200, 'Connection: close\r\n'));
        // The service is not to know that nobody waits for its answer.
        way.link.isDead = true;
      }
      way.link.awaitsAnswer = there >= end;
      await way.pass(chunk);
    };
  };
  return {up, down: swallowAnswer};
}

const swallowAnswer: Toxic = way => () => {
  way.link.awaitsAnswer = false;
};

/** Does something with the first bytes of the answer. */
const onAnswer =
  (act: (chunk: Buffer, link: Link, pass: (bytes: Uint8Array) => Promise<void>) => Promise<void>): Toxic =>
  way =>
  async chunk => {
    if (chunk.toString('latin1', 0, 5) !== 'HTTP/') return way.pass(chunk);
    await act(chunk, way.link, bytes => way.pass(bytes));
  };

const dropAnswer = (how: 'end' | 'reset') => onAnswer(async (_chunk, link) => link.cut(how));

const before = (bytes: Buffer) => onAnswer(async (chunk, _link, pass) => pass(Buffer.concat([bytes, chunk])));

const secondLength = onAnswer(async (chunk, _link, pass) =>
  pass(
    Buffer.from(
      chunk.toString('latin1').replace(/^content-length/im, 'Content-Length: 5\r\nContent-Length'),
      'latin1',
    ),
  ),
);

const surplusAnswer = onAnswer(async (chunk, _link, pass) =>
  pass(Buffer.concat([chunk, answer(200, '', 'surplus')])),
);

/** Lets the answer through, and ends the connection when the client may have used it again. */
export function closeAfterAnswer(delayMs: number, how: 'end' | 'reset'): Toxic {
  return onAnswer(async (chunk, link, pass) => {
    await pass(chunk);
    void pauseBriefly(delayMs).then(() => link.cutClient(how));
  });
}

/** The faults on the wire, by name; each makes one that fits the parameters. */
export const faults: Record<string, (parameters: FaultParameters) => Fault> = {
  'latency up': () => ({up: latency(20)}),
  'latency down': () => ({down: latency(60)}),
  'bandwidth up': () => ({up: bandwidth(8_192)}),
  'bandwidth down': () => ({down: bandwidth(10)}),
  'slow close up': ({random}) => ({slowCloseMs: 100, up: limitData(within(random))}),
  'slow close down': ({random}) => ({slowCloseMs: 100, down: limitData(random() * 200)}),
  'reset up': place => ({up: reset(inRequest(place))}),
  'reset down': ({random}) => ({down: reset(random() * 400)}),
  'half-open up': place => ({up: halfOpen(inRequest(place))}),
  'half-open down': ({random}) => ({down: halfOpen(random() * 400)}),
  'slicer up': () => ({up: slicer(40)}),
  'slicer down': () => ({down: slicer(400)}),
  'limit-data up': place => ({up: limitData(inRequest(place))}),
  'limit-data down': ({random}) => ({down: limitData(random() * 400)}),
  ...Object.fromEntries(
    [401, 413, 415, 500, 200].flatMap(status =>
      [0, 0.5, 1].map(share => [
        `${status} at ${share * 100} %`,
        () => (status < 300 ? earlySuccess(share) : {up: earlyRefusal(status, share)}),
      ]),
    ),
  ),
  'answer dropped by FIN': () => ({down: dropAnswer('end')}),
  'answer dropped by RST': () => ({down: dropAnswer('reset')}),
  '2,000 interim answers': () => ({
    down: before(Buffer.from('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(2_000))),
  }),
  '100 that nobody asked for': () => ({down: before(Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'))}),
  'two Content-Lengths': () => ({down: secondLength}),
  'an answer before the request': () => ({opened: link => void link.client.write(answer(200))}),
  'two answers to one request': () => ({down: surplusAnswer}),
  'closed when used again': ({random}) => ({
    down: closeAfterAnswer(random(), random() < 0.5 ? 'end' : 'reset'),
  }),
};

function within(random: () => number): number {
  return Math.floor(random() * 4_000);
}

/** Somewhere in a request, its head included. */
export function inRequest({random, bodyBytes}: FaultParameters): number {
  return Math.floor(random() * (bodyBytes + 300));
}
