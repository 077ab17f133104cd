import {type Box, boxesOf} from './boxes.ts';
import {Part} from './part.ts';
import {walkTiff} from './tiff.ts';
import {refuseMetadata, UnstrippableError} from './unstrippable.ts';
import {walkXmp} from './xmp.ts';

/** Types of items that are coded pictures, or made from other items (ISO/IEC 23008-12). */
const pictureTypes = new Set([
  'hvc1',
  'lhv1',
  'av01',
  'avc1',
  'jpeg',
  'grid',
  'iovl',
  'iden',
  'tmap',
  'unci',
]);

interface Item {
  readonly type: string;
  readonly contentType: string;
}

/** Blanks the location in the items of a HEIF file. */
export async function walkItems(file: Part, meta: readonly Box[]): Promise<void> {
  const one = (kind: string) => {
    const [first, ...others] = meta.filter(box => box.kind === kind);
    if (others.length > 0) throw new UnstrippableError(`a file with several boxes "${kind}"`);
    return first?.content;
  };
  const information = one('iinf');
  const locations = one('iloc');
  if (information === undefined && locations === undefined) return;
  if (information === undefined || locations === undefined)
    throw new UnstrippableError('items without a place');
  const items = await readItems(information);
  const places = await readLocations(locations, file, one('idat'));
  for (const [id, {type, contentType}] of items) {
    const part = places.get(id);
    if (part === undefined && !pictureTypes.has(type))
      throw new UnstrippableError(`an item "${type}" without a place`);
    if (part !== undefined) await walkItem(part, type, contentType);
  }
  for (const [id, part] of places) if (!items.has(id)) part.claim(0, part.size);
}

async function walkItem(part: Part, type: string, contentType: string): Promise<void> {
  if (type === 'Exif') {
    // The TIFF header comes after its own offset.
    const offset = (await part.read(0, 4)).readUInt32BE(0);
    await walkTiff(part.slice(4 + offset).unclaimed());
  } else if (type === 'mime' && contentType === 'application/rdf+xml') {
    await walkXmp(part.owned());
  } else if (pictureTypes.has(type)) {
    part.claim(0, part.size);
    if (type === 'jpeg') refuseMetadata(await part.read(0, Math.min(part.size, 2 ** 16)), 'an item "jpeg"');
  } else {
    throw new UnstrippableError(`an item "${type.replace(/[^ -~]/g, '?')}"`);
  }
}

/** The types of the items, by their numbers (ISO/IEC 14496-12, 8.11.6). */
async function readItems(information: Part): Promise<Map<number, Item>> {
  const isLong = (await information.read(0, 1))[0] !== 0;
  const items = new Map<number, Item>();
  for await (const {kind, content} of boxesOf(information.slice(isLong ? 8 : 6))) {
    const entry = await content.read(0, content.size);
    const version = entry[0] ?? 0;
    const start = version === 2 ? 8 : 10;
    if (kind !== 'infe' || (version !== 2 && version !== 3) || entry.length < start + 4)
      throw new UnstrippableError('items of an unknown kind');
    const id = version === 2 ? entry.readUInt16BE(4) : entry.readUInt32BE(4);
    const [, contentType = ''] = entry.toString('latin1', start + 4).split('\0');
    if (items.has(id)) throw new UnstrippableError('two items with one number');
    items.set(id, {type: entry.toString('latin1', start, start + 4), contentType});
  }
  return items;
}

/** Where the items are, by their numbers (ISO/IEC 14496-12, 8.11.3). */
async function readLocations(
  locations: Part,
  file: Part,
  data: Part | undefined,
): Promise<Map<number, Part>> {
  const bytes = await locations.read(0, locations.size);
  let at = 4;
  const next = (size: number): number => {
    if (at + size > bytes.length || size > 8) throw new UnstrippableError('items whose places are wrong');
    at += size;
    if (size === 0) return 0;
    // Of eight bytes, those that would not fit into a number are zero.
    if (size === 8 && bytes.readUInt16BE(at - 8) !== 0)
      throw new UnstrippableError('items whose places are wrong');
    return bytes.readUIntBE(at - Math.min(size, 6), Math.min(size, 6));
  };
  const version = bytes[0] ?? 0;
  const sizes = next(2);
  const [offsetSize, lengthSize, baseSize] = [sizes >> 12, (sizes >> 8) & 15, (sizes >> 4) & 15];
  const indexSize = version === 0 ? 0 : sizes & 15;
  const places = new Map<number, Part>();
  for (let left = next(version < 2 ? 2 : 4); left > 0; left -= 1) {
    const id = next(version < 2 ? 2 : 4);
    const method = version === 0 ? 0 : next(2) & 15;
    const isElsewhere = next(2) !== 0;
    const base = next(baseSize);
    const extents: Part[] = [];
    for (let count = next(2); count > 0; count -= 1) {
      next(indexSize);
      const offset = base + next(offsetSize);
      const length = next(lengthSize);
      // The other methods make an item from others, which is done for pictures only.
      const source = method === 0 ? file : data;
      if (isElsewhere || method > 1 || source === undefined || extents.length > 1_000)
        throw new UnstrippableError('items whose places are unknown');
      if (length > 0) extents.push(source.slice(offset, length));
    }
    if (places.has(id)) throw new UnstrippableError('two places of one item');
    if (extents.length > 0) places.set(id, Part.joined(extents));
  }
  return places;
}
