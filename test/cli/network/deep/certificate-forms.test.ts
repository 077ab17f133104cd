import {copyFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, test} from 'vitest';
import {sandboxFor} from '../../../engine/service/program.ts';
import {needPrograms} from '../../../support/installed.ts';
import {fixture} from '../../../support/media.ts';
import {tlsService} from '../../../support/tls.ts';

const photo = fixture('photo.png');

describe('--cacert with a certificate in another form', () => {
  test.for<[string, string]>([
    ['DER', 'openssl x509 -in ca.pem -outform der -out other'],
    ['PKCS #7', 'openssl crl2pkcs7 -nocrl -certfile ca.pem -out other'],
    ['PKCS #7 in DER', 'openssl crl2pkcs7 -nocrl -certfile ca.pem -outform der -out other'],
    ['PKCS #12', 'openssl pkcs12 -export -nokeys -in ca.pem -passout pass: -out other'],
    ['a trusted certificate', 'openssl x509 -in ca.pem -trustout -out other'],
    ['UTF-16', 'iconv -f UTF-8 -t UTF-16 ca.pem > other'],
  ])('%s: the hint has the command that makes a usable file of it', async ([_, make], context) => {
    needPrograms(context, ['openssl']);
    const {port, certificate} = await tlsService();
    const machine = await sandboxFor(`https://127.0.0.1:${port}`);
    const cwd = machine.directory;
    await copyFile(certificate, join(cwd, 'ca.pem'));
    await execa('sh', ['-c', make], {cwd});
    const refused = await machine.run(['upload', photo, '--cacert', 'other']);
    expect(refused).toMatchObject({stdout: '', exitCode: 2});
    const command = /Convert it with: (.*)\n$/.exec(refused.stderr)?.[1] ?? 'false';
    await execa('sh', ['-c', command.replace('pkcs12 ', 'pkcs12 -passin pass: ')], {cwd});
    expect(await machine.run(['upload', photo, '--cacert', 'other.pem'])).toMatchObject({
      stderr: '',
      exitCode: 0,
    });
  });
});
