import {type Layout, numberAt, readIfd} from './ifd.ts';
import type {Part} from './part.ts';
import {refuseNamedLocation, UnstrippableError} from './unstrippable.ts';

/** Makers whose notes have tags for places (exiftool's tables), with their numbers. */
const makers: readonly (readonly [make: RegExp, tags: readonly number[]])[] = [
  [/^(?:panasonic|leica)/i, [0x67, 0x69, 0x6b, 0x6d, 0x6f, 0x80]],
  [/^nikon/i, [0x39, 0xc3]],
  [/^samsung/i, [0x30, 0x31]],
];

/** Zeroes the places in maker notes; notes that name one in another way are refused. */
export async function walkMakerNote(
  note: Part,
  tiff: Part,
  noteAt: number,
  layout: Layout,
  make: string,
): Promise<void> {
  const bytes = await note.read(0, note.size);
  refuseNamedLocation(bytes, 'maker notes');
  const tags = makers.find(
    ([pattern]) => pattern.test(make) || pattern.test(bytes.toString('latin1', 0, 10)),
  )?.[1];
  if (tags === undefined) return;
  const directory = directoryOf(bytes, noteAt, layout);
  const base = directory.isOwn ? tiff.slice(directory.base) : tiff;
  const {entries} = await readIfd(base, directory.at, directory.layout);
  for (const {tag, valueAt, valueSize, isOutside} of entries) {
    if (!tags.includes(tag)) continue;
    const at = directory.base + valueAt;
    const isWithin = at >= noteAt && at + valueSize <= noteAt + note.size;
    if (isOutside && !isWithin) throw new UnstrippableError('maker notes');
    await note.zero(at - noteAt, valueSize);
  }
}

interface Directory {
  /** Where it is, relative to the base of its offsets. */
  readonly at: number;
  /** The base of its offsets, relative to the TIFF header. */
  readonly base: number;
  readonly isOwn: boolean;
  readonly layout: Layout;
}

const headers = ['Panasonic\0\0\0', 'LEICA\0\0\0', 'Nikon\0\x01\0'];

/** Where the directory of maker notes is: after a header of its maker, with or without a TIFF header of its own. */
function directoryOf(note: Buffer, noteAt: number, layout: Layout): Directory {
  const head = note.toString('latin1', 0, 18);
  if (head.startsWith('Nikon\0\x02') && head.length === 18) {
    const isLittle = head[10] === 'I';
    const at = numberAt(note, 14, 4, isLittle);
    return {at, base: noteAt + 10, isOwn: true, layout: {isLittle, isBig: false}};
  }
  const header = headers.find(one => head.startsWith(one)) ?? '';
  return {at: noteAt + header.length, base: 0, isOwn: false, layout};
}
