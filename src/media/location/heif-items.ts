import {type Box, boxesIn} from './boxes.ts';
import {Part} from './part.ts';
import {walkExif} from './tiff.ts';
import {codesIn, refuseMetadata, UnstrippableError, unknownKind} from './unstrippable.ts';
import {walkXmp} from './xmp.ts';

/** Types of items that are coded pictures, or made from other items (ISO/IEC 23008-12). */
const pictureTypes = codesIn('hvc1 lhv1 av01 avc1 jpeg grid iovl iden tmap unci');

/** Blanks the location in the items of a HEIF file. */
export function walkItems(file: Part, meta: readonly Box[]): void {
  // The content of the box of a kind: of two, readers might take either.
  const onlyBox = (kind: string) => {
    const [first, ...others] = meta.filter(box => box.kind === kind);
    if (others.length > 0) throw new UnstrippableError(`a file with several boxes "${kind}"`);
    return first?.content;
  };
  const information = onlyBox('iinf');
  const locations = onlyBox('iloc');
  if (information === undefined && locations === undefined) return;
  if (information === undefined || locations === undefined)
    throw new UnstrippableError('items without a place');
  const places = readLocations(locations.readAll(), file, onlyBox('idat'));
  const items = readItems(information);
  for (const [id, kind] of items) walkItem(places.get(id), kind);
  // What no item is called may be anything: its bytes stay as they are.
  for (const [id, part] of places) if (!items.has(id)) part.claim(0, part.size);
}

/** Blanks Exif and XMP, claims a picture, refuses other types. `kind`: the type, with any content type. */
function walkItem(part: Part | undefined, kind: string): void {
  const isPicture = pictureTypes.has(kind);
  if (part === undefined) {
    if (!isPicture) throw new UnstrippableError(`an item "${kind}" without a place`);
  } else if (kind === 'Exif') {
    // The TIFF header comes after its own offset.
    walkExif(part.slice(4 + part.read(0, 4).readUInt32BE(0)));
  } else if (kind === 'mime application/rdf+xml') {
    const packet = part.withSharedOwner();
    packet.claim(0, packet.size);
    walkXmp(packet);
  } else if (isPicture) {
    part.claim(0, part.size);
    if (kind === 'jpeg') refuseMetadata(part.readUpTo(2 ** 16), 'an item "jpeg"');
  } else {
    throw unknownKind('an item', kind);
  }
}

/** The kinds of the items, by their numbers (ISO/IEC 14496-12, 8.11.6). */
function readItems(information: Part): Map<number, string> {
  const isLong = information.read(0, 1)[0] !== 0;
  const items = new Map<number, string>();
  for (const {kind, content} of boxesIn(information.slice(isLong ? 8 : 6))) {
    const entry = content.readAll();
    const version = entry[0] ?? 0;
    const start = version === 2 ? 8 : 10;
    if (kind !== 'infe' || (version !== 2 && version !== 3) || entry.length < start + 4)
      throw new UnstrippableError('items of an unknown kind');
    const id = entry.readUIntBE(4, start - 6);
    if (items.has(id)) throw new UnstrippableError('two items with one number');
    const type = entry.toString('latin1', start, start + 4);
    const [, contentType = ''] = entry.toString('latin1', start + 4).split('\0');
    items.set(id, type === 'mime' ? `${type} ${contentType}` : type);
  }
  return items;
}

/** Where the items are, by their numbers (ISO/IEC 14496-12, 8.11.3); an item without bytes has no part. */
function readLocations(bytes: Buffer, file: Part, data: Part | undefined): Map<number, Part> {
  let at = 4;
  /** Reads the next number of this many bytes, the most significant first. */
  const next = (size: number): number => {
    at += size;
    if (at > bytes.length || size > 8) throw new UnstrippableError('items whose places are wrong');
    return bytes.subarray(at - size, at).reduce((number, byte) => 256 * number + byte, 0);
  };
  const version = bytes[0] ?? 0;
  const numberSize = version < 2 ? 2 : 4;
  const sizes = next(2);
  const [offsetSize, lengthSize, baseSize] = [sizes >> 12, (sizes >> 8) & 15, (sizes >> 4) & 15];
  const indexSize = version === 0 ? 0 : sizes & 15;
  const places = new Map<number, Part>();
  let pieces = 0;
  for (let left = next(numberSize); left > 0; left -= 1) {
    const id = next(numberSize);
    const method = version === 0 ? 0 : next(2) & 15;
    const isElsewhere = next(2) !== 0;
    const base = next(baseSize);
    const extents: Part[] = [];
    for (let count = next(2); count > 0; count -= 1, pieces += 1) {
      next(indexSize);
      const offset = base + next(offsetSize);
      const length = next(lengthSize);
      // The other methods make an item from others, which is done for pictures only.
      const source = method === 0 ? file : data;
      // Real files have a few pieces for each tile of a picture; two may be of the same bytes.
      if (isElsewhere || method > 1 || source === undefined || pieces > 100_000)
        throw new UnstrippableError('items whose places are unknown');
      if (length > 0) extents.push(source.slice(offset, length));
    }
    if (places.has(id)) throw new UnstrippableError('two places of one item');
    if (extents.length > 0) places.set(id, Part.join(extents));
  }
  return places;
}
