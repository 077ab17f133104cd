import {readFile} from 'node:fs/promises';
import {expect, test} from 'vitest';
import {planGeotags} from '../../../../src/media/location/location.ts';
import {fixture} from '../../../support/media.ts';
import {
  box,
  exifOf,
  exifSegment,
  extended,
  packetOf,
  samsungTrailer,
  secret,
  videoWith,
  videoWithPlace,
  xmpHeader,
} from '../handmade.ts';
import {jpegWith, position, stripped, type Tag, tiffOf} from '../tagged.ts';

const described: Tag = [0x10e, 2, Buffer.from('a description\0')];

/** A TIFF structure in which the last four bytes of the tag with this number are another value. */
function withValue(tiff: Buffer, tag: number, value: number): Buffer {
  const changed = Buffer.from(tiff);
  for (let at = 10; at + 12 < tiff.length; at += 12) {
    if (changed.readUInt16LE(at) === tag) {
      changed.writeUInt32LE(value, at + 8);
      return changed;
    }
  }
  throw new Error(`no tag ${tag}`);
}

const overlapping = 'metadata that overlaps other data';
const wrong = 'a file that is cut off, or whose lengths are wrong';
const nested: Tag[][] = [[[0x8769, 4, [-1]]], [[0x14a, 4, [-1]]]];

test.each([
  ['directories in a circle', tiffOf(true, nested), 'directories of tags that go in circles'],
  ['a GPS directory that is the first directory', withValue(exifOf(), 0x8825, 8), overlapping],
  ['a GPS directory in the description', withValue(exifOf(), 0x10e, 60), overlapping],
  ['a description beyond the end', withValue(exifOf(), 0x10e, 0xffff_fff0), 'a tag whose value is missing'],
  [
    'a description over the end',
    withValue(exifOf(), 0x10e, exifOf().length - 1),
    'a tag whose value is missing',
  ],
  ['a GPS directory beyond the end', withValue(exifOf(), 0x8825, 0x7fff_ffff), wrong],
  ['a tag of an unknown type', tiffOf(true, [[[0x10e, 14, [1]]]]), 'a tag of an unknown type'],
  ['GeoTIFF', tiffOf(true, [[[0x830e, 4, [1]]]]), 'GeoTIFF tags'],
  ['a raw picture', tiffOf(true, [[[0x106, 3, [32803]]]]), 'a raw picture that is not a DNG'],
] as const)('refused: %s', async (_what, tiff, place) => {
  expect(await stripped(tiff)).toBe(place);
});

test.each([
  ['an entity', packetOf('', '<p:City>&x;</p:City>').replace('<x:', '<!DOCTYPE r [<!ENTITY x "y">]><x:')],
  ['an element that does not end', packetOf('', '<p:City>').replace('</rdf:Description>', '')],
  ['a property in a comment', packetOf('', '<!-- <p:City>x</p:City> -->')],
  ['a property in CDATA', packetOf('', '<p:x><![CDATA[<p:City>x</p:City>]]></p:x>')],
])('refused: XMP with %s', async (_what, packet) => {
  expect(await stripped(await jpegWith([1, `${xmpHeader}${packet}`]))).toBe('XMP metadata');
});

test('200,000 directories that are none: nothing to take out', async () => {
  const tiff = tiffOf(true, [[described, [0x14a, 4, Array<number>(200_000).fill(0)]]]);
  expect(tiff.equals((await stripped(tiff)) as Buffer)).toBe(true);
});

test('200,000 places in one element of XMP: all of them are taken out', async () => {
  const packet = packetOf(` exif:GPSLatitude="${secret}"`.repeat(200_000), '');
  const clean = (await stripped(tiffOf(true, [[[0x2bc, 1, Buffer.from(packet)]]]))) as Buffer;
  expect(clean).toBeInstanceOf(Buffer);
  expect(clean.includes(secret)).toBe(false);
});

