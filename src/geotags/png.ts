import {crc32, inflateSync} from 'node:zlib';
import {Part} from './part.ts';
import {walkResources} from './photoshop.ts';
import {walkTiff} from './tiff.ts';
import {walkTrailer} from './trailer.ts';
import {UnstrippableError} from './unstrippable.ts';
import {isLocation, walkXmp} from './xmp.ts';

/** Chunks in which no location can be (PNG, third edition; the extensions; those of Apple and ImageMagick). */
const harmless = new Set(
  (
    'IHDR PLTE IDAT tRNS gAMA cHRM sRGB iCCP sBIT bKGD hIST pHYs sPLT tIME acTL fcTL fdAT cICP mDCV mDCv cLLI cLLi oFFs pCAL ' +
    'sCAL sTER gIFg gIFx vpAg iDOT orNT caNv CgBI'
  ).split(' '),
);

/** The longest text that a compressed one may be. */
const longestText = 16 * 2 ** 20;

/** Blanks the location in a PNG picture. */
export async function walkPng(file: Part): Promise<void> {
  let at = 8;
  for (let kind = ''; kind !== 'IEND'; ) {
    const head = await file.read(at, 8);
    kind = head.toString('latin1', 4);
    const chunk = file.slice(at + 4, 4 + head.readUInt32BE(0) + 4);
    const data = chunk.slice(4, chunk.size - 8);
    if (['tEXt', 'zTXt', 'iTXt', 'eXIf'].includes(kind)) await walkChunk(kind, data, chunk);
    else if (kind !== 'IEND' && !harmless.has(kind))
      throw new UnstrippableError(`a chunk "${kind.replace(/[^ -~]/g, '?')}"`);
    at += 4 + chunk.size;
  }
  await walkTrailer(file.slice(at));
}

async function walkChunk(kind: string, data: Part, chunk: Part): Promise<void> {
  const before = await data.read(0, data.size);
  if (kind === 'eXIf') await walkTiff(data.unclaimed());
  else await walkText(kind, before, data);
  if ((await data.read(0, data.size)).equals(before)) return;
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(await chunk.read(0, chunk.size - 4)));
  await chunk.write(chunk.size - 4, sum);
}

/** Blanks the location in a text; one that is compressed cannot be changed. */
async function walkText(kind: string, bytes: Buffer, data: Part): Promise<void> {
  const keywordEnd = endOf(bytes, 0);
  const keyword = bytes.toString('latin1', 0, keywordEnd - 1);
  let start = keywordEnd;
  let isCompressed = kind === 'zTXt';
  if (isCompressed) start += 1;
  if (kind === 'iTXt') {
    isCompressed = bytes[start] !== 0;
    start = endOf(bytes, endOf(bytes, start + 2));
  }
  if (!isCompressed) return walkPlain(keyword, data.slice(start).owned());
  const text = Part.ofBytes(inflated(bytes.subarray(start)));
  await walkPlain(keyword, text);
  if ((await text.patches()).length > 0) throw new UnstrippableError(`the compressed text "${keyword}"`);
}

/** Where the bytes after the next zero begin. */
function endOf(bytes: Buffer, start: number): number {
  const end = bytes.indexOf(0, start);
  if (end === -1) throw new UnstrippableError('a text without a keyword');
  return end + 1;
}

function inflated(bytes: Buffer): Buffer {
  try {
    return inflateSync(bytes, {maxOutputLength: longestText});
  } catch {
    throw new UnstrippableError('a compressed text');
  }
}

async function walkPlain(keyword: string, text: Part): Promise<void> {
  if (keyword === 'XML:com.adobe.xmp') await walkXmp(text);
  else if (isLocation(keyword)) await text.write(0, Buffer.alloc(text.size, ' '));
  else if (/^raw profile type /i.test(keyword)) await checkProfile(keyword, await text.read(0, text.size));
}

/** Refuses a profile in hexadecimal digits, as ImageMagick writes it, that has a location. */
async function checkProfile(keyword: string, text: Buffer): Promise<void> {
  const [, digits = ''] = /^\n[^\n]*\n *\d+\n([\da-f\s]*)$/i.exec(text.toString('latin1')) ?? [];
  const bytes = Buffer.from(digits.replace(/\s/g, ''), 'hex');
  const isExif = bytes.toString('latin1', 0, 6) === 'Exif\0\0';
  const profile = Part.ofBytes(isExif ? bytes.subarray(6) : bytes);
  if (isExif) await walkTiff(profile);
  else if (/ (?:iptc|8bim)$/i.test(keyword)) await walkResources(profile);
  else if (/ xmp$/i.test(keyword)) await walkXmp(profile);
  else if (!/ ic[cm]$/i.test(keyword)) throw new UnstrippableError(`the text "${keyword}"`);
  if ((await profile.patches()).length > 0) throw new UnstrippableError(`the text "${keyword}"`);
}
