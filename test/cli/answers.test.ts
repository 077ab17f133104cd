import {brotliCompressSync, deflateRawSync, deflateSync, gzipSync} from 'node:zlib';
import {expect, test} from 'vitest';
import {failedUpload, sandboxFor} from '../service/program.ts';
import {fixture} from '../support/media.ts';
import {scriptedServer, someRecord} from '../support/scripted-server.ts';

const photo = fixture('photo.png');

/** A service that answers everything with this. */
function answering(status: number, body: string | Buffer, headers: Record<string, string> = {}) {
  return scriptedServer(async connection => {
    await connection.request();
    connection.answer(status, body, headers);
  });
}

const codings: [string, string, (text: string) => Buffer][] = [
  ['gzip', 'gzip', gzipSync],
  ['x-gzip, in capitals', 'X-GZIP', gzipSync],
  ['deflate', 'deflate', deflateSync],
  ['deflate without its head', 'deflate', deflateRawSync],
  ['br', 'br', brotliCompressSync],
  ['gzip within br', 'gzip, br', text => brotliCompressSync(gzipSync(text))],
  ['identity', 'identity', Buffer.from],
  ['gzip, as it says, and is not', 'gzip', Buffer.from],
];

test.each(codings)('a record in %s: read', async (_, coding, encode) => {
  const {url} = await answering(200, encode(someRecord), {'content-encoding': coding});
  const {stdout, exitCode} = await (await sandboxFor(url)).run(['upload', photo, '--json']);
  expect({stdout, exitCode}).toEqual({stdout: `${someRecord}\n`, exitCode: 0});
});

test.each(codings)('an error record in %s: its words are shown', async (_, coding, encode) => {
  const refusal = encode('{"code":7,"message":"No space left for you"}');
  const {error} = await failedUpload(() => answering(400, refusal, {'content-encoding': coding}), photo);
  expect(error).toMatchObject({
    code: 'rejected',
    serviceCode: 7,
    message: expect.stringContaining('No space left for you'),
  });
});

test.each<[string, string, Buffer]>([
  ['64 MiB of zeros in 64 KiB of gzip', 'gzip', gzipSync(Buffer.alloc(2 ** 26))],
  ['half of a gzip', 'gzip', gzipSync(someRecord.padEnd(5_000)).subarray(0, 40)],
  ['a coding that nobody knows', 'zstd', Buffer.from('(\xb5/\xfd', 'latin1')],
])('a 200 with %s: unknown', async (_, coding, body) => {
  const {exitCode, error} = await failedUpload(
    () => answering(200, body, {'content-encoding': coding}),
    photo,
  );
  expect({exitCode, code: error.code}).toEqual({exitCode: 5, code: 'outcome_unknown'});
});

test.each([
  [
    'another size',
    17,
    'The service stored 17 bytes of the 13582 that were sent; a proxy may have changed them.',
  ],
  ['the size of the file', 13_582, undefined],
  ['a text for a size', '"17"', undefined],
])('a record with %s', async (_, size, warning) => {
  const {url} = await answering(200, someRecord.replace(/}$/, `,"size":${size}}`));
  const box = await sandboxFor(url);
  const shown = warning === undefined ? '' : `warning: ${photo}: ${warning}\n`;
  expect(await box.run(['upload', photo, '--format', 'id'])).toMatchObject({stderr: shown, exitCode: 0});
  const {stdout} = await box.run(['upload', photo, '--ndjson']);
  expect(JSON.parse(stdout).warning).toBe(warning);
});
