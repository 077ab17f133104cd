import {randomUUID} from 'node:crypto';
import {writeFile} from 'node:fs/promises';
import {createServer} from 'node:https';
import {join} from 'node:path';
import type {TlsOptions} from 'node:tls';
import {generate} from 'selfsigned';
import {listen, portOf} from '../service/support.ts';
import {afterTest} from './after-test.ts';
import {temporaryDirectory} from './media.ts';
import {someRecord} from './scripted-server.ts';

/** The subject of a certificate: a host name or an IP address. */
export type Name = {type: 2; value: string} | {type: 7; ip: string};

/** The names under which a server on 127.0.0.1 can be reached. */
export const loopbackNames: Name[] = [
  {type: 2, value: 'localhost'},
  {type: 7, ip: '127.0.0.1'},
];

/** A self-signed certificate and its key, as PEM text. */
export async function makeCertificate(
  names: Name[],
  lifetime: {notBeforeDate?: Date; notAfterDate?: Date} = {},
): Promise<{certificate: string; key: string}> {
  const {cert, private: key} = await generate([{name: 'commonName', value: `media test ${randomUUID()}`}], {
    keyType: 'ec',
    algorithm: 'sha256',
    ...lifetime,
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
  /** The PEM text of its certificate, and a file that contains it. */
  pem: string;
  certificate: string;
}

/** A service over TLS that accepts every upload, with a new certificate for these names. */
export async function tlsService(
  names: Name[] = loopbackNames,
  {notBeforeDate, notAfterDate, ...options}: TlsOptions & {notBeforeDate?: Date; notAfterDate?: Date} = {},
): Promise<TlsService> {
  const {certificate, key} = await makeCertificate(names, {
    ...(notBeforeDate === undefined ? {} : {notBeforeDate}),
    ...(notAfterDate === undefined ? {} : {notAfterDate}),
  });
  const uploads: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const server = createServer({...options, key, cert: certificate}, (request, response) => {
    uploads.push(`${request.method} ${request.url}`);
    authorizations.push(request.headers.authorization);
    request.resume().on('end', () => response.end(someRecord));
  });
  await listen(server);
  afterTest(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    port: portOf(server),
    uploads,
    authorizations,
    pem: certificate,
    certificate: await pemFile(certificate),
  };
}
