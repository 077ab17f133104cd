import {type RandomAccess, readAt} from '../../lib/files/random-access.ts';
import {isCount} from '../../lib/json.ts';
import {byWord} from '../../lib/object.ts';
import {readBox} from '../tracks/isobmff-tracks.ts';
import {Sections} from '../tracks/sections.ts';
import type {MediaFacts} from './media-facts.ts';

/** The most boxes in a file, or in another box; real files have less than a hundred. */
const mostBoxes = 1_000;

/** The formats of still images by their brands; of the compatible brands, the first format counts. */
const formats = byWord([
  ['avif', 'avif'],
  ['heic', 'heic heix heim heis'],
  ['heif', 'mif1 mif2 miaf'],
]);
const sequences = /^(?:avis|avcs|hev[cmsx]|msf1|jpgs|ev[bm]s|vvis|j2[ik]s|jxss)$/;

interface Box {
  readonly type: string;
  readonly body: Buffer;
}

/** The format of a HEIF or AVIF file by its brands; undefined for any other, also for sequences of images. */
export function heifFormat(head: Buffer): string | undefined {
  if (head.toString('latin1', 4, 8) !== 'ftyp') return undefined;
  const [major = '', , ...compatible] =
    head.toString('latin1', 8, head.readUInt32BE(0)).match(/.{4}/gs) ?? [];
  const own = formats.get(major);
  const formatsOfBrands = compatible.map(brand => formats.get(brand));
  // The general brands leave the format to the others.
  if (own !== undefined) return own === 'heif' && formatsOfBrands.includes('avif') ? 'avif' : own;
  if ([major, ...compatible].some(brand => sequences.test(brand))) return undefined;
  return [...formats.values()].find(format => formatsOfBrands.includes(format));
}

/** Format and size of the primary item (ISO/IEC 23008-12) or its clean aperture, unrotated; throws if damaged. */
export async function probeHeif(bytes: RandomAccess, imageType: string): Promise<MediaFacts> {
  const boxesOfFile = new Sections(bytes, {shortest: 8, most: mostBoxes, read: readBox});
  const {start, end} = (await boxesOfFile.find({start: 0, end: bytes.size}, 'meta')) ?? {start: 0, end: 0};
  // The box is small, and may come after the data of the image.
  if (end - start < 4 || end - start > 4 * 1024 * 1024) throw new Error('no meta box');
  // The version of the box comes first.
  const meta = boxesIn(await readAt(bytes, start + 4, end - start - 4));
  const primary = onlyBoxOf(meta, 'pitm');
  const item = primary[0] === 0 ? primary.readUInt16BE(4) : primary.readUInt32BE(4);
  const boxes = boxesIn(onlyBoxOf(meta, 'iprp'));
  const properties = boxesIn(onlyBoxOf(boxes, 'ipco'));
  const indices = boxes.filter(({type}) => type === 'ipma').flatMap(({body}) => propertiesOf(body, item));
  const own = indices.map(index => properties[index - 1]).filter(box => box !== undefined);
  const [extent, ...others] = own.filter(({type}) => type === 'ispe');
  if (extent === undefined || others.length > 0) return {imageType};
  const whole = {width: extent.body.readUInt32BE(4), height: extent.body.readUInt32BE(8)};
  const clap = own.find(({type}) => type === 'clap')?.body;
  const width = clap === undefined ? whole.width : clap.readUInt32BE(0) / clap.readUInt32BE(4);
  const height = clap === undefined ? whole.height : clap.readUInt32BE(8) / clap.readUInt32BE(12);
  const isSize = isCount(width) && isCount(height) && width <= whole.width && height <= whole.height;
  return isSize ? {width, height, imageType} : {imageType};
}

/** The boxes in the content of another one; throws if one is longer than that. */
function boxesIn(bytes: Buffer): Box[] {
  const boxes: Box[] = [];
  for (let at = 0; at + 8 <= bytes.length && boxes.length < mostBoxes; ) {
    const box = readBox(bytes.subarray(at, at + 16), at, bytes.length);
    if (box === undefined) throw new Error('a box is longer than its parent');
    boxes.push({type: box.kind, body: bytes.subarray(box.start, box.end)});
    at = box.end;
  }
  return boxes;
}

/** The content of the only box of this type; throws if there is none or more than one. */
function onlyBoxOf(boxes: readonly Box[], type: string): Buffer {
  const [box, ...others] = boxes.filter(box => box.type === type);
  if (box === undefined || others.length > 0) throw new Error(`not one ${type} box`);
  return box.body;
}

/** The indices of the properties of an item, from 1; empty if the box does not mention the item. */
function propertiesOf(ipma: Buffer, itemId: number): number[] {
  const idLength = ipma[0] === 0 ? 2 : 4;
  const indexLength = (ipma.readUInt8(3) & 1) === 1 ? 2 : 1;
  const entries = ipma.readUInt32BE(4);
  let at = 8;
  for (let entry = 0; entry < entries; entry += 1) {
    const id = ipma.readUIntBE(at, idLength);
    const count = ipma.readUInt8(at + idLength);
    at += idLength + 1;
    if (id === itemId)
      // The first bit says whether a reader must understand the property.
      return Array.from({length: count}, (_, index) =>
        indexLength === 2 ? ipma.readUInt16BE(at + 2 * index) & 0x7fff : ipma.readUInt8(at + index) & 0x7f,
      );
    at += count * indexLength;
  }
  return [];
}
