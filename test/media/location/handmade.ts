import {createHash} from 'node:crypto';
import {readFile} from 'node:fs/promises';
import {fixture} from '../../support/media.ts';
import {jpegWith, position, type Tag, tiffOf} from './tagged.ts';

/** The place in all of the files that are made here. */
export const secret = 'SECRET-PLACE';

/** Exif metadata with a position, and a description that stays. */
export function exifOf(isLittle = true): Buffer {
  const described: Tag = [0x10e, 2, Buffer.from('a description\0')];
  return tiffOf(isLittle, [[described, [0x8825, 4, [-1]]], position]);
}

/** The content of an APP1 segment with Exif metadata. */
export function exifSegment(tiff: Buffer): Buffer {
  return Buffer.concat([Buffer.from('Exif\0\0'), tiff]);
}

export const xmpHeader = 'http://ns.adobe.com/xap/1.0/\0';

/** An XMP packet of one description with these attributes and properties. */
export function packetOf(attributes: string, properties = ''): string {
  const namespaces =
    'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:p="http://ns.adobe.com/photoshop/1.0/" ' +
    'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmpNote="http://ns.adobe.com/xmp/note/"';
  return `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF ${namespaces}><rdf:Description rdf:about="" ${attributes}>${properties}</rdf:Description></rdf:RDF></x:xmpmeta>`;
}

/** IPTC metadata of these texts, by the numbers of their datasets. */
export function iptcOf(...texts: readonly (readonly [dataset: number, text: string])[]): Buffer {
  return Buffer.concat(
    texts.map(([dataset, text]) =>
      Buffer.from(`\x1c\x02${String.fromCharCode(dataset, 0, text.length)}${text}`, 'latin1'),
    ),
  );
}

/** An image resource of Photoshop; its name and its content are filled up to an even length. */
export function resourceOf(id: number, content: Buffer, name = ''): Buffer {
  const even = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(bytes.length & 1)]);
  const head = Buffer.from([...Buffer.from('8BIM'), id >> 8, id & 0xff]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(content.length);
  return Buffer.concat([head, even(Buffer.from([name.length, ...Buffer.from(name)])), size, even(content)]);
}

/** A picture whose maker notes, with the directory after this header, have these tags; those of Nikon have a byte order of their own. */
export function noted(make: string, header: string, tags: readonly Tag[], isLittle = true): Promise<Buffer> {
  const isNikon = make === 'NIKON';
  // The values of the directory are all within it, but for Nikon's, which has a TIFF header of its own.
  const directory = tiffOf(isLittle, [tags]).subarray(isNikon ? 0 : 8);
  const note = Buffer.concat([Buffer.from(header, 'latin1'), directory]);
  const exif = tiffOf(true, [
    [
      [0x10f, 2, Buffer.from(`${make}\0`)],
      [0x8769, 4, [-1]],
    ],
    [[0x927c, 7, note]],
  ]);
  return jpegWith([1, exifSegment(exif)]);
}

/** The blocks that Samsung's phones append to a picture: a time, perhaps the number of a country, and one more, such as a video. */
export function samsungTrailer(data: Buffer, time = '1700000000000', country?: string): Buffer {
  const blocks = (
    [
      [0x0a01, 'Image_UTC_Data', Buffer.from(time)],
      ...(country === undefined ? [] : [[0x0aa1, 'MCC_Data', Buffer.from(country)] as const]),
      [0x0a30, 'MotionPhoto_Data', data],
    ] as const
  ).map(([type, name, content]) => {
    const head = Buffer.from(`\0\0\0\0\0\0\0\0${name}`, 'latin1');
    head.writeUInt16LE(type, 2);
    head.writeUInt32LE(name.length, 4);
    return Buffer.concat([head, content]);
  });
  const directory = Buffer.alloc(12 + 12 * blocks.length + 8);
  directory.write('SEFH', 'latin1');
  directory.writeUInt32LE(106, 4);
  directory.writeUInt32LE(blocks.length, 8);
  let back = Buffer.concat(blocks).length;
  for (const [index, block] of blocks.entries()) {
    directory.writeUInt16LE(block.readUInt16LE(2), 12 + 12 * index + 2);
    directory.writeUInt32LE(back, 12 + 12 * index + 4);
    directory.writeUInt32LE(block.length, 12 + 12 * index + 8);
    back -= block.length;
  }
  directory.writeUInt32LE(directory.length - 8, directory.length - 8);
  directory.write('SEFT', directory.length - 4, 'latin1');
  return Buffer.concat([...blocks, directory]);
}

