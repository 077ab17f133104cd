import {createServer as createHttpServer, request} from 'node:http';
import {createServer as createHttpsServer} from 'node:https';
import {connect} from 'node:net';
import {listen, portOf, urlOf} from './loopback.ts';
import {makeCertificate} from './tls.ts';

/** A service under real-looking https names, reached through a proxy, for examples that must run as printed. */
export interface ExampleService {
  /** The value of HTTPS_PROXY: a proxy that leads every host name to the service. */
  proxyUrl: string;
  /** The certificate to trust, PEM. */
  certificate: string;
}

/** Puts a TLS server for these host names, and a proxy for them, in front of a service on loopback. */
export async function exampleService(origin: URL, hostNames: readonly string[]): Promise<ExampleService> {
  const {certificate, key} = await makeCertificate(hostNames.map(value => ({type: 2, value})));
  const front = createHttpsServer({key, cert: certificate}, (incoming, outgoing) => {
    const headers = {...incoming.headers, host: origin.host};
    const forward = request(
      new URL(incoming.url ?? '/', origin),
      {method: incoming.method ?? 'GET', headers},
      answer => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    forward.on('error', () => outgoing.destroy());
    // If the client aborts a request, as media doctor does when it checks the upload path, it is aborted at the service
    // too.
    incoming.on('close', () => {
      if (!incoming.complete) forward.destroy();
    });
    incoming.pipe(forward);
  });
  await listen(front);
  const proxy = createHttpServer();
  proxy.on('connect', (_incoming, client) => {
    const upstream = connect(portOf(front), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(upstream).pipe(client);
    });
    client.on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
  });
  await listen(proxy);
  return {proxyUrl: urlOf(proxy), certificate};
}
