import {createHash} from 'node:crypto';
import {open, rm} from 'node:fs/promises';
import type {IncomingHttpHeaders} from 'node:http';
import {Writable} from 'node:stream';
import {mediaTypeText, parseMediaType} from '../../lib/media-type.ts';
import {
  canHaveThumbnail,
  makePreviews,
  type Previews,
  prepareToProbe,
  probeMedia,
} from '../../media/pixels/media.ts';
import type {Exchange} from '../exchange/http-exchange.ts';
import {Refusal} from '../exchange/refusal.ts';
import {connectionRefusal, receiveBody} from '../exchange/request-body.ts';
import {respondJson} from '../exchange/respond.ts';
import {ownerOf} from '../state/keys.ts';
import {mediaRecord, type StoredRecord} from '../state/stored-record.ts';
import {authorize} from './authorize.ts';
import type {Service} from './context.ts';

/** How a file becomes a record. */
interface Commitment {
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Whether the thumbnail of a picture may be made when somebody asks for it. */
  readonly canWait?: boolean;
  /** Names the record, once everything about it is known. */
  identify(): Promise<string>;
  /** Throws, immediately before the commit, if nothing is to be stored. */
  lastCheck(): void;
}

/** POST /v1/media/upload (docs/design/interface.md): stores the body and responds with 200 and its media record. */
export async function receiveUpload(exchange: Exchange, service: Service): Promise<void> {
  const request = await readHead(exchange.request.headers, service);
  const storing = () => receiveAndStore(exchange, service, request);
  // Requests with one Idempotency-Key wait for each other, so that the second finds the record of the first.
  const {entryName} = request;
  const record = await (entryName === undefined
    ? storing()
    : service.entries.runExclusive(entryName, storing));
  await exchange.disturbance?.at('store');
  respondJson(exchange, 200, mediaRecord(record, service.publicUrl()));
}

/** Checks the head of an upload before its body is received: key, type, length, idempotency key, and free space. */
async function readHead(headers: IncomingHttpHeaders, service: Service) {
  const key = await authorize(headers, ['upload'], service);
  const contentType = readContentType(headers['content-type']);
  const size = parseContentLength(headers['content-length']);
  if (size > service.maxSize)
    throw new Refusal(
      413,
      `The file has ${size} bytes, but this service accepts at most ${service.maxSize}.`,
    );
  const entryName = service.idempotency
    ? service.entries.entryNameOf(ownerOf(key), headers['idempotency-key'])
    : undefined;
  if (!(await service.store.hasSpaceFor(size)))
    throw new Refusal(507, 'The data directory does not have enough space for this file.');
  return {contentType, size, entryName, throwIfReset: await service.resets.begin()};
}