export function box(kind: string, ...data: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + Buffer.concat(data).length);
  head.write(kind, 4, 'latin1');
  return Buffer.concat([head, ...data]);
}

/** A tag of iTunes with a name of its own. */
export function freeForm(name: string, value: string): Buffer {
  const zeros = Buffer.alloc(4);
  const parts = [
    box('mean', zeros, Buffer.from('com.apple.iTunes')),
    box('name', zeros, Buffer.from(name)),
    box('data', Buffer.from([0, 0, 0, 1]), zeros, Buffer.from(value)),
  ];
  const handler = box('hdlr', Buffer.alloc(8), Buffer.from('mdirappl'), Buffer.alloc(9));
  return box('udta', box('meta', zeros, handler, box('ilst', box('----', ...parts))));
}

/** A video whose movie has a place, at its end. */
export async function videoWithPlace(): Promise<Buffer> {
  const text = Buffer.from('\0\x14\x15\xc7+48.1372+011.5755/', 'latin1');
  return videoWith(box('udta', box('\xa9xyz', text)));
}

/** A video with another box at the end of its movie. */
export async function videoWith(place: Buffer): Promise<Buffer> {
  const clip = await readFile(fixture('clip.mp4'));
  const movie = clip.indexOf('moov') - 4;
  const size = clip.readUInt32BE(movie);
  const longer = Buffer.from(clip.subarray(movie, movie + size));
  longer.writeUInt32BE(size + place.length);
  // The samples of a movie in front of its data would move.
  if (movie + size !== clip.length) throw new Error('the movie is not at the end');
  return Buffer.concat([clip.subarray(0, movie), longer, place]);
}

/** A picture with extended XMP in two segments, with this attribute there, and twice where it is referred to. */
export async function extended(city = `p:City="${secret}"`): Promise<Buffer> {
  const whole = Buffer.from(packetOf(`${city} dc:format="image/jpeg"`));
  const md5 = createHash('md5').update(whole).digest('hex').toUpperCase();
  const segments = [whole.subarray(0, 300), whole.subarray(300)].map((data, index) => {
    const numbers = Buffer.alloc(8);
    numbers.writeUInt32BE(whole.length);
    numbers.writeUInt32BE(300 * index, 4);
    const header = Buffer.from(`http://ns.adobe.com/xmp/extension/\0${md5}`, 'latin1');
    return [1, Buffer.concat([header, numbers, data])] as const;
  });
  const standard = Buffer.from(`${xmpHeader}${packetOf(`${city} xmpNote:HasExtendedXMP="${md5}" ${city}`)}`);
  return jpegWith([1, standard], ...segments);
}

/** Files that exiftool cannot make: with maker notes, further pictures, videos behind them, and extended XMP. */
export async function handmade(): Promise<{name: string; bytes: Buffer}[]> {
  const picture = await jpegWith([1, exifSegment(exifOf())]);
  const video = await videoWithPlace();
  const joined = (...parts: Buffer[]) => Buffer.concat(parts);
  const location = Buffer.from(`\0\0\0\x01DEU\0\0${secret}\0`);
  return [
    {name: 'further.jpg', bytes: joined(picture, Buffer.alloc(40), picture)},
    {name: 'motion.jpg', bytes: joined(picture, video)},
    {name: 'samsung.jpg', bytes: joined(picture, samsungTrailer(video, undefined, '262'))},
    {name: 'extended.jpg', bytes: await extended()},
    {name: 'nikon.jpg', bytes: await noted('NIKON', 'Nikon\0\x02\x10\0\0', [[0x39, 7, location]])},
    {
      name: 'panasonic.jpg',
      bytes: await noted('Panasonic', 'Panasonic\0\0\0', [[0x6d, 2, Buffer.from('BER\0')]]),
    },
    {name: 'place.mp4', bytes: video},
    {name: 'free-form.mp4', bytes: await videoWith(freeForm('Location', secret))},
    {name: 'city.mp4', bytes: await videoWith(freeForm('city', secret))},
    {name: 'big-endian.jpg', bytes: await jpegWith([1, exifSegment(exifOf(false))])},
    {name: 'exif.tiff', bytes: exifOf()},
  ];
}
