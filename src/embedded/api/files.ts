import {existsSync} from 'node:fs';
import {STATUS_CODES} from 'node:http';
import {basename, dirname, join} from 'node:path';
import {type Readable, Transform, type Writable} from 'node:stream';
import send from 'send';
import {addThumbnail} from '../../media/pixels/media.ts';
import {type Disturbance, type Exchange, ExchangeOver} from '../exchange/http-exchange.ts';
import {Refusal} from '../exchange/refusal.ts';
import {respondRefusal, sendHalf} from '../exchange/respond.ts';
import type {StoredRecord} from '../state/stored-record.ts';
import type {Service} from './context.ts';

/** Lets browsers show uploads as images and videos, and nothing else. */
const inertHeaders: Readonly<Record<string, string>> = {
  'Content-Disposition': 'inline',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy':
    "sandbox; default-src 'none'; img-src 'self' data:; media-src 'self'; style-src 'unsafe-inline'",
  // The URLs in records are for embedding, and anyone who knows one may read the file.
  'Cross-Origin-Resource-Policy': 'cross-origin',
  // The bytes of an ID never change.
  'Cache-Control': 'public, max-age=31536000, immutable',
};

/** GET and HEAD of /files/<id>: the stored bytes, with ranges and validators (RFC 9110), without authentication. */
export async function sendFile(exchange: Exchange, {store}: Service, id: string): Promise<void> {
  const stored = await store.find(id);
  if (stored === undefined) throw new Refusal(404, 'There is no such file.');
  await respondWithFile(exchange, store.path('files', id), fileHeaders(stored));
}

function fileHeaders({contentType, sha256}: StoredRecord): Record<string, string> {
  return {
    'Content-Type': contentType,
    // An XML file, such as SVG, may run scripts if it is opened directly; pages can still embed it.
    ...(/^[^;]*xml/i.test(contentType) && {'Content-Disposition': 'attachment'}),
    ETag: `"${sha256}"`,
  };
}

/** GET and HEAD of /thumbnails/<id>.webp: made on request if missing, or the image itself if that is impossible. */
export async function sendThumbnail(exchange: Exchange, service: Service, id: string): Promise<void> {
  const stored = await service.store.find(id);
  if (stored?.thumbnail === undefined) throw new Refusal(404, 'There is no such thumbnail.');
  const {store} = service;
  const [path, file] = [store.path('thumbnails', id), {...stored, path: store.path('files', id)}];
  if (!existsSync(path)) {
    const draft = store.temporaryPath();
    const place = () => store.placeThumbnail(id, draft);
    // It is tried again later, so that a browser must ask again.
    if (!(await addThumbnail(file, {draft, place}, service)))
      return respondWithFile(exchange, file.path, {...fileHeaders(stored), 'Cache-Control': 'no-cache'});
  }
  await respondWithFile(exchange, path, {'Content-Type': 'image/webp', ETag: `"${stored.sha256}-320"`});
}

/** GET and HEAD of /streams/<id>/<name>: the same of the playlists and the segments of an HLS stream. */
export async function sendStream(
  exchange: Exchange,
  service: Service,
  id: string,
  name: string,
): Promise<void> {
  const stored = await service.store.find(id);
  if (stored?.stream === undefined || !/^[\w-]+\.(m3u8|mp4)$/.test(name))
    throw new Refusal(404, 'There is no such stream.');
  await respondWithFile(exchange, join(service.store.path('streams', id), name), {
    'Content-Type': name.endsWith('.mp4') ? 'video/mp4' : 'application/vnd.apple.mpegurl',
    ETag: `"${stored.sha256}-${name}"`,
    // Players written as scripts read the files themselves.
    'Access-Control-Allow-Origin': '*',
  });
}

/** Sends a file; resolves when the response is over, also if the client goes meanwhile. */
async function respondWithFile(
  exchange: Exchange,
  path: string,
  ownHeaders: Readonly<Record<string, string>>,
): Promise<void> {
  const {request, response, disturbance} = exchange;
  const headers = {...exchange.commonHeaders, ...inertHeaders, ...ownHeaders};
  for (const [field, value] of Object.entries(headers)) response.setHeader(field, value);
  if (request.socket.destroyed) throw new ExchangeOver();
  await new Promise<void>((resolve, reject) => {
    response.once('close', resolve);
    // A response behind another one on its connection has no end of its own if that breaks.
    request.once('close', resolve);
    send(request, basename(path), {root: dirname(path), index: false, cacheControl: false})
      .on('stream', (stream: Readable) => {
        request.once('close', () => stream.destroy());
        if (disturbance?.cuts()) stream.once('data', (chunk: Buffer) => sendHalf(response, chunk));
        stream.on('data', (chunk: Buffer) => {
          exchange.sent += chunk.length;
        });
        if (disturbance === undefined) return;
        response.flushHeaders();
        paceStream(stream, disturbance);
      })
      .on('error', (error: {status?: number; headers?: Record<string, string>}) => {
        const {status = 500, headers} = error;
        if (status >= 500) return reject(error);
        // Its message would contain the path.
        respondRefusal(exchange, new Refusal(status, `${STATUS_CODES[status]}.`, headers));
      })
      .pipe(response);
  });
}

/** Lets a stream that `send` pipes wait before each piece, as a fault says. */
function paceStream(stream: Readable, {pace}: Disturbance): void {
  const transform = async (chunk: Buffer, _encoding: unknown, done: () => void) => {
    for (let at = 0; at < chunk.length; at += 4096) {
      const piece = chunk.subarray(at, at + 4096);
      await pace(piece.length);
      paced.push(piece);
    }
    done();
  };
  const paced = new Transform({transform});
  const pipe = stream.pipe.bind(stream);
  stream.pipe = <To extends NodeJS.WritableStream>(to: To) => pipe(paced).pipe(to as To & Writable);
}
