import {randomBytes} from 'node:crypto';
import {once} from 'node:events';
import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {parseObject} from '../../lib/json.ts';
import {isSameSecret} from '../../lib/secrets/same-secret.ts';
import {hasShape, isCount, isString, listOf, optional, type Shape, wrongField} from '../../lib/shape.ts';
import {InvalidOption} from '../exchange/invalid-option.ts';
import {Refusal} from '../exchange/refusal.ts';
import {Faults} from './faults.ts';

/** The body of PUT /faults. */
interface Wanted {
  faults: string[];
  seed?: number | undefined;
}

const wantedShape: Shape<Wanted> = {
  faults: listOf(isString),
  seed: optional((value): value is number => value === 0 || isCount(value)),
};

const longestBody = 64 * 1024;

/** Which faults a service starts with, and how they can be changed. */
export interface FaultOptions {
  /** Those of the start, such as `upload:status=503,nth=1`. */
  list?: readonly string[];
  /** The same seed and the same order of requests give the same faults; default 0. */
  seed?: number;
  /** Starts a server on loopback that changes them, on this port (0 is any) and with this key (by default a random one). */
  control?: {port: number; key?: string};
}

/** The faults of a running service. */
export interface StartedFaults {
  readonly faults: Faults;
  /** Where and with which key they can be changed by HTTP; undefined if they cannot. */
  readonly control: {readonly url: string; readonly key: string} | undefined;
  /** Ends what is waiting, and closes the server. */
  close(): Promise<void>;
}

/** Parses the faults of the start, and starts the server that changes them, if there is to be one. */
export async function startFaults({list = [], seed = 0, control}: FaultOptions): Promise<StartedFaults> {
  const faults = new Faults();
  faults.replace(list, seed);
  if (control === undefined) return {faults, control, close: async () => faults.stop()};
  const key = control.key ?? `mf_${randomBytes(24).toString('base64url')}`;
  const server = createControl(faults, key);
  server.listen({host: '127.0.0.1', port: control.port});
  await once(server, 'listening');
  const {port} = server.address() as AddressInfo;
  return {
    faults,
    control: {url: `http://127.0.0.1:${port}/faults`, key},
    close: async () => {
      faults.stop();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The server that changes the faults; `key` is the bearer key that every request must carry. */
function createControl(faults: Faults, key: string): Server {
  return createServer(async (request, response) => {
    try {
      const given = /^bearer +(.*)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
      if (!isSameSecret(given, key))
        throw new Refusal(401, 'This is not the key of the faults.', {'WWW-Authenticate': 'Bearer'});
      await answer(request, faults);
      send(response, 200, {seed: faults.seed, faults: faults.counts()});
    } catch (error) {
      const {status, message, headers} = refusalOfControl(error);
      send(response, status, {code: status, message}, headers);
    }
  });
}

/** Does what a request asks for. */
async function answer(request: IncomingMessage, faults: Faults): Promise<void> {
  if (request.url !== '/faults') throw new Refusal(404, 'There is only /faults here.');
  if (request.method === 'GET') return;
  if (request.method === 'DELETE') return faults.replace([]);
  if (request.method !== 'PUT')
    throw new Refusal(405, 'The method must be GET, PUT or DELETE.', {Allow: 'GET, PUT, DELETE'});
  const wanted = parseObject(await textOf(request));
  if (wanted === undefined || !hasShape(wanted, wantedShape)) {
    const field = wanted === undefined ? '' : `: "${wrongField(wanted, wantedShape)}" is wrong`;
    throw new Refusal(
      400,
      `The body must be JSON like {"faults": ["upload:status=503"], "seed": 7}${field}.`,
    );
  }
  faults.replace(wanted.faults, wanted.seed);
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  request.setEncoding('utf8');
  for await (const chunk of request) {
    text += chunk;
    if (text.length > longestBody) throw new Refusal(413, `The body may have at most ${longestBody} bytes.`);
  }
  return text;
}

function refusalOfControl(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof InvalidOption) return new Refusal(400, `${error.message} ${error.hint}`);
  return new Refusal(500, 'Internal error.');
}

function send(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, {'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers});
  response.end(`${JSON.stringify(value)}\n`);
}
