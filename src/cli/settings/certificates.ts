import {createPrivateKey, type KeyObject, X509Certificate} from 'node:crypto';
import {MediaError, throwAs} from '../../errors.ts';
import type {Host} from '../../host.ts';
import {readText} from '../../lib/files/read-text.ts';
import {resolveUserPath} from '../../lib/files/typed-path.ts';
import {shellWord} from '../../lib/shell.ts';

/** The client certificate of this machine, as PEM text. */
interface ClientCertificate {
  /** The certificate, followed by the intermediate ones up to its authority. */
  certificate: string;
  /** Its private key, not encrypted. */
  key: string;
}

/** Reads a PEM file of certificate authorities; a usage error if it has none, or a damaged one. */
export async function readAuthorities(host: Host, path: string): Promise<string> {
  return parseCertificates(await readPem(host, path), path).text;
}

/** Reads a client certificate and its key, from the same file unless given; `usage` if they do not belong together. */
export async function readClientCertificate(
  host: Host,
  certificatePath: string,
  separateKey?: ReturnType<typeof parsePrivateKey>,
): Promise<ClientCertificate> {
  const text = await readPem(host, certificatePath);
  const certificates = parseCertificates(text, certificatePath);
  const {path, key} = separateKey ?? parsePrivateKey(host, text, certificatePath);
  if (!certificates.first.checkPrivateKey(key)) {
    const sentence = `The key in ${path} does not belong to the first certificate in ${certificatePath}.`;
    throw new MediaError('usage', sentence, {
      hint: 'Use a key and its own certificate, which must come before those of its authorities.',
    });
  }
  return {certificate: certificates.text, key: key.export({type: 'pkcs8', format: 'pem'}) as string};
}

/** Reads the private key in a PEM file; rejects with `usage` if it cannot be read. */
export async function readPrivateKey(host: Host, path: string): Promise<ReturnType<typeof parsePrivateKey>> {
  return parsePrivateKey(host, await readPem(host, path), path);
}

/** Checks that a PEM file contains a private key; without its passphrase, an encrypted one is only looked for. */
export async function checkPrivateKey(host: Host, path: string): Promise<void> {
  const text = await readPem(host, path);
  if (host.env['MEDIA_CLIENT_KEY_PASSPHRASE'] || !/ENCRYPTED/.test(text)) parsePrivateKey(host, text, path);
}

function readPem(host: Host, path: string): Promise<string> {
  return readText(resolveUserPath(host.cwd(), path), host.files).catch(
    throwAs('usage', `The PEM file ${path} could not be read`),
  );
}

/** All certificates of a file, each on a new line; Node's TLS would ignore one that it cannot read. */
function parseCertificates(text: string, path: string): {text: string; first: X509Certificate} {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g);
  if (blocks === null) {
    const command = conversionOf(text, shellWord(path), shellWord(`${path}.pem`));
    const sentence = text === '' ? 'is empty' : 'contains no certificate in PEM format';
    throw new MediaError('usage', `${path} ${sentence}.`, {
      hint: command ? `Convert it with: ${command}` : 'Use a file that contains the certificate as PEM text.',
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

/** The command that converts a certificate to PEM; undefined if the file's text is of no form that it knows. */
function conversionOf(text: string, from: string, to: string): string | undefined {
  if (text.includes('\0-\0-')) return `iconv -f UTF-16 -t UTF-8 ${from} > ${to}`;
  if (text.includes('BEGIN TRUSTED CERTIFICATE')) return `openssl x509 -in ${from} -out ${to}`;
  if (text.includes('BEGIN PKCS7')) return `openssl pkcs7 -print_certs -in ${from} -out ${to}`;
  // The end of the object identifier of signed data, and the version of PKCS #12.
  if (text.includes('\r\u0001\u0007\u0002'))
    return `openssl pkcs7 -inform der -print_certs -in ${from} -out ${to}`;
  if (text.slice(0, 8).includes('\u0002\u0001\u0003')) return `openssl pkcs12 -in ${from} -out ${to}`;
  return text.startsWith('0') ? `openssl x509 -inform der -in ${from} -out ${to}` : undefined;
}

/** The private key in a PEM text, decrypted with MEDIA_CLIENT_KEY_PASSPHRASE; a usage error without a readable key. */
function parsePrivateKey(host: Host, text: string, path: string): {path: string; key: KeyObject} {
  const [block] = /-----BEGIN ([A-Z ]*)PRIVATE KEY-----.*?-----END \1PRIVATE KEY-----/s.exec(text) ?? [];
  if (block === undefined)
    throw new MediaError('usage', `${path} contains no private key in PEM format.`, {
      hint: 'Set MEDIA_CLIENT_KEY, or the setting client-key, to the file that contains it.',
    });
  try {
    const passphrase = host.env['MEDIA_CLIENT_KEY_PASSPHRASE'] ?? '';
    return {path, key: createPrivateKey({key: `${block}\n`, passphrase})};
  } catch (cause) {
    throw new MediaError('usage', `The private key in ${path} could not be read.`, {
      hint: 'If it is encrypted, set MEDIA_CLIENT_KEY_PASSPHRASE to its passphrase. To check it: openssl pkey -noout -in FILE',
      cause,
    });
  }
}