test('two GPS pointers to one directory, and two segments with Exif metadata', async () => {
  const shared = tiffOf(true, [
    [described, [0x8769, 4, [-2]], [0x8825, 4, [-1]]],
    position,
    [[0x8825, 4, [-1]]],
  ]);
  const tagged = await jpegWith([1, exifSegment(shared)], [1, exifSegment(exifOf(false))]);
  const clean = (await stripped(tagged)) as Buffer;
  expect(clean.includes(secret)).toBe(false);
  expect(clean.toString('latin1').split('a description')).toHaveLength(3);
});

test('refused: extended XMP of which pieces come twice, before and after a scan', async () => {
  const picture = await extended();
  const pieces = picture.subarray(
    picture.indexOf('http://ns.adobe.com/xmp/ext') - 4,
    picture.indexOf('JFIF') - 4,
  );
  const twice = Buffer.concat([picture.subarray(0, -2), pieces, picture.subarray(-2)]);
  expect(await stripped(twice)).toBe('extended XMP with missing pieces');
});

test('refused: a BigTIFF', async () => {
  const bytes = Buffer.concat([Buffer.from('II+\0\x08\0\0\0\x10', 'latin1'), Buffer.alloc(120)]);
  expect(await stripped(bytes)).toBe('a BigTIFF');
});

test('a WebP picture: of another length refused, else the EXIF chunk is blanked', async () => {
  const picture = await readFile(fixture('photo.webp'));
  const chunk = Buffer.concat([Buffer.from('EXIF\0\0\0\0'), exifOf()]);
  chunk.writeUInt32LE(exifOf().length, 4);
  const tagged = Buffer.concat([picture, chunk]);
  expect(await stripped(tagged)).toBe('a WebP picture whose length is wrong');
  tagged.writeUInt32LE(tagged.length - 8, 4);
  expect(((await stripped(tagged)) as Buffer).includes(secret)).toBe(false);
  const frame = Buffer.concat([picture, Buffer.from('ANMF\0\0\0\0'), Buffer.alloc(16), chunk]);
  frame.writeUInt32LE(16 + chunk.length, picture.length + 4);
  frame.writeUInt32LE(frame.length - 8, 4);
  expect(((await stripped(frame)) as Buffer).includes(secret)).toBe(false);
});

test.each(['gps ', 'Xtra', 'GPMF'])('refused: a video with a box "%s"', async kind => {
  const video = await videoWithPlace();
  video.write(kind, video.indexOf('\xa9xyz', 'latin1'), 'latin1');
  expect(await stripped(video)).toBe(`a box "${kind}"`);
});

test('WebP: metadata behind a chunk of an odd length, with and without the head of Exif, and XMP', async () => {
  const picture = await readFile(fixture('photo.webp'));
  const chunk = (kind: string, data: Buffer) => {
    const whole = Buffer.concat([Buffer.from(`${kind}\0\0\0\0`), data, Buffer.alloc(data.length & 1)]);
    whole.writeUInt32LE(data.length, 4);
    return whole;
  };
  for (const [kind, data] of [
    ['EXIF', exifOf()],
    ['EXIF', exifSegment(exifOf())],
    ['XMP ', Buffer.from(packetOf(`p:City="${secret}"`))],
  ] as const) {
    const tagged = Buffer.concat([picture, chunk('ICCP', Buffer.alloc(3)), chunk(kind, data)]);
    tagged.writeUInt32LE(tagged.length - 8, 4);
    const clean = (await stripped(tagged)) as Buffer;
    expect([clean.length, clean.includes(secret)]).toEqual([tagged.length, false]);
  }
});

test('behind a picture: much filling, and a picture among the blocks of Samsung; refused: other blocks', async () => {
  const [plain, tagged] = [await readFile(fixture('photo.jpg')), await jpegWith([1, exifSegment(exifOf())])];
  for (const behind of [
    Buffer.concat([Buffer.alloc(200_000), tagged]),
    Buffer.concat([Buffer.alloc(200_000), await videoWithPlace()]),
    samsungTrailer(tagged),
  ]) {
    const clean = (await stripped(Buffer.concat([plain, behind]))) as Buffer;
    expect([clean.length, clean.includes(secret)]).toEqual([plain.length + behind.length, false]);
    expect(clean.includes('+48.1372')).toBe(false);
  }
  const apart = samsungTrailer(plain);
  // The first of the two blocks ends a byte early.
  const start = apart.length - 44 + 12;
  apart.writeUInt32LE(apart.readUInt32LE(start + 8) - 1, start + 8);
  for (const behind of [samsungTrailer(plain, '1700000000000 GPSLatitude: 48'), apart])
    expect(await stripped(Buffer.concat([plain, behind]))).toBe('the data after the picture');
});

