import {createHash} from 'node:crypto';
import {expect, test} from 'vitest';
import {exifOf, exifSegment, iptcOf, packetOf, resourceOf, secret} from './handmade.ts';
import {jpegWith, stripped} from './tagged.ts';

const segment = (...resources: readonly Buffer[]) =>
  [13, Buffer.concat([Buffer.from('Photoshop 3.0\0'), ...resources])] as const;
const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest();
const xmp = resourceOf(0x424, Buffer.from(packetOf(`p:City="${secret}"`)), 'name');

test.each([26, 27, 90, 92, 95, 100, 101])(
  'IPTC dataset 2:%i: blanked, and its caption stays',
  async dataset => {
    const iptc = (text: string) =>
      resourceOf(0x404, iptcOf([120, 'a caption'], [dataset, text], [25, 'word']));
    expect(await stripped(await jpegWith(segment(iptc(secret))))).toEqual(
      await jpegWith(segment(iptc(' '.repeat(secret.length)))),
    );
  },
);

test('the destination of IPTC metadata, dataset 1:5: blanked', async () => {
  const iptc = (text: string) =>
    resourceOf(0x404, Buffer.from(`\x1c\x01\x05\0${String.fromCharCode(text.length)}${text}`));
  expect(await stripped(await jpegWith(segment(iptc(secret))))).toEqual(
    await jpegWith(segment(iptc(' '.repeat(secret.length)))),
  );
});

test('IPTC and XMP among other resources, in two segments: blanked; a digest that was right is right', async () => {
  const [tagged, clean] = [secret, ' '.repeat(secret.length)].map(text => iptcOf([90, text], [5, 'a title']));
  if (tagged === undefined || clean === undefined) throw new Error('there are two');
  const picture = (iptc: Buffer, packet: Buffer, digest: Buffer) => {
    const whole = Buffer.concat([
      resourceOf(0x3ed, Buffer.alloc(3, 1), 'odd'),
      resourceOf(0x404, iptc, 'even'),
      packet,
      resourceOf(0x425, digest),
    ]);
    return jpegWith(segment(whole.subarray(0, 40)), segment(whole.subarray(40)));
  };
  const blanked = Buffer.from(
    xmp.toString('latin1').replace(/p:City="[^"]*"/, found => ' '.repeat(found.length)),
  );
  const other = Buffer.alloc(16, 7);
  expect(await stripped(await picture(tagged, xmp, md5(tagged)))).toEqual(
    await picture(clean, blanked, md5(clean)),
  );
  expect(await stripped(await picture(tagged, xmp, other))).toEqual(await picture(clean, blanked, other));
});

test.each([
  ['Exif metadata of Photoshop', resourceOf(0x422, exifOf())],
  ['Exif metadata of Photoshop', resourceOf(0x423, exifOf())],
  ['a thumbnail of Photoshop', resourceOf(0x409, exifSegment(exifOf()))],
  ['a thumbnail of Photoshop', resourceOf(0x40c, exifSegment(exifOf()))],
  ['IPTC metadata', resourceOf(0x404, Buffer.concat([iptcOf([25, 'word']), Buffer.from(secret)]))],
  ['IPTC metadata', resourceOf(0x404, Buffer.from('\x1c\x02\x5a\x80\x04\0\0\0\x0c', 'latin1'))],
  ['Photoshop metadata', Buffer.concat([resourceOf(0x3ed, Buffer.alloc(2)), Buffer.from('more')])],
])('refused: %s', async (place, resource) => {
  expect(await stripped(await jpegWith(segment(resource)))).toBe(place);
});
