import {createPrivateKey, type KeyObject, X509Certificate} from 'node:crypto';
import {failed, MediaError} from '../errors.ts';
import type {Host} from '../host.ts';
import {readText} from '../lib/files/read-text.ts';
import {typedPath} from '../lib/files/typed-path.ts';

/** The client certificate of this machine, as PEM text. */
export interface ClientCertificate {
  /** The certificate, followed by the intermediate ones up to its authority. */
  certificate: string;
  /** Its private key, not encrypted. */
  key: string;
}

/** Reads a PEM file of certificate authorities and returns its text; a usage error if it contains none, or a damaged one. */
export async function readAuthorities(host: Host, path: string): Promise<string> {
  return parseCertificates(await readPem(host, path), path).text;
}

/** Reads a client certificate and its key; rejects with `usage` if they cannot be read or do not belong together. */
export async function readClientCertificate(
  host: Host,
  certificatePath: string,
  keyPath = certificatePath,
): Promise<ClientCertificate> {
  const text = await readPem(host, certificatePath);
  const certificates = parseCertificates(text, certificatePath);
  const key = parseKey(host, keyPath === certificatePath ? text : await readPem(host, keyPath), keyPath);
  if (!certificates.first.checkPrivateKey(key)) {
    throw new MediaError(
      'usage',
      `The key in ${keyPath} does not belong to the first certificate in ${certificatePath}.`,
      {
        hint: 'Use a key and its own certificate, which must come before those of its authorities.',
      },
    );
  }
  return {certificate: certificates.text, key: key.export({type: 'pkcs8', format: 'pem'}) as string};
}

/** Checks that a PEM file contains a private key; without its passphrase, an encrypted one is only looked for. */
export async function checkPrivateKey(host: Host, path: string): Promise<void> {
  const text = await readPem(host, path);
  if (host.env['MEDIA_CLIENT_KEY_PASSPHRASE'] || !/ENCRYPTED/.test(text)) parseKey(host, text, path);
}

function readPem(host: Host, path: string): Promise<string> {
  return readText(typedPath(host.cwd(), path)).catch(
    failed('usage', `The certificate file ${path} could not be read`),
  );
}

/** All certificates of a file, each on a new line; Node's TLS would ignore one that it cannot read. */
function parseCertificates(text: string, path: string): {text: string; first: X509Certificate} {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g);
  if (blocks === null) {
    throw new MediaError('usage', `${path} contains no certificate in PEM format.`, {
      hint: 'Convert it with: openssl x509 -inform der -in FILE -out FILE.pem',
    });
  }
  try {
    const [first] = blocks.map(block => new X509Certificate(block));
    return {text: blocks.map(block => `${block}\n`).join(''), first: first as X509Certificate};
  } catch (cause) {
    const hint = 'Copy the complete file again, as text.';
    throw new MediaError('usage', `${path} contains a damaged certificate.`, {hint, cause});
  }
}

function parseKey(host: Host, text: string, path: string): KeyObject {
  const [block] = /-----BEGIN ([A-Z ]*)PRIVATE KEY-----.*?-----END \1PRIVATE KEY-----/s.exec(text) ?? [];
  if (block === undefined) {
    throw new MediaError('usage', `${path} contains no private key in PEM format.`, {
      hint: 'Set MEDIA_CLIENT_KEY, or the setting client-key, to the file that contains it.',
    });
  }
  try {
    return createPrivateKey({key: `${block}\n`, passphrase: host.env['MEDIA_CLIENT_KEY_PASSPHRASE'] ?? ''});
  } catch (cause) {
    throw new MediaError('usage', `The private key in ${path} could not be read.`, {
      hint: 'If it is encrypted, set MEDIA_CLIENT_KEY_PASSPHRASE to its passphrase. To check it: openssl pkey -noout -in FILE',
      cause,
    });
  }
}