test('refused at once: very many pictures behind a picture, and very many scans in one', async () => {
  const picture = await readFile(fixture('photo.jpg'));
  const pictures = Buffer.alloc(4 * 100_000, Buffer.from([0xff, 0xd8, 0xff, 0xd9]));
  expect(await stripped(Buffer.concat([picture, pictures]))).toBe('very many pictures');
  const scans = Buffer.alloc(4 * 100_000, Buffer.from([0xff, 0xda, 0, 2]));
  expect(await stripped(Buffer.concat([picture.subarray(0, -2), scans, picture.subarray(-2)]))).toBe(
    'a JPEG whose segments are wrong',
  );
});

test('JPEG: a scan whose end is split, and which restarts; Exif behind a scan; two XMP packets', async () => {
  const packet = [1, `${xmpHeader}${packetOf(`p:City="${secret}"`)}`] as const;
  const picture = await jpegWith(packet, [1, exifSegment(exifOf())], packet);
  const scan = picture.indexOf(Buffer.from([0xff, 0xda]));
  const entropy = scan + 2 + picture.readUInt16BE(scan + 2);
  const head = picture.subarray(0, entropy);
  const exif = picture.subarray(picture.indexOf('Exif') - 4, picture.indexOf('Exif') + 6 + exifOf().length);
  const restarts = Buffer.from([0xff, 0xd0, 0xff, 0xd7, 0xff, 0]);
  // The scan is read in pieces of 64 KiB, with the head of the file and after it.
  for (const length of [1, 5].flatMap(pieces => [8, 7, 6].map(less => pieces * 2 ** 16 - less))) {
    const tagged = Buffer.concat([head, restarts, Buffer.alloc(length), exif, Buffer.from([0xff, 0xd9])]);
    const clean = (await stripped(tagged)) as Buffer;
    expect([clean.length, clean.includes(secret)]).toEqual([tagged.length, false]);
  }
});

test('extended XMP: its MD5 is right, there and where the standard XMP refers to it', async () => {
  const city = `p:City="${secret}"`;
  expect(await stripped(await extended(city))).toEqual(await extended(' '.repeat(city.length)));
});

test('refused: a file that became shorter since it was opened', async () => {
  const bytes = await jpegWith([6, Buffer.alloc(60_000)], [1, exifSegment(exifOf())]);
  const read = async (at: number, size: number) => bytes.subarray(at, Math.min(at + size, 50_000));
  await expect(planGeotags({size: 500_000, read})).rejects.toMatchObject({
    place: 'a file that became shorter',
  });
});

test('refused: data after a picture, a format without a walker, a box that is longer than its file', async () => {
  const picture = await readFile(fixture('photo.jpg'));
  expect(await stripped(Buffer.concat([picture, Buffer.from('more')]))).toBe('the data after the picture');
  expect(await stripped(picture.subarray(0, -2))).toBe('a JPEG that is cut off');
  expect(await stripped(await readFile(fixture('clip.mkv')))).toBe('a file of type video/x-matroska');
  expect(await stripped((await readFile(fixture('clip.mp4'))).subarray(0, -20))).toBe(wrong);
});

test('refused: a list of keys of which one reaches to the end, and hides the names of the others', async () => {
  const zeros = Buffer.alloc(4);
  const keys = ['location.ISO6709', 'location.name'].map(name =>
    box('mdta', Buffer.from(`com.apple.quicktime.${name}`)),
  );
  const data = box('data', Buffer.from([0, 0, 0, 1]), zeros, Buffer.from(secret));
  const video = await videoWith(
    box(
      'meta',
      box('hdlr', Buffer.alloc(8), Buffer.from('mdta'), Buffer.alloc(12)),
      box('keys', zeros, Buffer.from([0, 0, 0, 2]), ...keys),
      box('ilst', box('\0\0\0\x01', data), box('\0\0\0\x02', data)),
    ),
  );
  expect(((await stripped(video)) as Buffer).includes(secret)).toBe(false);
  video.writeUInt32BE(0, video.indexOf('mdtacom') - 4);
  expect(await stripped(video)).toBe('a list of keys that is wrong');
});

