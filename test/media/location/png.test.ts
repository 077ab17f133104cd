import {readFile} from 'node:fs/promises';
import {crc32, deflateSync} from 'node:zlib';
import {expect, test} from 'vitest';
import {fixture} from '../../support/media.ts';
import {exifOf, exifSegment, iptcOf, packetOf, resourceOf, secret, videoWithPlace} from './handmade.ts';
import {stripped} from './tagged.ts';

type Chunk = readonly [kind: string, data: Buffer];

/** A picture with these chunks in front of its data. */
async function pngWith(...chunks: readonly Chunk[]): Promise<Buffer> {
  const picture = await readFile(fixture('photo.png'));
  const written = chunks.map(([kind, data]) => {
    const chunk = Buffer.concat([Buffer.alloc(4), Buffer.from(kind), data, Buffer.alloc(4)]);
    chunk.writeUInt32BE(data.length);
    chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4);
    return chunk;
  });
  // Behind the signature and the header.
  return Buffer.concat([picture.subarray(0, 33), ...written, picture.subarray(33)]);
}

/** The chunks of a picture up to its end, all of whose checksums must be right. */
function chunksOf(picture: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = 8; chunks.at(-1)?.[0] !== 'IEND'; ) {
    const end = at + 8 + picture.readUInt32BE(at);
    const kind = picture.toString('latin1', at + 4, at + 8);
    expect([kind, picture.readUInt32BE(end)]).toEqual([kind, crc32(picture.subarray(at + 4, end))]);
    chunks.push([kind, picture.subarray(at + 8, end)]);
    at = end + 4;
  }
  return chunks;
}

const packet = packetOf(`p:City="${secret}" dc:format="image/png"`);
const xmp = (isCompressed: boolean, text: string): Chunk => {
  const data = isCompressed ? deflateSync(text) : Buffer.from(text);
  return [
    'iTXt',
    Buffer.concat([Buffer.from(`XML:com.adobe.xmp\0${isCompressed ? '\x01' : '\0'}\0\0\0`), data]),
  ];
};
const compressed = (keyword: string, text: string): Chunk => [
  'zTXt',
  Buffer.concat([Buffer.from(`${keyword}\0\0`), deflateSync(text)]),
];
/** A profile in the hexadecimal digits of ImageMagick. */
const profile = (type: string, bytes: Buffer) =>
  `\n${type}\n${String(bytes.length).padStart(8)}\n${bytes.toString('hex').replace(/.{72}/g, '$&\n')}\n`;
const plain = (keyword: string, text: string): Chunk => ['tEXt', Buffer.from(`${keyword}\0${text}`)];

test.each([
  ['eXIf', ['eXIf', exifOf()], 'a description'],
  ['XMP', xmp(false, packet), 'image/png'],
  ['a text with the name of a place', plain('Location', secret), ''],
  ['an animation', ['acTL', Buffer.from([0, 0, 0, 1, 0, 0, 0, 0])], ''],
] as const)('a PNG picture with %s: blanked, and all checksums are right', async (_what, chunk, kept) => {
  const tagged = await pngWith(chunk, ['eXIf', exifOf(false)]);
  const clean = (await stripped(tagged)) as Buffer;
  expect(clean).toHaveLength(tagged.length);
  expect(clean.includes(secret)).toBe(false);
  expect(chunksOf(clean)[1]?.[1].includes(kept)).toBe(true);
});

const resources = resourceOf(0x404, iptcOf([90, secret]));

test.each<[text: string, place: string, chunk: Chunk]>([
  ['compressed XMP', 'the compressed text "XML:com.adobe.xmp"', xmp(true, packet)],
  ['a compressed text', 'the compressed text "Location"', compressed('Location', secret)],
  ...['exif', 'APP1'].map((type): [string, string, Chunk] => [
    `a profile "${type}"`,
    `the text "Raw profile type ${type}"`,
    plain(`Raw profile type ${type}`, profile(type, exifSegment(exifOf()))),
  ]),
  [
    'a profile "iptc"',
    'the text "Raw profile type iptc"',
    compressed('Raw profile type iptc', profile('iptc', resources)),
  ],
  [
    'a profile "8bim"',
    'the text "Raw profile type 8bim"',
    plain('Raw profile type 8bim', profile('8bim', resources)),
  ],
  [
    'a profile "xmp"',
    'the text "Raw profile type xmp"',
    plain('Raw profile type xmp', profile('xmp', Buffer.from(packet))),
  ],
  [
    'an unknown profile',
    'the text "Raw profile type x"',
    plain('Raw profile type x', profile('x', Buffer.from('x'))),
  ],
  ['what is not compressed', 'a compressed text', ['zTXt', Buffer.from('Location\0\0text')]],
  ['an unknown chunk', 'a chunk "gpSx"', ['gpSx', Buffer.from(secret)]],
])('refused: a PNG picture with %s', async (_what, place, chunk) => {
  expect(await stripped(await pngWith(chunk))).toBe(place);
});

test('compressed texts and profiles without a place: sent as they are', async () => {
  const picture = await pngWith(
    xmp(true, packetOf('dc:format="image/png"')),
    compressed('Comment', secret),
    plain('Raw profile type iptc', profile('iptc', resourceOf(0x404, iptcOf([120, 'a caption'])))),
    plain('Raw profile type icc', profile('icc', Buffer.from('a profile'))),
  );
  expect(await stripped(picture)).toEqual(picture);
});

test('behind a PNG picture: a video is blanked, anything else is refused', async () => {
  const picture = await pngWith();
  const clean = (await stripped(Buffer.concat([picture, await videoWithPlace()]))) as Buffer;
  expect(clean.subarray(0, picture.length)).toEqual(picture);
  expect(clean.includes('+48.1372')).toBe(false);
  expect(await stripped(Buffer.concat([picture, Buffer.from(secret)]))).toBe('the data after the picture');
});
