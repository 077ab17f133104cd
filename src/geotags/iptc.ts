import type {Part} from './part.ts';
import {refuseMetadata, UnstrippableError} from './unstrippable.ts';

/** The datasets of record 2 that tell a place: content location, city, sub-location, state, country (IIM 4.2). */
const locations = new Set([26, 27, 90, 92, 95, 100, 101]);

const place = 'IPTC metadata';

/** Overwrites the datasets of IPTC metadata that tell a place with spaces. */
export async function walkIptc(part: Part): Promise<void> {
  const bytes = Buffer.from(await part.read(0, part.size));
  refuseMetadata(bytes, place);
  let at = 0;
  while (at < bytes.length && bytes[at] === 0x1c) {
    if (at + 5 > bytes.length) throw new UnstrippableError(place);
    const length = bytes.readUInt16BE(at + 3);
    const end = at + 5 + length;
    // The highest bit marks a length of more than 32 KiB, which no place has.
    if (length >= 0x8000 || end > bytes.length) throw new UnstrippableError(place);
    if (bytes[at + 1] === 2 && locations.has(bytes[at + 2] ?? 0)) bytes.fill(' ', at + 5, end);
    at = end;
  }
  // It may end in filling bytes.
  if (bytes.subarray(at).some(byte => byte !== 0)) throw new UnstrippableError(place);
  await part.write(0, bytes);
}