test('refused: a box of very many boxes', async () => {
  const boxes = (count: number) => Buffer.alloc(8 * count, Buffer.from('\0\0\0\x08free', 'latin1'));
  expect(await stripped(await videoWith(box('udta', boxes(10_001))))).toBe('very many boxes');
  expect(typeof (await stripped(await videoWith(box('udta', boxes(10_000)))))).toBe('object');
});

test.each(['udta', 'meta', 'mpvd', 'ANMF', 'SEFT'])(
  'refused: "%s" in itself, again and again',
  async kind => {
    const nested = 'data that is nested very deeply';
    if (kind === 'SEFT') {
      const picture = await readFile(fixture('photo.jpg'));
      let deep: Buffer = picture;
      for (let level = 0; level < 34; level += 1) deep = Buffer.concat([picture, samsungTrailer(deep)]);
      return expect(await stripped(deep)).toBe(nested);
    }
    const count = 8_000;
    const step = kind === 'ANMF' ? 24 : kind === 'meta' ? 12 : 8;
    const levels = Buffer.alloc(step * count);
    for (let at = 0; at < levels.length; at += step) {
      levels.write(kind, kind === 'ANMF' ? at : at + 4);
      if (kind === 'ANMF') levels.writeUInt32LE(levels.length - at - 8, at + 4);
      else levels.writeUInt32BE(levels.length - at, at);
    }
    if (kind !== 'ANMF')
      return expect(
        await stripped(
          kind === 'mpvd'
            ? Buffer.concat([await readFile(fixture('clip.mp4')), levels])
            : await videoWith(levels),
        ),
      ).toBe(nested);
    const picture = Buffer.concat([await readFile(fixture('photo.webp')), levels]);
    picture.writeUInt32LE(picture.length - 8, 4);
    expect(await stripped(picture)).toBe(nested);
  },
);

test('a picture whose metadata is far from its start and from each other', async () => {
  const empty = [6, Buffer.alloc(65_000)] as const;
  const far = [empty, empty, empty, empty, empty] as const;
  const segments = [
    ...far,
    [1, exifSegment(exifOf())],
    ...far,
    [1, xmpHeader + packetOf('e:City="x"')],
  ] as const;
  const tagged = await jpegWith(...segments);
  const clean = (await stripped(tagged)) as Buffer;
  expect(clean.includes(secret) || clean.includes('City')).toBe(false);
  expect(clean).toHaveLength(tagged.length);
  expect(clean.includes('a description')).toBe(true);
});

test.each(['photo.bmp', 'photo.png', 'clip.mov'])('%s has no location', async name => {
  const bytes = await readFile(fixture(name));
  expect(
    await planGeotags({size: bytes.length, read: async (at, size) => bytes.subarray(at, at + size)}),
  ).toEqual({
    geotags: 'none',
  });
});

test('a video of 1 GiB with its movie at the end: read once', async () => {
  const video = await videoWithPlace();
  const movie = video.indexOf('moov') - 4;
  const start = Buffer.from('\0\0\0\x10ftypisom\0\0\0\0\0\0\0\x01mdat\0\0\0\0\0\0\0\0', 'latin1');
  const length = 2 ** 30;
  start.writeBigUInt64BE(BigInt(length), 24);
  const end = Buffer.concat([video.subarray(movie), Buffer.from('\0\0\0\0free')]);
  let read = 0;
  const plan = await planGeotags({
    size: 16 + length + end.length,
    read: async (at, size) => {
      read += size;
      const bytes = Buffer.alloc(size);
      if (at < start.length) start.copy(bytes, 0, at);
      if (at + size > 16 + length)
        end.copy(bytes, Math.max(0, 16 + length - at), Math.max(0, at - 16 - length));
      return bytes;
    },
  });
  expect(plan.geotags).toBe('present');
  expect(read).toBeLessThan(length + 5 * 2 ** 20);
});
