import type {Exchange} from '../exchange/http-exchange.ts';
import {Refusal, type Route, reads, routeFor} from '../exchange/refusal.ts';
import {respond, respondJson} from '../exchange/respond.ts';
import type {Service} from './context.ts';
import {sendFile, sendStream, sendThumbnail} from './files.ts';
import {receiveUpload} from './upload-route.ts';

/** Responds to a request; `id` and `name` are what its path names. */
type Handle = (exchange: Exchange, service: Service, id: string, name: string) => Promise<void>;

/** Loaded on first use, since it would slow down every start. */
const graphql: Handle = async (exchange, service) =>
  (await import('./graphql-route.ts')).graphql(exchange, service);

const routes: readonly Route<Handle>[] = [
  [/^\/v1\/media\/upload$/, ['POST'], receiveUpload],
  [/^\/graphql$/, ['GET', 'POST'], graphql],
  [/^\/metrics$/, reads, showMetrics],
  [/^\/healthz$/, reads, showHealth],
  [/^\/$/, reads, describeService],
  [/^\/files\/([^/]+)$/, reads, sendFile],
  [/^\/thumbnails\/([^/]+)\.webp$/, reads, sendThumbnail],
  [/^\/streams\/([^/]+)\/([^/]+)$/, reads, sendStream],
];

/** Sends the response to a request, or rejects with the refusal to send. */
export async function respondTo(exchange: Exchange, service: Service): Promise<void> {
  const {handle, id, name} = routeFor(routes, exchange);
  await handle(exchange, service, id, name);
}

/** GET /: names this service and its two APIs, for clients that do not ask for HTML. */
async function describeService(exchange: Exchange): Promise<void> {
  respondJson(exchange, 200, {
    service: 'media embedded service',
    upload: '/v1/media/upload',
    graphql: '/graphql',
  });
}

/** The response to /healthz: 200 if the data directory can be used, else 503. */
async function showHealth(exchange: Exchange, service: Service): Promise<void> {
  const isThere = (await service.store.isInPlace()) && (await service.store.canStore());
  respondJson(exchange, isThere ? 200 : 503, {status: isThere ? 'ok' : 'the data directory cannot be used'});
}

/** The response to /metrics: a 404 unless the service was started with metrics. */
async function showMetrics(exchange: Exchange, {metrics}: Service): Promise<void> {
  if (metrics === undefined) throw new Refusal(404, 'There is nothing at this URL.');
  const {text, contentType} = await metrics.show();
  respond(exchange, {status: 200, text, headers: {'Content-Type': contentType}});
}
