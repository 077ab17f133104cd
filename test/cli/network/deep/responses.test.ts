import {join} from 'node:path';
import {brotliCompressSync, deflateRawSync, deflateSync, gzipSync} from 'node:zlib';
import {expect, test} from 'vitest';
import {failedUpload, sandboxFor} from '../../../engine/service/program.ts';
import {fixture} from '../../../support/media.ts';
import {scriptedServer, someRecord} from '../../../support/scripted-server.ts';

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

test('a record of which no field has its documented type: kept, printed and skipped as the service sent it', async () => {
  const odd =
    '{"id":12345678901234567890,"type":1,"urls":"none","width":"640","height":[],"imageType":{},"fileUrl":17,"duration":"1:30","thumbnailUrl":false,"hlsUrl":0,"size":"13 KB"}';
  const {url} = await answering(200, odd);
  const box = await sandboxFor(url);
  const upload = (...options: string[]) => box.run(['upload', photo, '--journal', 'a.journal', ...options]);
  // Each line is compared with its schema, too.
  const first = await upload('--ndjson');
  expect(first).toMatchObject({exitCode: 0, stdout: expect.stringContaining(`"record":${odd}`)});
  expect(await upload('--json')).toMatchObject({exitCode: 0, stdout: `${odd}\n`});
  expect(await box.run(['journal', 'list', 'a.journal', '--json'])).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining(`"record":${odd}`),
  });
  expect(await upload('--template', '{id} {type} {width} {height} {url}\\n')).toMatchObject({
    stdout: '12345678901234567890 1 640 [] \n',
  });
  expect(await upload('--format', 'url')).toMatchObject({exitCode: 1, stdout: '\n'});
  const table = await upload();
  for (const text of ['12345678901234567890', 'none', '1:30', 'false', '13 KB'])
    expect(table.stdout).toContain(text);
  expect(await box.run(['journal', 'check', 'a.journal', '--', photo])).toMatchObject({exitCode: 0});
});

const allCompared = ['size', 'type', 'width', 'height'];
const truthful = {...JSON.parse(someRecord), type: 'IMAGE', size: 13_582, width: 640, height: 400};

test.each([
  ['what is true of the file', {}, undefined],
  ['another size', {size: 17}, 'size 17 instead of 13582'],
  ['another type', {type: 'VIDEO'}, 'type VIDEO instead of IMAGE'],
  [
    'another width and height',
    {width: 641, height: 17},
    'width 641 instead of 640, height 17 instead of 400',
  ],
  ['width and height exchanged, as of a picture that is turned', {width: 400, height: 640}, undefined],
  ['the height for its width', {width: 400}, 'width 400 instead of 640'],
  ['the width for its height', {height: 640}, 'height 640 instead of 400'],
  ['values that nobody can compare', {size: '17', type: 'STICKER', width: null, height: {}}, undefined],
])(
  '--verify, a record with %s: strict is a status of its own, stored and never sent again; warn is a warning',
  async (_, facts, difference) => {
    let uploads = 0;
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      uploads += 1;
      connection.answer(200, JSON.stringify({...truthful, ...facts}));
    });
    const box = await sandboxFor(url);
    const journal = ['--journal', join(box.directory, 'journal'), '--ndjson'];
    const strict = await box.run(['upload', photo, '--verify', 'strict', ...journal]);
    const again = await box.run(['upload', photo, '--verify', 'strict', ...journal]);
    const lines = [strict, again].map(({stdout}) => JSON.parse(stdout));
    const isSame = difference === undefined;
    expect(lines[0].verified).toEqual('size' in facts && typeof facts.size === 'string' ? [] : allCompared);
    expect(lines.map(({status}) => status)).toEqual(
      isSame ? ['uploaded', 'skipped'] : ['mismatched', 'mismatched'],
    );
    expect([strict.exitCode, again.exitCode]).toEqual(isSame ? [0, 0] : [1, 1]);
    expect(lines[0].record.id).toBe(truthful.id);
    const message = `${photo} is stored, but its record differs from the file: ${difference}.`;
    const hint = `Its media ID is ${truthful.id}.`;
    expect(lines[0].error).toEqual(isSame ? undefined : {code: 'record_mismatch', message, hint});
    const {stderr} = await box.run(['upload', photo, '--verify', 'strict', ...journal.slice(0, 2), '--json']);
    expect(stderr.includes(hint)).toBe(!isSame);
    const warned = await box.run(['upload', photo, '--verify', 'warn', '--ndjson']);
    expect(JSON.parse(warned.stdout)).toMatchObject({status: 'uploaded'});
    expect(JSON.parse(warned.stdout).warning).toBe(isSame ? undefined : message);
    expect(warned.exitCode).toBe(0);
    expect(uploads).toBe(2);
  },
);

test('--verify: pictures and videos of every format that is known well are compared, and no others', async () => {
  const {url} = await answering(200, JSON.stringify({...truthful, width: 7, height: 9}));
  const box = await sandboxFor(url);
  const names = ['bmp', 'gif', 'webp', 'tiff', 'heic', 'avif', 'svg'].map(extension => `photo.${extension}`);
  const files = [
    ...names,
    'clip.mp4',
    'clip.mov',
    'clip.mkv',
    'clip.webm',
    'clip.3gp',
    'favicon.ico',
    'clip.avi',
  ];
  const {stdout} = await box.run(['upload', ...files.map(fixture), '--verify', 'warn', '--ndjson']);
  const printed = stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
  // The lines come as the files end.
  const lines = files.map(file => printed.find(line => line.file === fixture(file)));
  const sizes = lines.map(({warning}) => /width 7 instead of (\d+), height 9 instead of (\d+)/.exec(warning));
  expect(sizes.map(found => found?.slice(1).join('x'))).toEqual([
    ...['80x50', '320x200', '640x400', '160x100', '320x200', '320x200', '640x400'],
    ...['320x180', '320x180', '320x180', '320x180', undefined, undefined, undefined],
  ]);
  expect(lines.map(({verified}) => verified.join())).toEqual(
    sizes.map(found => (found ? allCompared : ['size', 'type']).join()),
  );
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
  expect(await box.run(['upload', photo, '--template', '{id}\\n'])).toMatchObject({
    stderr: shown,
    exitCode: 0,
  });
  const {stdout} = await box.run(['upload', photo, '--ndjson', '--journal', 'j']);
  expect(JSON.parse(stdout).warning).toBe(warning);
  // It was told when it was sent.
  const again = await box.run(['upload', photo, '--ndjson', '--journal', 'j']);
  expect(again.stderr).toBe('');
  expect(JSON.parse(again.stdout)).toMatchObject({status: 'skipped', record: {id: 'm_1'}});
  expect(JSON.parse(again.stdout).warning).toBeUndefined();
});
