import sharp from 'sharp';
import {expect, test} from 'vitest';
import {bytesSource} from '../../../src/library/sources.ts';
import {pictureDimensions} from '../../../src/sources/media-type/dimensions.ts';

async function dimensionsOf(bytes: Buffer) {
  return pictureDimensions(await bytesSource('a', bytes).open(new AbortController().signal));
}

test('a bitmap with the header of OS/2, or stored from top to bottom: its size', async () => {
  const os2 = Buffer.alloc(26 + 24);
  os2.write('BM');
  os2.writeUInt32LE(12, 14);
  os2.writeUInt16LE(2, 18);
  os2.writeUInt16LE(3, 20);
  expect(await dimensionsOf(os2)).toEqual({width: 2, height: 3, mayBeTurned: false});
  const windows = Buffer.alloc(54 + 24);
  windows.write('BM');
  windows.writeUInt32LE(40, 14);
  windows.writeInt32LE(2, 18);
  windows.writeInt32LE(-3, 22);
  expect(await dimensionsOf(windows)).toEqual({width: 2, height: 3, mayBeTurned: false});
});

test.each(['png', 'webp', 'jpeg'] as const)(
  '%s with EXIF metadata that turn it: the size as stored',
  async format => {
    const picture = sharp({create: {width: 20, height: 30, channels: 3, background: 'red'}}).toFormat(format);
    const plain = await picture.toBuffer();
    const turned = await picture.withMetadata({orientation: 6}).toBuffer();
    expect((await sharp(turned).metadata()).orientation).toBe(6);
    expect(await dimensionsOf(plain)).toEqual({width: 20, height: 30, mayBeTurned: false});
    expect(await dimensionsOf(turned)).toEqual({width: 20, height: 30, mayBeTurned: true});
  },
);
