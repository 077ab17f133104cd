import {MediaError} from '../errors.ts';
import type {Host} from '../host.ts';
import {isLoopback} from '../lib/loopback.ts';
import {proxyVariableFor} from './proxy-variables.ts';

/** The proxy that the environment names for an origin; throws `proxy_failed` if it is not a valid one. */
export function proxyFor(origin: URL, environment: Host['env']): URL | undefined {
  const proxy = isLoopback(origin.hostname) ? undefined : proxyVariableFor(origin, environment);
  return proxy === undefined ? undefined : parseProxy(proxy);
}

function parseProxy(value: string): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new MediaError('proxy_failed', 'The proxy in the environment is not an http or https URL.', {
      hint: 'Set HTTPS_PROXY to a value like http://proxy.example:3128.',
    });
  }
  return url;
}
