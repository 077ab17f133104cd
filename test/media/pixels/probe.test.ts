import {join} from 'node:path';
import {Logging, LogLevel} from 'mediabunny';
import {expect, test} from 'vitest';
import {probe} from '../../../src/media/pixels/probe.ts';
import {fixture, png, temporaryDirectory} from '../../embedded/support.ts';
import {probed} from './probed.ts';

for (const [name, contentType, width, height, imageType] of [
  ['photo.png', 'image/png', 640, 400, 'png'],
  ['photo.jpg', 'image/jpeg', 640, 400, 'jpg'],
  ['photo.gif', 'image/gif', 320, 200, 'gif'],
  ['photo.webp', 'image/webp', 640, 400, 'webp'],
  ['photo.bmp', 'image/bmp', 80, 50, 'bmp'],
  ['photo.tiff', 'image/tiff', 160, 100, 'tiff'],
  ['photo.svg', 'image/svg+xml', 640, 400, 'svg'],
  ['photo.heic', 'image/heic', 320, 200, 'heic'],
  ['photo.avif', 'image/avif', 320, 200, 'avif'],
  ['favicon.ico', 'image/x-icon', 32, 32, 'ico'],
  ['animated.gif', 'image/gif', 64, 64, 'gif'],
] as const) {
  test(`${name}: ${width} x ${height}, ${imageType}`, async () => {
    expect(await probed(await fixture(name), contentType)).toEqual({width, height, imageType});
  });
}

for (const [name, contentType, width, height] of [
  ['clip.mp4', 'video/mp4', 320, 180],
  ['clip.mov', 'video/quicktime', 320, 180],
  ['clip.m4v', 'video/x-m4v', 320, 180],
  ['clip.mkv', 'video/matroska', 320, 180],
  ['clip.webm', 'video/webm', 320, 180],
  ['clip.3gp', 'video/3gpp', 176, 144],
  ['fragmented.mp4', 'video/mp4', 320, 180],
] as const) {
  test(`${name}: ${width} x ${height}, one second`, async () => {
    const facts = await probed(await fixture(name), contentType);
    expect(facts).toEqual({width, height, duration: expect.any(Number)});
    expect(Math.abs((facts.duration ?? 0) - 1)).toBeLessThan(0.2);
    expect(String(facts.duration)).toMatch(/^\d(\.\d{1,3})?$/);
  });
}

test('an MPEG transport stream: its duration, and no size that might be half of it', async () => {
  const facts = await probed(await fixture('clip.m2ts'), 'video/mp2t');
  expect(facts).toEqual({duration: expect.closeTo(0.67, 1)});
});

for (const [name, contentType] of [
  ['clip.avi', 'video/x-msvideo'],
  ['clip.wmv', 'video/x-ms-wmv'],
  ['clip.mpg', 'video/mpeg'],
  ['clip.ogv', 'video/ogg'],
  ['audio-only.mp4', 'video/mp4'],
  ['audio-only.webm', 'video/webm'],
  ['subtitles-only.mkv', 'video/matroska'],
  ['song-named.mp4', 'video/mp4'],
  ['truncated.mp4', 'video/mp4'],
  ['photo.png', 'video/mp4'],
  ['clip.mp4', 'image/png'],
  ['unrecognised.png', 'image/png'],
  ['lfs-pointer.png', 'image/png'],
  ['page-named.png', 'image/png'],
  ['zip-named.png', 'image/png'],
] as const) {
  test(`${name} as ${contentType}: nothing is known, so nothing is said`, async () => {
    expect(await probed(await fixture(name), contentType)).toEqual({});
  });
}

test('a PNG under the name of another type: what the bytes say', async () => {
  expect(await probed(png(3, 2), 'image/jpeg')).toEqual({width: 3, height: 2, imageType: 'png'});
});

test('zeros: no TGA unless the content type says so', async () => {
  const zeros = Buffer.alloc(64);
  zeros.writeUInt16LE(12, 12);
  zeros.writeUInt16LE(34, 14);
  expect(await probed(zeros, 'image/png')).toEqual({});
  expect(await probed(zeros, 'image/x-tga')).toEqual({width: 12, height: 34, imageType: 'tga'});
});

test('an SVG with thousands of elements that never end: what its first element says', async () => {
  const bytes = Buffer.from(`<svg width="3" height="2"/>${'<svg '.repeat(26_000)}<g width="1in"`);
  expect(await probed(bytes, 'image/svg+xml')).toEqual({width: 3, height: 2, imageType: 'svg'});
});

