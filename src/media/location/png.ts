import {crc32, inflateSync} from 'node:zlib';
import {undefinedIfThrows} from '../../lib/system-code.ts';
import {Part} from './part.ts';
import {walkResources} from './photoshop.ts';
import {walkExif} from './tiff.ts';
import {walkTrailer} from './trailer.ts';
import {codesIn, UnstrippableError, unknownKind} from './unstrippable.ts';
import {isLocation, walkXmp} from './xmp.ts';

/** Chunks in which no location can be (PNG, third edition; the extensions; those of Apple and ImageMagick). */
const harmless = codesIn(
  'IHDR PLTE IDAT tRNS gAMA cHRM sRGB iCCP sBIT bKGD hIST pHYs sPLT tIME acTL fcTL fdAT cICP mDCV mDCv cLLI cLLi oFFs pCAL ' +
    'sCAL sTER gIFg gIFx vpAg iDOT orNT caNv CgBI',
);

/** Blanks the location in a PNG picture. */
export async function walkPng(file: Part): Promise<void> {
  let at = 8;
  for (let kind = ''; kind !== 'IEND'; ) {
    const head = await file.step(() => file.read(at, 8));
    kind = head.toString('latin1', 4);
    const chunk = file.slice(at + 4, 4 + head.readUInt32BE(0) + 4);
    await file.step(() => walkChunk(kind, chunk));
    at += 4 + chunk.size;
  }
  await walkTrailer(file.slice(at));
}

/** Blanks the location in a chunk (kind, data, checksum) and corrects its checksum; refuses unknown kinds. */
function walkChunk(kind: string, chunk: Part): void {
  if (kind === 'IEND' || harmless.has(kind)) return;
  const data = chunk.slice(4, chunk.size - 8);
  const before = data.readAll();
  if (kind === 'eXIf') walkExif(data);
  else if (textHeads.has(kind)) walkText(kind, before, data);
  else throw unknownKind('a chunk', kind);
  if (data.readAll().equals(before)) return;
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(chunk.read(0, chunk.size - 4)));
  chunk.write(chunk.size - 4, sum);
}

/** What precedes the text in a chunk: its keyword, and whether it is compressed, languages and a translated keyword. */
const textHeads = new Map([
  ['tEXt', /^([^\0]*)\0/],
  ['zTXt', /^([^\0]*)\0./s],
  ['iTXt', /^([^\0]*)\0(.).[^\0]*\0[^\0]*\0/s],
]);

/** Blanks the location in a text by its keyword, or refuses a compressed one with a location; trusts other keywords. */
function walkText(kind: string, bytes: Buffer, data: Part): void {
  const [head, keyword, flag] = textHeads.get(kind)?.exec(bytes.toString('latin1')) ?? [];
  if (head === undefined || keyword === undefined) throw new UnstrippableError('a text without a keyword');
  const isCompressed = kind === 'zTXt' || (kind === 'iTXt' && flag !== '\0');
  let text = data.slice(head.length).withOwner();
  if (isCompressed) {
    const inflate = () => inflateSync(bytes.subarray(head.length), {maxOutputLength: 16 * 2 ** 20});
    const inflated = undefinedIfThrows(inflate);
    if (inflated === undefined) throw new UnstrippableError('a compressed text');
    text = Part.ofBytes(inflated);
  }
  if (keyword === 'XML:com.adobe.xmp') walkXmp(text);
  else if (isLocation(keyword)) text.write(0, Buffer.alloc(text.size, ' '));
  else if (/^raw profile type /i.test(keyword)) refuseProfile(keyword, text.readAll());
  if (isCompressed && text.patches().length > 0)
    throw new UnstrippableError(`the compressed text "${keyword}"`);
}

/** Refuses a profile in hexadecimal digits, as ImageMagick writes it, that has a location. */
function refuseProfile(keyword: string, text: Buffer): void {
  const [, digits = ''] = /^\n[^\n]*\n *\d+\n([\da-f\s]*)$/i.exec(text.toString('latin1')) ?? [];
  const profile = Part.ofBytes(Buffer.from(digits.replace(/\s/g, ''), 'hex'));
  if (profile.readUpTo(6).toString('latin1') === 'Exif\0\0') walkExif(profile.slice(6));
  else if (/ (?:iptc|8bim)$/i.test(keyword)) walkResources(profile);
  else if (/ xmp$/i.test(keyword)) walkXmp(profile);
  else if (!/ ic[cm]$/i.test(keyword)) throw new UnstrippableError(`the text "${keyword}"`);
  if (profile.patches().length > 0) throw new UnstrippableError(`the text "${keyword}"`);
}
