import {byWord} from '../../../lib/object.ts';

/** mime-types' types of the most common extensions, since its own table takes time to load. */
export const commonTypes = new Map([
  ['avi', 'video/x-msvideo'],
  ['avif', 'image/avif'],
  ['gif', 'image/gif'],
  ['heic', 'image/heic'],
  ['jpeg', 'image/jpeg'],
  ['jpg', 'image/jpeg'],
  ['mkv', 'video/x-matroska'],
  ['mov', 'video/quicktime'],
  ['mp4', 'video/mp4'],
  ['png', 'image/png'],
  ['svg', 'image/svg+xml'],
  ['webm', 'video/webm'],
  ['webp', 'image/webp'],
]);

/** file-type's names of types that mime-types, or the table above, names differently. */
const aliases = new Map([
  ['image/icns', 'image/x-icns'],
  ['image/j2c', 'image/x-jp2-codestream'],
  ['image/mj2', 'video/mj2'],
  ['image/vnd.ms-photo', 'image/jxr'],
  ['image/x-fujifilm-raf', 'image/x-fuji-raf'],
  ['image/x-icon', 'image/vnd.microsoft.icon'],
  ['video/matroska', 'video/x-matroska'],
  ['video/mp1s', 'video/mpeg'],
  ['video/mp2p', 'video/mpeg'],
  ['video/vnd.avi', 'video/x-msvideo'],
]);

/** Raw pictures that are TIFFs, often with no mark except a private tag. */
const rawTiffs =
  `adobe-dng canon-cr2 dcraw epson-erf gopro-gpr hasselblad-3fr hasselblad-fff kodak-dcr kodak-k25 kodak-kdc leaf-mos
  mamiya-mef nikon-nef nikon-nrw panasonic-rw panasonic-rw2 pentax-pef phaseone-iiq samsung-srw sinar-sti sony-arw sony-sr2
  sony-srf`
    .split(/\s+/)
    .map(kind => `image/x-${kind}`);

/** Types whose bytes cannot or need not be distinguished: within a line, the file's name decides. */
const families = [
  // The same container; only the extension distinguishes them.
  'video/x-ms-asf video/x-ms-wmv video/x-ms-wm',
  // Cameras and phones write .heic and .heif with any of HEIF's brands.
  'image/heif image/heic image/heif-sequence image/heic-sequence image/avci image/avcs',
  // An animated PNG is also a PNG.
  'image/png image/apng',
  `image/tiff ${rawTiffs.join(' ')}`,
  // Canon's videos have the brand of its pictures.
  'image/x-canon-cr3 video/x-canon-crm',
  // MPEG-4 files that differ only in the major brand, and segments of streams.
  'video/mp4 video/x-m4v video/x-f4v video/iso.segment',
  // A progressive JPEG, a JPEG with several pictures, and a video of JPEGs.
  'image/jpeg image/pjpeg image/mpo video/x-mjpeg',
  // A DVD's VOB is an MPEG program stream.
  'video/mpeg video/x-ms-vob',
  // The same format before and after its standard.
  'image/jxr image/vnd.ms-photo',
  // mime-types has one type for two formats with the extension .ras.
  'image/x-cmu-raster image/x-sun-raster',
  ['any', 'arbitrary', 'bit', 'gray', 'pix'].map(kind => `image/x-portable-${kind}map`).join(' '),
  // RGB is an older name of SGI's format.
  'image/sgi image/x-rgb',
].map(types => types.split(' '));

/** Types of bytes that may have a more specific type, which only the name shows. */
const refinements = new Map<string, readonly string[]>([
  ['image/tiff', rawTiffs],
  ['image/x-adobe-dng', ['image/x-gopro-gpr']],
  ['image/x-nikon-nef', ['image/x-nikon-nrw']],
  ['image/x-panasonic-rw2', ['image/x-panasonic-rw']],
  ['image/x-sony-arw', ['image/x-sony-sr2', 'image/x-sony-srf']],
  ['image/jpeg', ['image/mpo', 'video/x-mjpeg']],
  ['video/mp4', ['video/iso.segment']],
]);

export const textTypes: ReadonlySet<string> = new Set(
  'image/cgm image/vnd.dxf image/x-xbitmap image/x-xpixmap'.split(' '),
);

/** The bytes that no file of a type can do without: its signature, and the structures that each file has. */
const leastSizes = byWord([
  ['<svg/>'.length, 'image/svg+xml'],
  [14, 'image/gif'],
  [16, 'image/x-farbfeld'],
  [18, 'image/x-tga'],
  [21, 'video/webm video/x-matroska'],
  [22, 'image/vnd.microsoft.icon image/x-cursor image/qoi'],
  [24, `video/mp4 video/quicktime video/x-m4v video/3gpp video/3gpp2`],
  [25, 'image/webp'],
  [26, ['image/bmp image/tiff', ...rawTiffs].join(' ')],
  [27, 'image/jpeg image/mpo video/x-mjpeg'],
  [28, 'image/avif image/heic image/heif image/heic-sequence image/heif-sequence video/ogg'],
  [40, 'image/vnd.adobe.photoshop'],
  [57, 'image/png image/apng'],
  [88, 'video/x-msvideo'],
  [188, 'video/mp2t'],
]);

/** The size below which a file is none of its type for certain. That of a WBMP with one pixel is the least of all. */
export function leastSize(type: string): number {
  return leastSizes.get(type) ?? 5;
}

/** Converts a media type from file-type to our name: lower case, without parameters. */
export function canonicalType(type: string): string {
  const bare = (type.split(';', 1)[0] ?? '').trim().toLowerCase();
  return aliases.get(bare) ?? bare;
}

/** Whether an extension's type and that of the bytes describe the same file. */
export function typesAgree(one: string, other: string): boolean {
  return one === other || families.some(family => family.includes(one) && family.includes(other));
}

/** Whether the type of the name is a more specific form of the type of the bytes. */
export function isMoreSpecific(nameType: string, foundType: string): boolean {
  return refinements.get(foundType)?.includes(nameType) ?? false;
}

/** Whether the first bytes of files of a media type may all be text: those of some are, others have long headers. */
export function mayBeText(type: string): boolean {
  return (
    textTypes.has(type) ||
    /^image\/(?:svg|fits|vnd\.radiance|x-(?:miff|p[fh]m|portable))|^video\/x-yuv/.test(type)
  );
}

/** Whether the service accepts a media type: image/* or video/*. */
export function isMediaType(type: string): boolean {
  return type.startsWith('image/') || type.startsWith('video/');
}