test('a JPEG with an EXIF orientation: the coded size', async () => {
  const photo = await fixture('photo.jpg');
  const tiff = Buffer.from('4d4d002a00000008000101120003000000010006000000000000', 'hex');
  const exif = segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), tiff]));
  const rotated = Buffer.concat([photo.subarray(0, 2), exif, photo.subarray(2)]);
  expect(await probed(rotated, 'image/jpeg')).toEqual({width: 640, height: 400, imageType: 'jpg'});
});

test('a JPEG whose frame header stands behind a megabyte of metadata', async () => {
  const photo = await fixture('photo.jpg');
  const profile = segment(0xe2, Buffer.alloc(65_000, 'ICC'));
  const bytes = Buffer.concat([photo.subarray(0, 2), ...Array(17).fill(profile), photo.subarray(2)]);
  expect(await probed(bytes, 'image/jpeg')).toEqual({width: 640, height: 400, imageType: 'jpg'});
});

test('a bitmap with the short header of OS/2, and one that is stored from top to bottom', async () => {
  const short = Buffer.alloc(64);
  short.write('BM');
  short.writeUInt32LE(12, 14);
  short.writeUInt16LE(70, 18);
  short.writeUInt16LE(40, 20);
  expect(await probed(short, 'image/bmp')).toEqual({width: 70, height: 40, imageType: 'bmp'});
  const upsideDown = Buffer.from(await fixture('photo.bmp'));
  upsideDown.writeInt32LE(-50, 22);
  expect(await probed(upsideDown, 'image/bmp')).toEqual({width: 80, height: 50, imageType: 'bmp'});
});

test('a PNG with a chunk for an animation: apng', async () => {
  const plain = png(3, 2);
  const control = Buffer.concat([Buffer.from([0, 0, 0, 8]), Buffer.from('acTL'), Buffer.alloc(12)]);
  const animated = Buffer.concat([plain.subarray(0, 33), control, plain.subarray(33)]);
  expect(await probed(animated, 'image/png')).toEqual({width: 3, height: 2, imageType: 'apng'});
});

test('an icon with a picture of 256 pixels, which its directory writes as 0: its size', async () => {
  const pictures = [16, 256, 48].map(size => ({size, bytes: png(size, size)}));
  const head = Buffer.from([0, 0, 1, 0, pictures.length, 0]);
  let offset = head.length + 16 * pictures.length;
  const entries = pictures.map(({size, bytes}) => {
    const entry = Buffer.from([size % 256, size % 256, 0, 0, 1, 0, 32, 0, ...Buffer.alloc(8)]);
    entry.writeUInt32LE(bytes.length, 8);
    entry.writeUInt32LE(offset, 12);
    offset += bytes.length;
    return entry;
  });
  const icon = Buffer.concat([head, ...entries, ...pictures.map(({bytes}) => bytes)]);
  expect(await probed(icon, 'image/x-icon')).toEqual({width: 256, height: 256, imageType: 'ico'});
});

test('an icon whose directory contradicts its picture: no size', async () => {
  const icon = Buffer.from(await fixture('favicon.ico'));
  icon[6] = 43;
  expect(await probed(icon, 'image/x-icon')).toEqual({imageType: 'ico'});
});

/** A HEIF with two items, of which one is shown: the first is 64 x 64, the second 640 x 400 with a clean aperture. */
function heif(shown: number, major = 'heic', compatible = 'mif1'): Buffer {
  const box = (type: string, ...parts: (Buffer | number[])[]) => {
    const body = Buffer.concat(parts.map(part => Buffer.from(part)));
    const head = Buffer.alloc(8);
    head.writeUInt32BE(body.length + 8, 0);
    head.write(type, 4, 'latin1');
    return Buffer.concat([head, body]);
  };
  const longs = (...numbers: number[]) => {
    const bytes = Buffer.alloc(4 * numbers.length);
    numbers.forEach((number, index) => {
      bytes.writeInt32BE(number, 4 * index);
    });
    return bytes;
  };
  const aperture = box('clap', longs(630, 1, 390, 1, 0, 1, 0, 1));
  const properties = box('ipco', box('ispe', longs(0, 64, 64)), box('ispe', longs(0, 640, 400)), aperture);
  const uses = box('ipma', longs(0, 2), [0, 1, 1, 1], [0, 2, 2, 2, 3]);
  const meta = box('meta', longs(0), box('pitm', longs(0), [0, shown]), box('iprp', properties, uses));
  const start = box('ftyp', Buffer.from(major), longs(0), Buffer.from(compatible));
  return Buffer.concat([start, box('mdat', Buffer.alloc(200_000)), meta]);
}

for (const [shown, width, height] of [
  [1, 64, 64],
  [2, 630, 390],
] as const) {
  test(`a HEIF, its index behind its data, that shows item ${shown} of two: ${width} x ${height}`, async () => {
    expect(await probed(heif(shown), 'image/heic')).toEqual({width, height, imageType: 'heic'});
  });
}

