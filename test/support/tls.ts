import {randomUUID} from 'node:crypto';
import {writeFile} from 'node:fs/promises';
import type {IncomingHttpHeaders} from 'node:http';
import {createServer} from 'node:https';
import {createServer as createTcpServer, type Server, type Socket} from 'node:net';
import {join} from 'node:path';
import {Duplex} from 'node:stream';
import type {TlsOptions} from 'node:tls';
import {generate} from 'selfsigned';
import {listen, portOf} from './loopback.ts';
import {temporaryDirectory} from './media.ts';
import {someRecord} from './scripted-server.ts';

/** The subject of a certificate: a host name or an IP address. */
export type Name = {type: 2; value: string} | {type: 7; ip: string};

/** The names under which a server on 127.0.0.1 can be reached. */
export const loopbackNames: Name[] = [
  {type: 2, value: 'localhost'},
  {type: 7, ip: '127.0.0.1'},
];

interface CertificateOptions {
  notBeforeDate?: Date;
  notAfterDate?: Date;
  /** What signs it, in place of itself. */
  ca?: {cert: string; key: string};
}

/** A certificate that signs itself unless another does, and its key, as PEM text. */
export async function makeCertificate(
  names: Name[],
  options: CertificateOptions = {},
): Promise<{certificate: string; key: string}> {
  const {cert, private: key} = await generate([{name: 'commonName', value: `media test ${randomUUID()}`}], {
    keyType: 'ec',
    algorithm: 'sha256',
    ...options,
    extensions: [
      {name: 'basicConstraints', cA: true},
      {name: 'subjectAltName', altNames: names},
    ],
  });
  return {certificate: cert, key};
}

/** Writes PEM text to a new file for the current test. */
export async function pemFile(...texts: string[]): Promise<string> {
  const file = join(await temporaryDirectory(), 'file.pem');
  await writeFile(file, texts.join(''));
  return file;
}

/** A service over TLS for the current test. */
export interface TlsService {
  port: number;
  /** Method and path of each request that it received. */
  uploads: string[];
  /** The Authorization field of each request. */
  authorizations: (string | undefined)[];
  /** The header fields of each request. */
  fields: IncomingHttpHeaders[];
  /** The PEM text of its certificate, and a file that contains it. */
  pem: string;
  certificate: string;
}

/**
 * The same connection, of which the end is never a reset: a server that refuses a client closes it while the client still
 * sends, and the system of the client might then drop the alert that says why before it is read.
 */
function withoutReset(socket: Socket): Duplex {
  const gentle = new Duplex({
    read: () => socket.resume(),
    write: (chunk, _encoding, done) => void socket.write(chunk, () => done()),
    final: done => void socket.end(done),
    destroy: (error, done) => {
      socket.end().resume();
      done(error);
    },
  });
  socket
    .on('error', () => {})
    .on('data', bytes => gentle.destroyed || gentle.push(bytes))
    .on('end', () => gentle.destroyed || gentle.push(null));
  return gentle;
}

/** A server in front of this one that resets no connection. */
function resettingNone(server: Server): Server {
  return createTcpServer(socket => void server.emit('connection', withoutReset(socket)));
}

/** A service over TLS that accepts every upload, with a new certificate for these names. */
export async function tlsService(
  names: Name[] = loopbackNames,
  {
    notBeforeDate,
    notAfterDate,
    issuer,
    resets = true,
    ...options
  }: TlsOptions & Omit<CertificateOptions, 'ca'> & {issuer?: CertificateOptions['ca']; resets?: boolean} = {},
): Promise<TlsService> {
  const {certificate, key} = await makeCertificate(names, {
    ...(notBeforeDate === undefined ? {} : {notBeforeDate}),
    ...(notAfterDate === undefined ? {} : {notAfterDate}),
    ...(issuer === undefined ? {} : {ca: issuer}),
  });
  const uploads: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const fields: IncomingHttpHeaders[] = [];
  const server = createServer({...options, key, cert: certificate}, (request, response) => {
    uploads.push(`${request.method} ${request.url}`);
    authorizations.push(request.headers.authorization);
    fields.push(request.headers);
    request.resume().on('end', () => response.end(someRecord));
  });
  const front = resets ? server : resettingNone(server);
  await listen(front);
  return {
    port: portOf(front),
    uploads,
    authorizations,
    fields,
    pem: certificate,
    certificate: await pemFile(certificate),
  };
}
