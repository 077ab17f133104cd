import {expect, test} from 'vitest';
import {applyPatches} from '../../../src/media/location/location.ts';
import {exifOf, exifSegment, handmade, packetOf, secret, xmpHeader} from './handmade.ts';
import {jpegWith, planFor, stripped} from './tagged.ts';

test.each([true, false])('a JPEG picture with Exif metadata (little endian: %s)', async isLittle => {
  const tagged = await jpegWith([1, exifSegment(exifOf(isLittle))]);
  const clean = (await stripped(tagged)) as Buffer;
  expect(clean).toHaveLength(tagged.length);
  expect(clean.includes(secret)).toBe(false);
  expect(clean.includes('a description')).toBe(true);
  expect(await stripped(clean)).toEqual(clean);
});

test('sent in pieces of any size: the same bytes', async () => {
  const tagged = await jpegWith([1, exifSegment(exifOf())]);
  const clean = (await stripped(tagged)) as Buffer;
  const plan = await planFor(tagged);
  if (plan.geotags === 'none') expect.fail('It has a location.');
  const before = Buffer.from(tagged);
  for (let size = 1; size <= tagged.length; size += 1 + (size >> 4)) {
    const pieces = [];
    for (let at = 0; at < tagged.length; at += size)
      pieces.push(applyPatches(tagged.subarray(at, at + size), at, plan.patches));
    expect(Buffer.concat(pieces).equals(clean), `pieces of ${size}`).toBe(true);
  }
  expect(tagged.equals(before)).toBe(true);
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
    (text: string) => Buffer.from(text, 'utf16le'),
    (text: string) => Buffer.from(text, 'utf16le').swap16(),
  ]) {
    const inJpeg = (text: string) =>
      jpegWith([1, Buffer.concat([Buffer.from(xmpHeader), encode(packetOf('', text))])]);
    expect(await stripped(await inJpeg(properties))).toEqual(await inJpeg(without));
  }
});

const places = [
  ...[
    'exif:GPSAltitude',
    'd:Longtitude',
    'd:AbsoluteAltitude',
    'd:longitude',
    'dwc:decimalLatitude',
    'e:Geotag',
  ],
  ...['p:City', 'p:State', 'p:Country', 'i:CountryCode', 'i:CountryName', 'i:Location', 'i:LocationShown'],
  ...['d:LRFTargetLat', 'd:LRFTargetLon', 'd:LRFTargetAlt', 'd:LRFTargetAbsAlt', 'dwc:dctermsLocation'],
  ...['dwc:continent', 'dwc:county', 'dwc:footprintWKT', 'dwc:georeferenceRemarks', 'dwc:island'],
  ...[
    'dwc:islandGroup',
    'dwc:locality',
    'dwc:locationRemarks',
    'dwc:municipality',
    'dwc:verbatimCoordinates',
  ],
  ...['dwc:verbatimLocality', 'dwc:waterBody', 'geo:lat_long'],
  ...['i:Sublocation', 'i:ProvinceState', 'i:WorldRegion', 'dc:coverage', 'm:mcc', 'm:cellid', 'x:EarthPos'],
  ...['cell:cgi', 'cell:r', 'cell:lac', 'i:RatingRegion', 'Device:Pose', 'd:CamReverse', 'd:GimbalYawDegree'],
  ...['d:FlightPitchDegree', 'd:FlightZSpeed', 'd:RtkFlag', 'd:RtkStdHgt'],
];
const others = [
  'exifEX:ISOSpeedLatitudeyyy',
  'x:ElevationAngle',
  'd:LRFTargetDistance',
  'xmlns:location',
  'x:r',
  'd:GimbalFirmware',
  'i:CiAdrCity',
  'dc:title',
];

test.each([...places, ...others])('the XMP property %s: blanked if it tells a place', async name => {
  const picture = (text: string) => jpegWith([1, `${xmpHeader}${packetOf(text)}`]);
  const text = `${name}="${secret}"`;
  expect(await stripped(await picture(text))).toEqual(
    await picture(places.includes(name) ? ' '.repeat(text.length) : text),
  );
});

test.each([
  ['an APP6 segment', [6, 'GoPro\0DEVC']],
  ['an APP14 segment', [14, 'Adobe GPSLatitude=48']],
  ['Exif metadata without a TIFF header', [1, 'Exif\0\0garbage that is long enough']],
  ['XMP metadata', [1, `${xmpHeader}${packetOf('', '<p:City>x</p:Citi>')}`]],
  ['XMP metadata', [1, `${xmpHeader}${packetOf('', '<rdf:li rdf:nodeID="a"/>')}`]],
  [
    'XMP metadata',
    [1, `${xmpHeader}${packetOf('xmlns:c="http://developer.sonyericsson.com/cell/1.0/" c:r="1"')}`],
  ],
  ['IPTC metadata', [13, 'Photoshop 3.0\x008BIM\x04\x04\0\0\0\0\0\x06garbag']],
] as const)('refused: %s', async (place, segment) => {
  expect(await stripped(await jpegWith(segment))).toBe(place);
});

test('further pictures, videos, maker notes and extended XMP', async () => {
  for (const {name, bytes} of await handmade()) {
    const clean = await stripped(bytes);
    if (typeof clean === 'string') expect.fail(`${name}: ${clean}`);
    expect({name, length: clean.length}).toEqual({name, length: bytes.length});
    expect({name, isLeft: clean.includes(secret) || clean.includes('+48.1372')}).toEqual({
      name,
      isLeft: false,
    });
    expect({name, isSame: clean.equals(bytes)}).toEqual({name, isSame: false});
  }
});
