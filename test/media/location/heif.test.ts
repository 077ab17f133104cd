import {expect, test} from 'vitest';
import {box, exifOf, exifSegment, packetOf, secret, videoWithPlace} from './handmade.ts';
import {jpegWith, stripped} from './tagged.ts';

const zeros = (length: number) => Buffer.alloc(length);
const text = (characters: string) => Buffer.from(characters, 'latin1');

interface Layout {
  /** Of the boxes "iloc" and "infe". */
  version?: 0 | 1 | 2;
  /** Whether the metadata is in the box "idat". */
  isInside?: boolean;
  base?: number;
  pieces?: number;
  kind?: string;
  content?: Buffer;
  /** Of what the file of the item is. */
  reference?: number;
  /** A further item in the same place. */
  other?: string;
}
const content = Buffer.concat([Buffer.from([0, 0, 0, 6]), exifSegment(exifOf())]);
const number = (value: number, size: number) => {
  const bytes = Buffer.alloc(size);
  bytes.writeUIntBE(value, 0, size);
  return bytes;
};

/** A picture of nothing but one item. */
function heif(layout: Layout, start = 200): Buffer {
  const {version = 0, isInside = false, base = 0, pieces = 1, kind = 'Exif', reference = 0, other} = layout;
  const {content: bytes = content} = layout;
  const idSize = version === 2 ? 4 : 2;
  const kinds = other === undefined ? [kind] : [kind, other];
  const entries = kinds.map((one, index) =>
    box(
      'infe',
      Buffer.from([version === 2 ? 3 : 2, 0, 0, 0]),
      number(index + 1, idSize),
      zeros(2),
      text(one),
      zeros(1),
    ),
  );
  const length = Math.ceil(bytes.length / pieces);
  const extents = Array.from({length: pieces}, (_, index) => [
    number((isInside ? 0 : start) - base + index * length, 4),
    number(Math.min(length, bytes.length - index * length), 4),
  ]).flat();
  const items = [1, 2]
    .slice(0, other === undefined || other === 'none' ? 1 : 2)
    .map(id => [
      number(id, idSize),
      ...(version === 0 ? [] : [number(isInside ? 1 : 0, 2)]),
      ...[number(reference, 2), number(base, 4), number(pieces, 2), ...extents],
    ]);
  const picture = Buffer.concat([
    box('ftyp', text('heic'), zeros(4), text('mif1heic')),
    box(
      'meta',
      ...[zeros(4), box('hdlr', zeros(8), text('pict'), zeros(13))],
      box('iinf', zeros(4), number(entries.length, 2), ...entries),
      box('iloc', Buffer.from([version, 0, 0, 0, 0x44, 0x40]), number(items.length, idSize), ...items.flat()),
      ...(isInside ? [box('idat', bytes)] : []),
    ),
    ...(isInside ? [] : [box('mdat', bytes)]),
  ]);
  const at = picture.length - bytes.length;
  return isInside || at === start ? picture : heif(layout, at);
}

test.each<[string, Layout]>([
  ['at its place', {}],
  ['at a distance from a base', {base: 100}],
  ['in two pieces', {pieces: 2}],
  ['with long numbers', {version: 2, pieces: 3}],
  ['in the box "idat"', {version: 1, isInside: true}],
  ['that begins at once', {content: Buffer.concat([zeros(4), exifOf()])}],
  ['that is XMP', {kind: 'mime', content: text(packetOf(`p:City="${secret}"`))}],
  // As libavif writes it for the picture and for the track of an animation.
  ['that two items share', {other: 'Exif'}],
  [
    'that is XMP, which two items share',
    {kind: 'mime', content: text(packetOf(`p:City="${secret}"`)), other: 'mime\0application/rdf+xml'},
  ],
])('a HEIF picture with metadata %s: blanked', async (_what, layout) => {
  const kind = layout.kind === 'mime' ? 'mime\0application/rdf+xml' : 'Exif';
  const tagged = heif({...layout, kind});
  const clean = (await stripped(tagged)) as Buffer;
  expect(clean).toHaveLength(tagged.length);
  expect(clean.includes(secret)).toBe(false);
  expect(await stripped(clean)).toEqual(clean);
});

const overlapping = 'metadata that overlaps other data';

test.each<[string, Layout]>([
  [overlapping, {other: 'hvc1'}],
  ['items whose places are unknown', {reference: 1}],
  ['an item "jpeg"', {kind: 'jpeg', content: await jpegWith([1, exifSegment(exifOf())])}],
  ['an item "uri "', {kind: 'uri '}],
])('refused: a HEIF picture with %s', async (place, layout) => {
  expect(await stripped(heif(layout))).toBe(place);
});

test('a HEIF picture with a motion video in a box "mpvd": blanked', async () => {
  const tagged = Buffer.concat([heif({}), box('mpvd', await videoWithPlace())]);
  const clean = (await stripped(tagged)) as Buffer;
  expect([clean.length, clean.includes(secret), clean.includes('+48.1372')]).toEqual([
    tagged.length,
    false,
    false,
  ]);
});

test('refused at once: items with very many empty pieces', async () => {
  const items = Array.from({length: 20_000}, (_, id) => [number(id, 2), zeros(2), number(0xffff, 2)]);
  const meta = box(
    'meta',
    ...[zeros(4), box('hdlr', zeros(8), text('pict'), zeros(13)), box('iinf', zeros(6))],
    box('iloc', zeros(4), zeros(2), number(items.length, 2), ...items.flat()),
  );
  const picture = Buffer.concat([box('ftyp', text('heic'), zeros(4), text('mif1heic')), meta]);
  expect(await stripped(picture)).toBe('items whose places are unknown');
});
