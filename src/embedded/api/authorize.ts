import type {IncomingHttpHeaders} from 'node:http';
import {bearerOf} from '../exchange/http-exchange.ts';
import {Refusal} from '../exchange/refusal.ts';
import {hasExpired, type Permission, type StoredKey} from '../state/keys.ts';
import type {Service} from './context.ts';

/** The key of a request, whose use it records. Throws a 401 for an unknown key, a 403 without any of `permissions`. */
export async function authorize(
  headers: IncomingHttpHeaders,
  permissions: readonly Permission[],
  service: Service,
): Promise<StoredKey> {
  const {keys, clock} = service;
  const token = bearerOf(headers);
  if (token === '') throw new Refusal(403, 'The request has no API key.');
  const key = await keys.find(token);
  if (key === undefined) throw unauthorizedRefusal('The API key is unknown', service);
  if (hasExpired(key, clock)) throw unauthorizedRefusal('The API key has expired', service);
  if (!permissions.some(permission => key.permissions.includes(permission)))
    throw new Refusal(
      403,
      `The API key lacks the permission ${permissions.map(one => `"${one}"`).join(' or ')}.`,
    );
  keys.recordUse(key, headers['user-agent'] ?? '');
  return key;
}

/** The 401 for a key that is not valid; `message` says why. */
function unauthorizedRefusal(message: string, {publicUrl}: Service): Refusal {
  return new Refusal(401, `${message}; create one on the profile page (${publicUrl()}/profile).`, {
    'WWW-Authenticate': 'Bearer',
  });
}
