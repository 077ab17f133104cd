import type {Exchange} from '../exchange/exchange.ts';
import {Refusal, wrongMethod} from '../exchange/refusal.ts';
import {respond, respondJson} from '../exchange/respond.ts';
import type {Service} from './context.ts';
import {sendFile, sendStream, sendThumbnail} from './files.ts';
import {upload} from './upload.ts';

/** Sends the response to a request, or rejects with the refusal to send. */
type Route = (exchange: Exchange, service: Service) => Promise<void>;

/** The route of a request; throws a 404 or 405. */
export function routeOf({path, method}: Exchange): Route {
  if (path === '/v1/media/upload') return allow(method, ['POST'], upload);
  if (path === '/graphql') return allow(method, ['GET', 'POST'], lazyGraphql);
  if (path === '/metrics') return allow(method, ['GET', 'HEAD'], showMetrics);
  if (path === '/') return allow(method, ['GET', 'HEAD'], describe);
  const thumbnail = /^\/thumbnails\/([^/]+)\.webp$/.exec(path)?.[1];
  if (thumbnail !== undefined)
    return allow(method, ['GET', 'HEAD'], (exchange, service) => sendThumbnail(exchange, service, thumbnail));
  const [, streamId, name] = /^\/streams\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  if (streamId !== undefined && name !== undefined)
    return allow(method, ['GET', 'HEAD'], (exchange, service) =>
      sendStream(exchange, service, {id: streamId, name}),
    );
  const id = /^\/files\/([^/]+)$/.exec(path)?.[1];
  if (id === undefined) throw new Refusal(404, 'There is nothing here.');
  return allow(method, ['GET', 'HEAD'], (exchange, service) => sendFile(exchange, service, id));
}

function allow(method: string, methods: readonly string[], route: Route): Route {
  if (methods.includes(method)) return route;
  throw wrongMethod(methods);
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
  await allow(exchange.method, ['GET', 'HEAD'], async () => {
    const isThere =
      (await service.store.isInPlace()) && (await service.store.hasSpaceFor(1).catch(() => false));
    respondJson(exchange, isThere ? 200 : 503, {
      status: isThere ? 'ok' : 'the data directory cannot be used',
    });
  })(exchange, service);
}

async function showMetrics(exchange: Exchange, {metrics}: Service): Promise<void> {
  if (metrics === undefined) throw new Refusal(404, 'There is nothing here.');
  const {text, contentType} = await (await metrics).show();
  respond(exchange, 200, text, {'Content-Type': contentType});
}
