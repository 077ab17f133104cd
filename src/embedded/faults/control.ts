import {randomBytes} from 'node:crypto';
import {systemClock} from '../../host.ts';
import {hasShape, isString, listOf, parseObject, wrongField} from '../../lib/json.ts';
import {own} from '../../lib/object.ts';
import {isSameSecret} from '../../lib/secrets/same-secret.ts';
import {bearerOf, defaultPace, type Exchange} from '../exchange/http-exchange.ts';
import {createHttpServer} from '../exchange/http-server.ts';
import {Refusal, wrongMethod} from '../exchange/refusal.ts';
import {readBody} from '../exchange/request-body.ts';
import {respondJson} from '../exchange/respond.ts';
import {Faults} from './faults.ts';

/** The body of PUT /faults. */
const wantedShape = {faults: listOf(isString)};

/** Which faults a service starts with, and how they can be changed. */
export interface FaultOptions {
  /** Those of the start, such as `upload:status=503,nth=1`. */
  list?: readonly string[];
  /** Starts the server that changes the faults on loopback; port 0 is any port, and the default key is random. */
  control?: {port: number; key?: string};
}

/** The faults of a service, and what starts the server that changes them and resets the state, if it has a port. */
export function prepareFaults({list = [], control}: FaultOptions) {
  const faults = new Faults();
  faults.replace(list);
  // Resolves to undefined without a port. `reset`: restores the state, and resolves to the number of media.
  const startControl = async (reset: () => Promise<number>, onError: (error: unknown) => void) => {
    if (control === undefined) return undefined;
    const key = control.key ?? `mf_${randomBytes(24).toString('base64url')}`;
    // Responds to a request with the key: a reset, or a change of the faults.
    const handle = async (exchange: Exchange) => {
      if (!isSameSecret(bearerOf(exchange.request.headers), key))
        throw new Refusal(401, 'The key must be MEDIA_FAULTS_KEY.', {'WWW-Authenticate': 'Bearer'});
      if (exchange.path === '/state/reset') {
        if (exchange.method !== 'POST') throw wrongMethod(['POST']);
        faults.replace(list);
        return respondJson(exchange, 200, {media: await reset()});
      }
      await changeFaults(exchange, faults);
      respondJson(exchange, 200, {faults: faults.counts()});
    };
    const server = createHttpServer({
      ...{clock: systemClock, pace: defaultPace, commonHeaders: {}},
      ...{handle, onError},
    });
    const port = await server.listen({host: '127.0.0.1', port: control.port});
    return {url: `http://127.0.0.1:${port}/faults`, key, close: server.close};
  };
  return {faults, startControl};
}

/** Changes the faults by PUT or DELETE of /faults; a GET changes nothing, anything else throws a refusal. */
async function changeFaults(exchange: Exchange, faults: Faults): Promise<void> {
  const {path, method} = exchange;
  if (path !== '/faults') throw new Refusal(404, 'The only paths here are /faults and /state/reset.');
  if (method === 'GET') return;
  if (method === 'DELETE') return faults.replace([]);
  if (method !== 'PUT') throw wrongMethod(['GET', 'PUT', 'DELETE']);
  const body = parseObject(await readBody(exchange, 64 * 1024));
  const others = Object.keys(body ?? {}).filter(name => !own(wantedShape, name));
  if (body !== undefined && others.length === 0 && hasShape(body, wantedShape))
    return faults.replace(body.faults);
  const unknown = `: ${others.map(name => `"${name}"`).join(' and ')} ${others.length === 1 ? 'is' : 'are'} unknown`;
  const problem = others.length > 0 ? unknown : body && `: "${wrongField(body, wantedShape)}" is wrong`;
  throw new Refusal(400, `The body must be JSON like {"faults": ["upload:status=503"]}${problem ?? ''}.`);
}