/** The media type of the body in lower case, with known parameters; throws a 415 unless it is image/* or video/*. */
export function readContentType(field: string | undefined): string {
  const mediaType = parseMediaType((field ?? '').trimEnd());
  // The names of RFC 6838, 4.2, which exclude a literal `image/*`.
  if (mediaType === undefined || !/^(?:image|video)\/[a-z0-9][a-z0-9!#$&^_.+-]*$/.test(mediaType.type))
    throw new Refusal(
      415,
      'Content-Type must be an image/* or video/* type, and the body the bytes of the file.',
    );
  const {type, parameters} = mediaType;
  // Other parameters do not describe an image or a video.
  const isKnown = ([name]: [string, string]) => /^(?:charset|codecs|profiles)$/.test(name);
  return mediaTypeText({type, parameters: parameters.filter(isKnown)});
}

/** The length of the body in bytes; throws a 411 without one and a 400 for none or one beyond 2^53. */
export function parseContentLength(field: string | undefined): number {
  if (field === undefined) throw new Refusal(411, 'Content-Length is required.');
  const length = Number(field);
  if (!Number.isSafeInteger(length) || length < 0)
    throw new Refusal(400, 'Content-Length is not a length in bytes.');
  if (length === 0) throw new Refusal(400, 'The body is empty.');
  return length;
}

/** Receives the body and commits it, or finds the record of an earlier request with the same entry. */
async function receiveAndStore(
  exchange: Exchange,
  service: Service,
  {contentType, size, entryName, throwIfReset}: Awaited<ReturnType<typeof readHead>>,
): Promise<StoredRecord> {
  const {quota} = service.store;
  const path = service.store.temporaryPath();
  // The response to a repeated request may have been lost: what it stored takes no more space.
  const mayBeStored = quota.isLimited && entryName !== undefined;
  if (!mayBeStored || (await service.entries.recordOf(entryName)) === undefined) quota.reserve(path, size);
  // Started now, so that it is ready when the body has arrived.
  prepareToProbe(contentType);
  try {
    const received = await writeUpload(
      path,
      contentType,
      file => receiveBody(exchange, file),
      length => exchange.disturbance?.pace(length),
    );
    await exchange.disturbance?.at('body');
    // The parser takes bytes after the declared length for another request, and reports an error within one turn.
    await exchange.clock.sleep(0);
    throwFailure(exchange);
    const fingerprint = `${received.sha256} ${contentType}`;
    if (entryName !== undefined) {
      const earlier = await service.entries.recordOf(entryName, fingerprint);
      if (earlier !== undefined) return earlier;
    }
    return await commitUpload(received, service, {
      createdAt: exchange.clock.now(),
      // A repeated request gets the ID of the first one, so that both store the same record.
      async identify() {
        const id = service.store.newId();
        return entryName === undefined ? id : service.entries.reserveId(entryName, id, fingerprint);
      },
      // The client may have gone, and the service may have been reset, while facts and previews were made.
      lastCheck() {
        throwFailure(exchange);
        throwIfReset();
      },
    });
  } finally {
    quota.set(path, 0);
    await rm(path, {force: true});
  }
}

/** Commits a file that has arrived, with what can be read and made from it; resolves to its record. */
export async function commitUpload(
  received: Awaited<ReturnType<typeof writeUpload>>,
  {store, resets, previews: hasPreviews}: Pick<Service, 'store' | 'resets' | 'previews'>,
  {createdAt, canWait = false, identify, lastCheck}: Commitment,
): Promise<StoredRecord> {
  const {path, contentType, size, sha256} = received;
  let previews: Previews = {};
  try {
    const probing = probeMedia(received);
    const isThumbnailLater = hasPreviews && canWait && canHaveThumbnail(received, await probing);
    if (hasPreviews && !isThumbnailLater)
      previews = await makePreviews(received, probing, {
        newPath: () => store.temporaryPath(),
        // A stream is about as large as its video, and must leave space for other uploads.
        hasSpace: () => store.hasSpaceFor(4 * size),
      });
    const facts = await probing;
    const record: StoredRecord = {
      version: 1,
      id: await identify(),
      type: contentType.startsWith('image/') ? 'IMAGE' : 'VIDEO',
      contentType,
      size,
      sha256,
      createdAt: new Date(createdAt).toISOString(),
      ...facts,
      ...(isThumbnailLater || previews.thumbnail !== undefined ? {thumbnail: true} : {}),
      ...(previews.stream === undefined ? {} : {stream: true}),
    };
    await resets.commit(() => store.commit(record, {file: path, ...previews}, lastCheck));
    return record;
  } finally {
    // What was stored has other names by now.
    for (const path of Object.values(previews)) await rm(path, {recursive: true, force: true});
  }
}

/** Writes what `fill` writes to a new file, and syncs it; the caller removes the file, also after a rejection. */
export async function writeUpload(
  path: string,
  contentType: string,
  fill: (file: Writable) => Promise<void>,
  pace: (length: number) => Promise<void> | undefined = () => undefined,
) {
  const handle = await open(path, 'wx', 0o600);
  try {
    const hash = createHash('sha256');
    let size = 0;
    const file = new Writable({
      highWaterMark: 1024 * 1024,
      write: (chunk: Buffer, _encoding, done) => {
        hash.update(chunk);
        size += chunk.length;
        handle
          .writeFile(chunk)
          .then(() => pace(chunk.length))
          .then(() => done(), done);
      },
    });
    await fill(file);
    await handle.sync();
    return {path, contentType, size, sha256: hash.digest('hex')};
  } finally {
    await handle.close();
  }
}

/** Throws if the connection has failed or was closed, so that nothing is stored for it. */
function throwFailure(exchange: Exchange): void {
  // Nothing is stored for a client that is known to have disconnected.
  if (exchange.connection.failed.aborted || exchange.request.socket.destroyed)
    throw connectionRefusal(exchange);
}
