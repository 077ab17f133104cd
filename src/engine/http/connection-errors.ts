import {brokenRequestError, certificateCodes, MediaError, quoted, tooManyOpen} from '../../errors.ts';
import {type Hint, hint, option, phrase, setting, variable} from '../../hint.ts';
import {isOutOfDescriptors, systemCode} from '../../lib/system-code.ts';
import {wordsOf} from '../../lib/words.ts';

/** Whether an error is a TLS alert that asks for a client certificate or rejects ours. */
export function isCertificateAlert(error: unknown): boolean {
  const alerts = /^ERR_SSL_.*ALERT_(.*CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE)/;
  return alerts.test(systemCode(error) ?? '');
}

/** The reason in an OpenSSL error: `unknown ca` in `...:error:0A000418:SSL routines:...:tlsv1 alert unknown ca:...`. */
function handshakeProblem(text: string): string {
  // Since OpenSSL 3.5, some begin with `ssl/tls alert`.
  const problem = /:error:[^:]*:[^:]*:[^:]*:(?:(?:ssl|tls)[v/]\w+ )?(?:alert )?([^:]+)/.exec(text)?.[1];
  return problem ?? reason(text);
}

/** The failure to report if several addresses failed: of one that responded rather than of one out of reach. */
function tellingError(error: unknown): unknown {
  if (!(error instanceof AggregateError)) return error;
  const outOfReach = /^(ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL|EAFNOSUPPORT)$/;
  return error.errors.find(one => !outOfReach.test(systemCode(one) ?? '')) ?? error.errors.at(-1);
}

/** The MediaError for a failure to connect, when nothing was sent; `proxyVariable` names the peer if it is a proxy. */
export function describeConnectError(
  failure: unknown,
  url: URL,
  proxyVariable?: string,
  hasOwnAuthorities = false,
): MediaError {
  if (failure instanceof MediaError) return failure;
  const error = tellingError(failure);
  const code = systemCode(error) ?? '';
  const host = proxyVariable === undefined ? url.host : `the proxy ${url.host}`;
  const place = proxyVariable ?? setting('baseUrl');
  const text = error instanceof Error ? error.message : String(error);
  const failed = (code: MediaError['code'], message: string, hint: Hint) =>
    new MediaError(code, message, {hint, cause: error});
  const spelling = hint`Check the spelling of ${place}.`;
  if (code === 'ENOTFOUND')
    return failed('host_not_found', `There is no host called ${url.hostname}.`, spelling);
  if (isOutOfDescriptors(error))
    return tooManyOpen(`No connection to ${host}`, error, hint`, or lower ${option('concurrency')}`);
  if (code.startsWith('EAI_'))
    return failed('dns_unavailable', `The name ${url.hostname} could not be looked up.`, checkNetwork);
  const refused = `Nothing is listening at ${host}: the connection was refused.`;
  if (code === 'ECONNREFUSED') return failed('connection_refused', refused, checkPort);
  if (code === 'ETIMEDOUT')
    return failed('connect_timeout', `Connecting to ${host} took too long.`, checkFirewall);
  const problem = handshakeProblem(text);
  const alert = `The TLS connection was refused by ${host}: ${problem}.`;
  if (isCertificateAlert(error)) return failed('tls_failed', alert, clientCertificateHint);
  if (/^(ERR_SSL|EPROTO)/.test(code)) {
    const [what, remedy] = describeHandshake(problem, proxyVariable);
    return failed('tls_failed', `${peerAt(url.host, proxyVariable)} ${what}.`, remedy);
  }
  if (certificateCodes.test(code)) {
    const message = `The TLS certificate of ${host} was not accepted: ${certificateProblem(error, text)}.`;
    return failed('tls_failed', message, certificateHint(code, proxyVariable, hasOwnAuthorities));
  }
  const broken = brokenRequestError(error, host);
  if (broken.code === 'local_failure') return broken;
  const why = code.startsWith('HPE_') ? 'it did not respond in HTTP' : reason(text);
  return failed('connect_failed', `No connection to ${host}: ${why}.`, checkNetwork);
}

export const clientCertificateHint = hint`If it requires a client certificate, set ${variable('clientCert')} to its file, or the setting ${setting('clientCert')}.`;

