import {writeFile} from 'node:fs/promises';
import {createServer} from 'node:https';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {listen, portOf} from '../../../support/loopback.ts';
import {fixture, type Sandbox, sandbox} from '../../../support/media.ts';
import {makeCertificate} from '../../../support/tls.ts';
import {secret} from '../paste.ts';

const photo = fixture('photo.png');

describe('a base URL that may contain a password: never shown', () => {
  it.each([
    `https://me:${secret}@media.example`,
    `https:me:${secret}@media.example`,
    `https://me:x/${secret}@media.example`,
    `https://media.example/?token=${secret}`,
    `me:${secret}@media.example`,
  ])('%s', async url => {
    const box = await sandbox({MEDIA_BASE_URL: url});
    const outputs = await Promise.all(
      [
        ['login'],
        ['login', '--key', 'key'],
        ['login', url],
        ['upload', '.', '--dry-run', '--no-once'],
        ['config', 'list'],
        ['config', 'list', '--json', '--base-url', url],
      ].map(words => box.run(words)),
    );
    const text = outputs.map(({stdout, stderr}) => `${stdout}${stderr}`).join('');
    expect(text).not.toContain(secret);
    expect(text).toContain('media login --key-stdin --base-url URL\n');
    expect(text).toContain('media upload --base-url URL -r .\n');
    expect(text).toContain('base-url=******** (from MEDIA_BASE_URL)\n');
  });
});

describe('a certificate that is not accepted', () => {
  async function secureService(names: {type: 2; value: string}[], box: Sandbox): Promise<string> {
    const {key, certificate: cert} = await makeCertificate(names);
    const server = createServer({key, cert}, (_request, response) => response.end());
    await listen(server);
    box.env['NODE_EXTRA_CA_CERTS'] = join(box.directory, 'authority.pem');
    await writeFile(box.env['NODE_EXTRA_CA_CERTS'], cert);
    return `https://localhost:${portOf(server)}`;
  }

  it('since it is for another name: that name, and no --cacert', async () => {
    const box = await sandbox({MEDIA_API_KEY: secret});
    const url = await secureService([{type: 2, value: 'other.example'}], box);
    const {stderr, exitCode} = await box.run(['upload', photo, '--base-url', url, '--retries', '0']);
    expect(stderr).toContain('was not accepted: it is for other.example.\n');
    expect(stderr).toContain('Use a name in the base URL that the certificate is for.\n');
    expect(stderr).not.toContain('--cacert');
    expect(exitCode).toBe(1);
  });
});
