import {hash} from 'node:crypto';
import type {Part} from './part.ts';
import {refuseMetadata, UnstrippableError} from './unstrippable.ts';
import {walkXmp} from './xmp.ts';

/** The identifiers of image resources (Adobe Photoshop File Formats Specification). */
const resource = {iptc: 0x404, xmp: 0x424, digest: 0x425, exif: [0x422, 0x423], thumbnail: [0x409, 0x40c]};

/** Blanks the location in IPTC and XMP among Photoshop's image resources; trusts unlisted resources to have none. */
export function walkResources(part: Part): void {
  const place = 'Photoshop metadata';
  let iptc: {before: string; value: Part} | undefined;
  let digest: Part | undefined;
  let at = 0;
  while (part.size - at >= 12) {
    const head = part.read(at, 7);
    const start = at + 6 + (((head[6] ?? 0) + 2) & ~1) + 4;
    const size = part.read(start - 4, 4).readUInt32BE(0);
    if (!/^(?:8BIM|PHUT|DCSR|AgHg|MeSa)/.test(head.toString('latin1'))) throw new UnstrippableError(place);
    const value = part.slice(start, size).withOwner();
    const id = head.readUInt16BE(4);
    if (id === resource.iptc) iptc = {before: hash('md5', value.readAll()), value};
    if (id === resource.digest) digest = value;
    if (id === resource.iptc) walkIptc(value);
    if (id === resource.xmp) walkXmp(value);
    if (resource.exif.includes(id)) throw new UnstrippableError('Exif metadata of Photoshop');
    if (resource.thumbnail.includes(id)) refuseMetadata(value.readAll(), 'a thumbnail of Photoshop');
    at = Math.min(start + size + (size & 1), part.size);
  }
  // The last one may be followed by a filling byte.
  if (part.readUpTo(12, at).some(byte => byte !== 0)) throw new UnstrippableError(place);
  // A digest that was right stays so, or readers prefer the IPTC metadata over XMP.
  if (iptc !== undefined && digest?.size === 16 && digest.readAll().toString('hex') === iptc.before)
    digest.write(0, Buffer.from(hash('md5', iptc.value.readAll()), 'hex'));
}

/** Overwrites the datasets of IPTC metadata that tell a place with spaces. */
export function walkIptc(part: Part): void {
  const place = 'IPTC metadata';
  const bytes = Buffer.from(part.readAll());
  refuseMetadata(bytes, place);
  let at = 0;
  while (at < bytes.length && bytes[at] === 0x1c) {
    // The highest bit marks a length of more than 32 KiB, which no place has.
    const length = at + 5 > bytes.length ? 0x8000 : bytes.readUInt16BE(at + 3);
    const end = at + 5 + length;
    if (length >= 0x8000 || end > bytes.length) throw new UnstrippableError(place);
    // Destination, content location, city, sub-location, state, country (IIM 4.2).
    const isPlace = /^(?:1:5|2:(?:26|27|90|92|95|100|101))$/.test(`${bytes[at + 1]}:${bytes[at + 2]}`);
    if (isPlace) bytes.fill(' ', at + 5, end);
    at = end;
  }
  // It may end in filling bytes.
  if (bytes.subarray(at).some(byte => byte !== 0)) throw new UnstrippableError(place);
  part.write(0, bytes);
}