const checkPort = 'Check the host and the port, and that the service is running.';
const checkFirewall = 'Check the network connection and any firewall in between.';
const checkNetwork = 'Check the network connection, then try again.';

/** What a connection fails with that was closed, by default by the other side before anything was sent. */
export function closedError(how = 'it was closed immediately'): Error {
  return Object.assign(new Error(how), {code: 'ECONNRESET'});
}

/** The error for what a service or a proxy has sent before it was asked for anything. */
export function describeUnasked(bytes: Buffer, {host}: URL, proxyVariable?: string): MediaError {
  const text = bytes.toString('latin1', 0, 200);
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1]) || undefined;
  const peer = peerAt(host, proxyVariable);
  const sentence = phrase`${peer} sent data before it received a request${quoted(wordsOf(bytes))}`;
  const advice = hint`Check the host and the port in ${proxyVariable ?? setting('baseUrl')}.`;
  const code = proxyVariable === undefined ? 'not_http' : 'proxy_failed';
  return new MediaError(code, sentence, {status, hint: advice});
}

function peerAt(host: string, proxyVariable: string | undefined): string {
  return proxyVariable === undefined ? host : `The proxy ${host}`;
}

/** What a failed TLS handshake means if it is not about a certificate, and what to do. */
function describeHandshake(problem: string, proxyVariable?: string): [what: string, hint: Hint] {
  const place = proxyVariable ?? setting('baseUrl');
  const plainHttp =
    proxyVariable === undefined
      ? hint`Check the port; plain http needs http:// and ${option('allowHttp')}.`
      : `Write the proxy as: ${proxyVariable}=http://HOST:PORT`;
  if (/wrong version number|packet length too long|record layer/i.test(problem))
    return ['does not speak TLS on this port', plainHttp];
  if (problem === 'unrecognized name')
    return ['does not serve this host name over TLS', hint`Check the host name in ${place}.`];
  if (/protocol version|unsupported protocol/.test(problem))
    return ['offers neither TLS 1.2 nor TLS 1.3', 'Ask its operator to enable one of them.'];
  const onlyHttp2 = 'does not speak HTTP/1.1 on this port, perhaps only HTTP/2';
  if (problem === 'no application protocol') return [onlyHttp2, 'Ask its operator to enable HTTP/1.1.'];
  return [`ended the TLS handshake: ${problem}`, hint`Check the host and the port in ${place}.`];
}

/** What to do about a rejected certificate. Naming an authority helps only if the authority is unknown. */
function certificateHint(code: string, proxyVariable: string | undefined, hasOwnAuthorities: boolean): Hint {
  const url = proxyVariable ?? setting('baseUrl');
  const owner = proxyVariable === undefined ? 'the service' : 'the proxy';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return hint`Use a name in ${url} that the certificate is for.`;
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return `Check the clock of this machine; if it is right, ${owner} needs a new certificate.`;
  if (code === 'CERT_REVOKED') return `Ask the operator of ${owner}: it needs a new certificate.`;
  // This one also comes of a service that sends only its own certificate.
  const ofOperator = `ask the operator of ${owner} to send its intermediate certificates, too.`;
  const isAlone = code === 'UNABLE_TO_VERIFY_LEAF_SIGNATURE';
  return hasOwnAuthorities
    ? `The file of certificate authorities does not contain the one that signed it: ${isAlone ? `add that one, or ${ofOperator}` : 'check that file, or leave it out.'}`
    : hint`If ${owner} uses a certificate authority of your own, name its certificate with ${option('certificateAuthorities')}.${isAlone ? ` If not, ${ofOperator}` : ''}`;
}

/** Why a certificate was not accepted, for the end of a sentence; `text`: the error's message. */
function certificateProblem(error: unknown, text: string): string {
  // Newer versions of Node add advice about Node's own options.
  if (systemCode(error) !== 'ERR_TLS_CERT_ALTNAME_INVALID')
    return reason(text.replace(/; .*Node\.js with --.*/s, ''));
  const {cert} = error as {cert?: {subjectaltname?: string}};
  const names = cert?.subjectaltname?.replace(/\b(DNS|IP Address):/g, '');
  return names ? `it is for ${names}` : 'it is for another name';
}

function reason(text: string): string {
  return text.split('\n', 1)[0]?.replace(/[.\s]+$/, '') || 'unknown reason';
}
