import type {Exchange} from '../exchange/exchange.ts';
import {Refusal, wrongMethod} from '../exchange/refusal.ts';
import {respond, respondJson} from '../exchange/respond.ts';
import type {Service} from './context.ts';
import {sendFile, sendStream, sendThumbnail} from './files.ts';
import {receiveUpload} from './upload.ts';

/** Responds to a request; `id` and `name` are what its path names. */
type Route = (exchange: Exchange, service: Service, id: string, name: string) => Promise<void>;

const reads = ['GET', 'HEAD'];

const routes: readonly (readonly [path: RegExp, methods: readonly string[], route: Route])[] = [
  [/^\/v1\/media\/upload$/, ['POST'], receiveUpload],
  [/^\/graphql$/, ['GET', 'POST'], lazyGraphql],
  [/^\/metrics$/, reads, showMetrics],
  [/^\/$/, reads, describe],
  [/^\/files\/([^/]+)$/, reads, sendFile],
  [/^\/thumbnails\/([^/]+)\.webp$/, reads, sendThumbnail],
  [/^\/streams\/([^/]+)\/([^/]+)$/, reads, sendStream],
];

/** Sends the response to a request, or rejects with the refusal to send. */
export async function respondTo(exchange: Exchange, service: Service): Promise<void> {
  for (const [pattern, methods, route] of routes) {
    const [found, id = '', name = ''] = pattern.exec(exchange.path) ?? [];
    if (found === undefined) continue;
    if (!methods.includes(exchange.method)) throw wrongMethod(methods);
    return route(exchange, service, id, name);
  }
  throw new Refusal(404, 'There is nothing at this URL.');
}

async function lazyGraphql(exchange: Exchange, service: Service): Promise<void> {
  // Loaded on first use, since it would slow down every start.
  const {graphql} = await import('./graphql.ts');
  await graphql(exchange, service);
}

async function describe(exchange: Exchange): Promise<void> {
  respondJson(exchange, 200, {
    service: 'media embedded service',
    upload: '/v1/media/upload',
    graphql: '/graphql',
  });
}

/** The response to /healthz: 200 if the data directory can be used, else 503. */
export async function showHealth(exchange: Exchange, service: Service): Promise<void> {
  if (!reads.includes(exchange.method)) throw wrongMethod(reads);
  const isThere =
    (await service.store.isInPlace()) && (await service.store.hasSpaceFor(1).catch(() => false));
  respondJson(exchange, isThere ? 200 : 503, {
    status: isThere ? 'ok' : 'the data directory cannot be used',
  });
}

async function showMetrics(exchange: Exchange, {metrics}: Service): Promise<void> {
  if (metrics === undefined) throw new Refusal(404, 'There is nothing at this URL.');
  const {text, contentType} = await (await metrics).show();
  respond(exchange, 200, text, {'Content-Type': contentType});
}
