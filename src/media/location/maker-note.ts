import {Tiff} from './ifd.ts';
import type {Part} from './part.ts';
import {refuseNamedLocation, UnstrippableError} from './unstrippable.ts';

/** Makers whose notes have tags for places (exiftool's tables), with their numbers. */
const makers: readonly (readonly [make: RegExp, tags: readonly number[]])[] = [
  [/^(?:panasonic|leica)/i, [0x67, 0x69, 0x6b, 0x6d, 0x6f, 0x80]],
  [/^nikon/i, [0x39, 0xc3]],
  [/^samsung/i, [0x30, 0x31]],
];

/** What may be before the directory of a maker. */
const headers = ['Panasonic\0\0\0', 'LEICA\0\0\0', 'Nikon\0\x01\0'];

/** Zeroes the places in the maker notes at `noteAt` in a TIFF; refuses notes that name one in another way. */
export function walkMakerNote(note: Part, tiff: Tiff, noteAt: number, make: string): void {
  const bytes = note.readAll();
  refuseNamedLocation(bytes, 'maker notes');
  const head = bytes.toString('latin1', 0, 18);
  const tags = makers.find(([pattern]) => pattern.test(make) || pattern.test(head))?.[1];
  if (tags === undefined) return;
  // Nikon's have a TIFF header of their own, from which their offsets count.
  const base = head.startsWith('Nikon\0\x02') && head.length === 18 ? noteAt + 10 : 0;
  const noteTiff = base === 0 ? tiff : new Tiff(tiff.part.slice(base), head[10] === 'I');
  const at =
    base === 0 ? noteAt + (headers.find(one => head.startsWith(one)) ?? '').length : noteTiff.number(4, 4);
  for (const {tag, valueAt, valueSize} of noteTiff.directory(at).entries) {
    if (!tags.includes(tag)) continue;
    const start = base + valueAt - noteAt;
    if (start < 0 || start + valueSize > note.size) throw new UnstrippableError('maker notes');
    note.zero(start, valueSize);
  }
}
