import {readFile} from 'node:fs/promises';
import {expect, test} from 'vitest';
import {fixture} from '../../support/media.ts';
import {box, freeForm, packetOf, secret, videoWith} from './handmade.ts';
import {stripped} from './tagged.ts';

const zeros = (length: number) => Buffer.alloc(length);
const text = (characters: string) => Buffer.from(characters, 'latin1');
const clip = await readFile(fixture('clip.mp4'));

test.each<[string, Buffer]>([
  ['a box "loci"', box('udta', box('loci', zeros(6), text(secret)))],
  ['a box "@xyz"', box('udta', box('@xyz', text(secret)))],
  ['a box "XMP_"', box('udta', box('XMP_', text(packetOf(`p:City="${secret}"`))))],
  ['an item of iTunes', freeForm('GPSLatitude', secret)],
])('a video with a place in %s: blanked', async (_what, place) => {
  const tagged = await videoWith(place);
  const clean = (await stripped(tagged)) as Buffer;
  expect(clean).toHaveLength(tagged.length);
  expect(clean.includes(secret)).toBe(false);
  expect(clean.subarray(0, -place.length)).toEqual(tagged.subarray(0, -place.length));
});

const track = (kind: string, description: string) =>
  box(
    'trak',
    box(
      'mdia',
      box('hdlr', zeros(8), text(kind), zeros(12)),
      box(
        'minf',
        box(
          'stbl',
          box(
            'stsd',
            zeros(4),
            Buffer.from([0, 0, 0, 1]),
            box(description.slice(0, 4), text(description.slice(4))),
          ),
        ),
      ),
    ),
  );
const faces = 'mebxkeysmdtacom.apple.quicktime.detected-face';

test('a video with timed metadata of faces: sent as it is', async () => {
  const video = await videoWith(track('meta', faces));
  expect(await stripped(video)).toEqual(video);
});

test('a video whose pictures contain the letters of a record without being one: sent as it is', async () => {
  for (const data of [text('DEVC'), text('GP\x06\0DEVC'), goPro('GX\x06\0'), goPro('GP\x06\0', 'GPMF')]) {
    const video = overBlocks(0, data);
    // toEqual() would take seconds for megabytes.
    const sent = await stripped(video);
    expect(typeof sent === 'string' ? sent : sent.equals(video)).toBe(true);
  }
});

const keys = box('keys', zeros(8));
// Where its media data is searched in pieces of 1 MiB.
const overBlocks = (before: number, data: Buffer) =>
  Buffer.concat([clip, box('mdat', zeros(before), data, zeros(2 ** 20))]);
const goPro = (begin: string, content = 'DEVC') =>
  text(`${begin}\0\0\0\x24\0\0\0\0\0\0\0\0${content}\0\x01\0\x1cGPS5`);
const camcorder = Buffer.from('17ee8c60f84d11d98cd60800200c9a664d44504d', 'hex');

test.each<[string, Buffer]>([
  [
    'a track of timed metadata',
    await videoWith(track('meta', faces.replace('detected-face', 'location.ISO6709'))),
  ],
  [
    'a track of timed metadata',
    await videoWith(track('meta', faces.replace('detected-face', 'direction.facing'))),
  ],
  ['a track of timed metadata', await videoWith(track('meta', 'gpmdGoPro'))],
  ['a track of the kind "camm"', await videoWith(track('camm', 'camm'))],
  ['a track', await videoWith(track('vide', 'avc1GPSLatitude=48'))],
  ...[0, 2 ** 20 - 4].flatMap((before): [string, Buffer][] => [
    ['the positions of a dashcam', overBlocks(before, text('freeGPS '))],
    ['the data of a camcorder', overBlocks(before, camcorder)],
  ]),
  ...[0, 2 ** 20 - 1, 2 ** 20 - 18, 25_000_000].map((before): [string, Buffer] => [
    'the positions of a dashcam',
    overBlocks(before, goPro('GP\x06\0')),
  ]),
  ['the positions of a dashcam', overBlocks(25_000_000, text('freeGPS '))],
  // Behind a record without data of sensors.
  [
    'the positions of a dashcam',
    overBlocks(9, Buffer.concat([goPro('GP\x06\0', 'XXXX'), goPro('GP\x07\0')])),
  ],
  ...['free', 'sidx', 'moov'].map((kind): [string, Buffer] => [
    'the positions of a dashcam',
    Buffer.concat([clip, box(kind, goPro('GP\x06\0'))]),
  ]),
  ...['GPSPosition=48', 'longitude: 11', 'location.ISO6709', 'Exif\0\0', '8BIM\x04\x04', '8BIM\x04$'].map(
    (named): [string, Buffer] => ['a box "free"', Buffer.concat([clip, box('free', zeros(9), text(named))])],
  ),
  ['a box "uuid"', Buffer.concat([clip, box('uuid', zeros(16), text('48'))])],
  ['a value of the movie', await videoWith(freeForm('Comment', 'GPSLatitude: 48'))],
  ['several lists of keys', await videoWith(box('meta', box('hdlr', zeros(24)), keys, keys))],
  ['a box "xxxx"', await videoWith(box('udta', box('xxxx', text('48'))))],
])('refused: a video with %s', async (place, video) => {
  expect(await stripped(video)).toBe(place);
});