for (const [major, compatible, imageType] of [
  ['heix', 'mif1', 'heic'],
  ['mif1', 'mif1heic', 'heif'],
  ['mif1', 'mif1avifmiaf', 'avif'],
  ['jpeg', 'mif1jpegmiaf', 'heif'],
  ['miaf', 'miafmif1', 'heif'],
  ['vvic', 'vvicmif1', 'heif'],
  ['Zz_9', 'iso8mif1heic', 'heic'],
  ['isom', 'mif1avif', 'avif'],
] as const) {
  test(`a HEIF of brand ${major}, compatible with ${compatible}: ${imageType}, with its size`, async () => {
    const facts = {width: 64, height: 64, imageType};
    expect(await probed(heif(1, major, compatible), 'image/heif')).toEqual(facts);
  });
}

for (const [major, compatible] of [
  ['avis', 'avismif1avif'],
  ['msf1', 'msf1mif1heic'],
  ['jpgs', 'jpgsmif1'],
] as const) {
  test(`a sequence of images, ${major}, compatible with ${compatible}: no format, no size`, async () => {
    expect(await probed(heif(1, major, compatible), 'image/heif')).toEqual({});
  });
}

for (const order of ['II', 'MM'] as const) {
  test(`a camera raw file (${order}) whose first directory is of a preview: no size`, async () => {
    const write = order === 'II' ? 'writeUInt32LE' : 'writeUInt32BE';
    const writeShort = order === 'II' ? 'writeUInt16LE' : 'writeUInt16BE';
    const file = Buffer.alloc(64);
    file.write(order, 0, 'latin1');
    file[writeShort](42, 2);
    file[write](8, 4);
    file[writeShort](3, 8);
    [
      [254, 1],
      [256, 160],
      [257, 120],
    ].forEach(([tag = 0, value = 0], index) => {
      file[writeShort](tag, 10 + 12 * index);
      file[writeShort](4, 12 + 12 * index);
      file[write](1, 14 + 12 * index);
      file[write](value, 18 + 12 * index);
    });
    // The lowest bit says so, whatever the others say.
    for (const type of [1, 3, 5]) {
      file[write](type, 18);
      expect(await probed(file, 'image/x-nikon-nef')).toEqual({});
    }
    file[write](2, 18);
    expect(await probed(file, 'image/tiff')).toEqual({width: 160, height: 120, imageType: 'tiff'});
  });
}

for (const order of ['II', 'MM'] as const) {
  test(`a TIFF (${order}) whose directory stands at the end`, async () => {
    const entries = [
      [256, 1234],
      [257, 567],
    ] as const;
    const file = Buffer.alloc(600_000 + 2 + entries.length * 12 + 4, 1);
    const write16 = (value: number, at: number) =>
      order === 'II' ? file.writeUInt16LE(value, at) : file.writeUInt16BE(value, at);
    const write32 = (value: number, at: number) =>
      order === 'II' ? file.writeUInt32LE(value, at) : file.writeUInt32BE(value, at);
    file.write(order, 0, 'latin1');
    write16(42, 2);
    write32(600_000, 4);
    write16(entries.length, 600_000);
    entries.forEach(([tag, value], index) => {
      const at = 600_002 + index * 12;
      write16(tag, at);
      write16(4, at + 2);
      write32(1, at + 4);
      write32(value, at + 8);
    });
    write32(0, file.length - 4);
    expect(await probed(file, 'image/tiff')).toEqual({width: 1234, height: 567, imageType: 'tiff'});
  });
}

test('a video that is to be shown rotated: the coded size', async () => {
  const clip = Buffer.from(await fixture('clip.mp4'));
  const matrix = Buffer.alloc(36);
  [0, 0x10000, 0, -0x10000, 0, 0, 180 * 0x10000, 0, 0x40000000].forEach((value, index) => {
    matrix.writeInt32BE(value, index * 4);
  });
  matrix.copy(clip, clip.indexOf('tkhd') + 44);
  expect(await probed(clip, 'video/mp4')).toEqual({width: 320, height: 180, duration: 1});
});

test('a file that is not there: nothing is known', async () => {
  expect(await probe({path: join(await temporaryDirectory(), 'none'), contentType: 'image/png'})).toEqual({});
});

test('a codec that mediabunny has something to say about: not on our output', async () => {
  await probed(await fixture('clip.3gp'), 'video/3gpp');
  expect(Logging.level).toBe(LogLevel.Silent);
});

function segment(marker: number, payload: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(payload.length + 2, 2);
  return Buffer.concat([head, payload]);
}
