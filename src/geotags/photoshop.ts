import {createHash} from 'node:crypto';
import {walkIptc} from './iptc.ts';
import type {Part} from './part.ts';
import {refuseMetadata, UnstrippableError} from './unstrippable.ts';
import {walkXmp} from './xmp.ts';

/** The identifiers of image resources (Adobe Photoshop File Formats Specification). */
const resource = {
  thumbnailOld: 0x409,
  thumbnail: 0x40c,
  iptc: 0x404,
  exif: 0x422,
  exif3: 0x423,
  xmp: 0x424,
  digest: 0x425,
};

const place = 'Photoshop metadata';

/** Blanks the location in Photoshop's image resources. */
export async function walkResources(part: Part): Promise<void> {
  let iptc: {before: string; value: Part} | undefined;
  let digest: Part | undefined;
  for (let at = 0; at < part.size; ) {
    // The last one may be followed by a filling byte.
    if (part.size - at < 12) {
      if ((await part.read(at, part.size - at)).some(byte => byte !== 0)) throw new UnstrippableError(place);
      break;
    }
    const head = await part.read(at, 7);
    const nameSize = ((head[6] ?? 0) + 2) & ~1;
    const start = at + 6 + nameSize + 4;
    const size = (await part.read(start - 4, 4)).readUInt32BE(0);
    if (!/^(?:8BIM|PHUT|DCSR|AgHg|MeSa)/.test(head.toString('latin1'))) throw new UnstrippableError(place);
    const value = part.slice(start, size).owned();
    const id = head.readUInt16BE(4);
    if (id === resource.iptc) iptc = {before: await md5(value), value};
    if (id === resource.digest) digest = value;
    await walkResource(id, value);
    at = Math.min(start + size + (size & 1), part.size);
  }
  if (iptc === undefined || digest?.size !== 16) return;
  // A digest that was right stays so, or readers prefer the IPTC metadata over XMP.
  if ((await digest.read(0, 16)).toString('hex') === iptc.before)
    await digest.write(0, Buffer.from(await md5(iptc.value), 'hex'));
}

async function walkResource(id: number, value: Part): Promise<void> {
  if (id === resource.iptc) await walkIptc(value);
  if (id === resource.xmp) await walkXmp(value);
  if (id === resource.exif || id === resource.exif3)
    throw new UnstrippableError('Exif metadata of Photoshop');
  if (id === resource.thumbnail || id === resource.thumbnailOld)
    refuseMetadata(await value.read(0, value.size), 'a thumbnail of Photoshop');
}

async function md5(part: Part): Promise<string> {
  return createHash('md5')
    .update(await part.read(0, part.size))
    .digest('hex');
}
