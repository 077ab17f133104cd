import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {fixture, temporaryDirectory} from '../../support/media.ts';
import {exiftool, needExiftool} from './exiftool.ts';
import {exifOf, exifSegment, packetOf, xmpHeader} from './handmade.ts';
import {jpegWith, stripped} from './tagged.ts';

const place = 'a picture in XMP metadata';

/** A picture whose XMP has another one, as programs of Adobe store a thumbnail. */
function withThumbnail(base64: string): Promise<Buffer> {
  const image =
    '<xmp:Thumbnails xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:i="http://ns.adobe.com/xap/1.0/g/img/"><rdf:Alt>' +
    `<rdf:li rdf:parseType="Resource"><i:format>JPEG</i:format><i:image>${base64}</i:image></rdf:li></rdf:Alt></xmp:Thumbnails>`;
  return jpegWith([1, `${xmpHeader}${packetOf('', image)}`]);
}

const lines = (base64: string, end: string, length = 76) =>
  base64.replace(new RegExp(`.{${length}}`, 'g'), line => `${line}${end}`);

test('a thumbnail in XMP: one with a location is refused, one without is sent', async context => {
  const tagged = (await jpegWith([1, exifSegment(exifOf())])).toString('base64');
  for (const base64 of [tagged, lines(tagged, '\n'), lines(tagged, '&#xA;', 60)])
    expect(await stripped(await withThumbnail(base64))).toBe(place);
  const photoshop = [
    13,
    'Photoshop 3.0\x008BIM\x03\xed\0\0\0\0\0\x10\0\x48\0\0\0\x01\0\x01\0\x48\0\0\0\x01\0\x01',
  ] as const;
  for (const plain of [await readFile(fixture('photo.jpg')), await jpegWith(photoshop)]) {
    const whole = await withThumbnail(plain.toString('base64'));
    expect((await stripped(whole)).length).toBe(whole.length);
  }

  needExiftool(context);
  const path = join(await temporaryDirectory(), 'thumbnail.jpg');
  await writeFile(path, await withThumbnail(lines(tagged, '\n')));
  await writeFile(path, await exiftool('-b', '-ThumbnailImage', path), 'latin1');
  expect(await exiftool('-s', path)).toMatch(/GPSLatitudeRef|GPSAreaInformation|GPSProcessingMethod/);
});

test.each(['Data="', "Data='"])(
  'refused: a picture with a location in an attribute of any name (%s)',
  async start => {
    const tagged = (await jpegWith([1, exifSegment(exifOf())])).toString('base64');
    expect(
      await stripped(await jpegWith([1, `${xmpHeader}${packetOf(`dc:${start}${tagged}${start.at(-1)}`)}`])),
    ).toBe(place);
  },
);
