import {randomBytes} from 'node:crypto';
import {once} from 'node:events';
import {createServer, type Server} from 'node:http';
import type {AddressInfo} from 'node:net';
import {systemClock} from '../../host.ts';
import {
  hasShape,
  isCount,
  isString,
  listOf,
  optional,
  parseObject,
  type Shape,
  wrongField,
} from '../../lib/json.ts';
import {isSameSecret} from '../../lib/secrets/same-secret.ts';
import {readBody} from '../exchange/body.ts';
import {bearerOf, defaultPace, type Exchange, exchangeOf} from '../exchange/exchange.ts';
import {InvalidOption, Refusal, refusalOf, wrongMethod} from '../exchange/refusal.ts';
import {respondJson, respondRefusal} from '../exchange/respond.ts';
import {Faults} from './faults.ts';

/** The body of PUT /faults. */
const wantedShape: Shape<{faults: string[]; seed?: number | undefined}> = {
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

/** Puts the state of a service back to that of its start; resolves to the number of media. */
type Reset = () => Promise<number> | undefined;

/** The faults of a running service; where and with which key they can be changed by HTTP, if they can; and what ends both. */
export type StartedFaults = Awaited<ReturnType<typeof startFaults>>;

/** Parses the faults of the start, and starts the server that changes them and resets the state, if there is to be one. */
export async function startFaults({list = [], seed = 0, control}: FaultOptions, reset: Reset) {
  const faults = new Faults();
  faults.replace(list, seed);
  if (control === undefined) return {faults, control, close: async () => faults.stop()};
  const key = control.key ?? `mf_${randomBytes(24).toString('base64url')}`;
  const server = createControl(faults, key, () => {
    faults.replace(list, seed);
    return reset();
  });
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

/** The server that changes the faults and resets the state; `key` is the bearer key that every request must carry. */
function createControl(faults: Faults, key: string, reset: Reset): Server {
  const conditions = {clock: systemClock, pace: defaultPace, commonHeaders: {}, acceptBody: () => {}};
  return createServer(async (request, response) => {
    const exchange = exchangeOf(request, response, conditions);
    try {
      if (!isSameSecret(bearerOf(request.headers), key))
        throw new Refusal(401, 'The key must be MEDIA_FAULTS_KEY.', {'WWW-Authenticate': 'Bearer'});
      if (exchange.path === '/state/reset') {
        if (exchange.method !== 'POST') throw wrongMethod(['POST']);
        respondJson(exchange, 200, {media: await reset()});
        return;
      }
      await change(exchange, faults);
      respondJson(exchange, 200, {seed: faults.seed, faults: faults.counts()});
    } catch (error) {
      const known =
        error instanceof InvalidOption
          ? new Refusal(400, `${error.message} ${error.hint}`)
          : refusalOf(error);
      respondRefusal(exchange, known ?? new Refusal(500, 'Internal error.'));
    }
  });
}

/** Does what a request asks for. */
async function change(exchange: Exchange, faults: Faults): Promise<void> {
  const {path, method} = exchange;
  if (path !== '/faults') throw new Refusal(404, 'The only paths here are /faults and /state/reset.');
  if (method === 'GET') return;
  if (method === 'DELETE') return faults.replace([]);
  if (method !== 'PUT') throw wrongMethod(['GET', 'PUT', 'DELETE']);
  const wanted = parseObject(await readBody(exchange, longestBody));
  if (wanted === undefined || !hasShape(wanted, wantedShape)) {
    const field = wanted === undefined ? '' : `: "${wrongField(wanted, wantedShape)}" is wrong`;
    throw new Refusal(
      400,
      `The body must be JSON like {"faults": ["upload:status=503"], "seed": 7}${field}.`,
    );
  }
  faults.replace(wanted.faults, wanted.seed);
}
