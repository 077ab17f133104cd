import {expect, test} from 'vitest';
import {exifOf, exifSegment, iptcOf, noted, packetOf, resourceOf, secret} from './handmade.ts';
import {jpegWith, position, stripped, type Tag, tiffOf} from './tagged.ts';

const described: Tag = [0x10e, 2, Buffer.from('a description\0')];
const gps: Tag = [0x8825, 4, [-2]];

/** A TIFF file whose first directory has one more tag. */
const tiffWith = (tag: Tag) => tiffOf(true, [[described, tag]]);

test.each([0x14a, 0x190, 0x8769, 0xa005])('a position in a directory that the tag %i leads to', async tag => {
  const clean = (await stripped(tiffOf(true, [[described, [tag, 4, [-1]]], [gps], position]))) as Buffer;
  expect([clean.includes(secret), clean.includes('a description')]).toEqual([false, true]);
});

test('a position in the second directory, as that of a thumbnail', async () => {
  const tagged = tiffOf(true, [[described], [gps], position]);
  // The second directory begins behind the one entry of the first, and the offset of the next one.
  tagged.writeUInt32LE(26, 22);
  const clean = (await stripped(await jpegWith([1, exifSegment(tagged)]))) as Buffer;
  expect([clean.includes(secret), clean.includes('a description')]).toEqual([false, true]);
});

test.each<[string, number, Buffer]>([
  ['XMP', 0x2bc, Buffer.from(packetOf(`p:City="${secret}"`))],
  ['IPTC', 0x83bb, iptcOf([90, secret])],
  ['image resources', 0x8649, resourceOf(0x404, iptcOf([90, secret]))],
])('a place in the %s of a TIFF file: blanked, and nothing else', async (_what, tag, value) => {
  const blanked = value
    .toString('latin1')
    .replace(/p:City=".*?"|SECRET-PLACE/, found => ' '.repeat(found.length));
  expect(await stripped(tiffWith([tag, 7, value]))).toEqual(
    tiffWith([tag, 7, Buffer.from(blanked, 'latin1')]),
  );
});

/** A directory whose tags lead to a preview. */
function withPreview(picture: Buffer): Buffer {
  const tiff = tiffOf(true, [
    [
      [0x201, 4, [0]],
      [0x202, 4, [picture.length]],
    ],
  ]);
  tiff.writeUInt32LE(tiff.length, 18);
  return Buffer.concat([tiff, picture]);
}

test.each([
  ['maker notes in private data', tiffWith([0xc634, 7, Buffer.from('Adobe\0MakN of the raw file')])],
  ['private data', tiffWith([0xc634, 7, Buffer.from('GPSLatitude 48')])],
  ['several GPS directories', tiffOf(true, [[[0x8825, 4, [-1, -2]]], position, position])],
  ['a preview', withPreview(await jpegWith([1, exifSegment(exifOf())]))],
  [
    'the data after the picture',
    Buffer.concat([tiffWith([0x10f, 2, Buffer.from('SAMSUNG\0')]), Buffer.from('SEFT')]),
  ],
  [
    'a raw picture that is not a DNG',
    tiffOf(true, [
      [
        [0x106, 3, [32803]],
        [0x14a, 4, [-1]],
      ],
      [[0x106, 3, [2]]],
    ]),
  ],
] as const)('refused: %s', async (place, tiff) => {
  expect(await stripped(tiff)).toBe(place);
});

const city = Buffer.from('BER\0');

test.each<[make: string, header: string, tag: number]>([
  ['Panasonic', 'Panasonic\0\0\0', 0x67],
  ['Panasonic', 'Panasonic\0\0\0', 0x80],
  ['LEICA', 'LEICA\0\0\0', 0x6d],
  ['', 'Panasonic\0\0\0', 0x6d],
  ['NIKON', 'Nikon\0\x02\x10\0\0', 0xc3],
  ['samsung', '', 0x30],
  ['samsung', '', 0x31],
])('maker notes of "%s" behind %j, tag %i: zeroed, and no other', async (make, header, tag) => {
  const note = (value: Buffer) =>
    noted(make, header, [
      [1, 2, Buffer.from('ABC\0')],
      [tag, 2, value],
    ]);
  expect(await stripped(await note(city))).toEqual(await note(Buffer.alloc(4)));
});

test('maker notes of Nikon in another byte order than the file', async () => {
  const note = (value: Buffer) => noted('NIKON', 'Nikon\0\x02\x10\0\0', [[0x39, 2, value]], false);
  expect(await stripped(await note(Buffer.from(`${secret}\0`)))).toEqual(await note(Buffer.alloc(13)));
});

test.each([
  ['that name a position', 'Canon', '', [[1, 2, Buffer.from('GPSLatitude=48\0')]]],
  ['with a place that is not in them', 'Panasonic', 'Panasonic\0\0\0', [[0x6d, 2, Buffer.from(secret)]]],
] as const)('refused: maker notes %s', async (_what, make, header, tags) => {
  expect(await stripped(await noted(make, header, tags))).toBe('maker notes');
});
