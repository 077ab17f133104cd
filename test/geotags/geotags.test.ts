import {expect, test} from 'vitest';
import {jpegWith, position, stripped, tiffOf} from './tagged.ts';

const secret = 'SECRET-PLACE';

/** Exif metadata with a position, and a description that stays. */
const exif = (isLittle = true) =>
  tiffOf(isLittle, [
    [
      [0x10e, 2, Buffer.from('a description\0')],
      [0x8825, 4, [-1]],
    ],
    position,
  ]);

const app1 = (tiff: Buffer) => Buffer.concat([Buffer.from('Exif\0\0'), tiff]);
const packet = (properties: string) =>
  `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">${properties}</rdf:RDF></x:xmpmeta>`;
const xmpHeader = 'http://ns.adobe.com/xap/1.0/\0';

test.each([true, false])('a JPEG picture with Exif metadata (little endian: %s)', async isLittle => {
  const tagged = await jpegWith([1, app1(exif(isLittle))]);
  const clean = (await stripped(tagged)) as Buffer;
  expect(clean).toHaveLength(tagged.length);
  expect(clean.includes(secret)).toBe(false);
  expect(clean.includes('a description')).toBe(true);
  expect(await stripped(clean)).toEqual(clean);
});

test.each([
  ['an attribute in double quotes', `<rdf:Description e:GPSLatitude="${secret}" d:t='1'/>`],
  ['one in single quotes', `<rdf:Description e:City='${secret}' d:t='1'/>`],
  ['an element', `<rdf:Description><p:City>${secret}</p:City><d:t>1</d:t></rdf:Description>`],
  ['CDATA', `<rdf:Description><p:State><![CDATA[${secret}]]></p:State><d:t>1</d:t></rdf:Description>`],
  [
    'a structure',
    `<rdf:Description><l:LocationCreated rdf:parseType="Resource"><l:x>${secret}</l:x></l:LocationCreated><d:t>1</d:t></rdf:Description>`,
  ],
])('XMP: %s', async (_what, properties) => {
  const place = /<([pl]):(\w+).*<\/\1:\2>| e:\w+=(["']).*?\3/;
  const without = properties.replace(place, found => ' '.repeat(found.length));
  for (const encode of [
    (text: string) => Buffer.from(text),
    (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le'),
    (text: string) => Buffer.from(text, 'utf16le').swap16(),
  ]) {
    const inJpeg = (text: string) =>
      jpegWith([1, Buffer.concat([Buffer.from(xmpHeader), encode(packet(text))])]);
    expect(await stripped(await inJpeg(properties))).toEqual(await inJpeg(without));
  }
});

test.each([
  ['an APP6 segment', [6, 'GoPro\0DEVC']],
  ['Exif metadata without a TIFF header', [1, 'Exif\0\0garbage that is long enough']],
  ['XMP metadata', [1, `${xmpHeader}${packet('<p:City>x</p:Citi>')}`]],
  ['XMP metadata', [1, `${xmpHeader}${packet('<rdf:li rdf:nodeID="a"/>')}`]],
  ['IPTC metadata', [13, 'Photoshop 3.0\x008BIM\x04\x04\0\0\0\0\0\x06garbag']],
] as const)('refused: %s', async (place, segment) => {
  expect(await stripped(await jpegWith(segment))).toBe(place);
});
