import {createHash} from 'node:crypto';
import {mkdtemp, readdir, readFile, rm} from 'node:fs/promises';
import {connect, type Socket} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {crc32, deflateSync} from 'node:zlib';
import {onTestFinished} from 'vitest';
import {
  type EmbeddedService,
  type ServiceOptions,
  startEmbeddedService,
} from '../support/embedded-service.ts';

/** A directory that is removed when the test ends. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'media-embedded-'));
  onTestFinished(() => rm(directory, {recursive: true, force: true}));
  return directory;
}

/** A service that is closed when the test ends; its data in a directory of its own unless one is given. */
export async function startedService(options: Partial<ServiceOptions> = {}): Promise<EmbeddedService> {
  const dataDirectory = options.dataDirectory ?? (await temporaryDirectory());
  const service = await startEmbeddedService({...options, dataDirectory});
  onTestFinished(() => service.close());
  return service;
}

/** A started service, its data directory, and a key that may do everything. */
export async function serviceWithKey(options: Partial<ServiceOptions> = {}) {
  const dataDirectory = options.dataDirectory ?? (await temporaryDirectory());
  const service = await startedService({...options, dataDirectory});
  return {service, dataDirectory, key: await service.createKey()};
}

/** POST /v1/media/upload with fetch, which sends Content-Length for a whole body. */
export function upload(
  service: Pick<EmbeddedService, 'url'>,
  key: string,
  body: Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${service.url}/v1/media/upload`, {
    method: 'POST',
    headers: {Authorization: `Bearer ${key}`, 'Content-Type': 'image/png', ...headers},
    body,
  });
}

/** A GraphQL request over POST. */
export async function query<Data = unknown>(
  service: Pick<EmbeddedService, 'url'>,
  key: string,
  text: string,
  variables: Record<string, unknown> = {},
) {
  const response = await fetch(`${service.url}/graphql`, {
    method: 'POST',
    headers: {Authorization: `Bearer ${key}`, 'Content-Type': 'application/json'},
    body: JSON.stringify({query: text, variables}),
  });
  return (await response.json()) as {data?: Data; errors?: {message: string}[]};
}

/** A valid grey PNG. */
export function png(width: number, height: number): Buffer<ArrayBuffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.writeUInt8(8, 8);
  const rows = deflateSync(Buffer.alloc((width + 1) * height, 0));
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', rows),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A bare connection to a service: what is written is what the service reads. */
export interface RawConnection {
  readonly socket: Socket;
  /** Everything received so far, as Latin-1. */
  text(): string;
  /** Resolves with everything received once the service has ended its side. */
  ended(): Promise<string>;
}

export async function rawConnection(service: Pick<EmbeddedService, 'url'>): Promise<RawConnection> {
  const {hostname, port} = new URL(service.url);
  const socket = connect({host: hostname, port: Number(port), allowHalfOpen: true});
  onTestFinished(() => {
    socket.destroy();
  });
  let text = '';
  socket.on('data', data => {
    text += data.toString('latin1');
  });
  const ended = new Promise<string>((resolve, reject) => {
    socket.once('end', () => resolve(text));
    socket.once('error', reject);
  });
  ended.catch(() => {});
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return {socket, text: () => text, ended: () => ended};
}

/** The head of an upload request, for raw connections. */
export function uploadHead(
  service: Pick<EmbeddedService, 'url'>,
  key: string,
  fields: Record<string, string | number>,
): string {
  const all = {
    Host: new URL(service.url).host,
    Authorization: `Bearer ${key}`,
    'Content-Type': 'image/png',
    ...fields,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /v1/media/upload HTTP/1.1\r\n${lines.join('')}\r\n`;
}

export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** The first answer in what a raw connection received; undefined while it is not complete. */
export function parseAnswer(text: string): RawAnswer | undefined {
  const split = text.indexOf('\r\n\r\n');
  if (split === -1) return undefined;
  const [statusLine = '', ...lines] = text.slice(0, split).split('\r\n');
  const headers = Object.fromEntries(
    lines.map(line => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const body = text.slice(split + 4, split + 4 + Number(headers['content-length'] ?? 0));
  if (body.length < Number(headers['content-length'] ?? 0)) return undefined;
  return {status: Number(statusLine.split(' ')[1]), headers, body};
}

/** The names in a folder of a data directory. */
export async function namesIn(dataDirectory: string, folder: string): Promise<string[]> {
  return (await readdir(join(dataDirectory, folder))).sort();
}

/** The bytes of a file of test/fixtures. */
export async function fixture(name: string): Promise<Buffer<ArrayBuffer>> {
  return Buffer.from(await readFile(new URL(`../fixtures/${name}`, import.meta.url)));
}
