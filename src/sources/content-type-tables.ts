/** Extensions that mime-types lacks, or names otherwise than the formats' owners and readers do. */
export const extensionTypes = new Map([
  // Camera raw: the names that file(1), exiftool and freedesktop.org share.
  ['cr2', 'image/x-canon-cr2'],
  ['cr3', 'image/x-canon-cr3'],
  ['nef', 'image/x-nikon-nef'],
  ['nrw', 'image/x-nikon-nrw'],
  ['arw', 'image/x-sony-arw'],
  ['raf', 'image/x-fujifilm-raf'],
  ['rw2', 'image/x-panasonic-rw2'],
  ['orf', 'image/x-olympus-orf'],
  ['pef', 'image/x-pentax-pef'],
  ['srw', 'image/x-samsung-srw'],
  // Pictures.
  ['avifs', 'image/avif'],
  ['bpg', 'image/bpg'],
  ['cur', 'image/x-cursor'],
  ['flif', 'image/flif'],
  ['hif', 'image/heif'],
  ['icns', 'image/x-icns'],
  ['j2c', 'image/x-jp2-codestream'],
  ['j2k', 'image/x-jp2-codestream'],
  ['jpc', 'image/x-jp2-codestream'],
  ['mpo', 'image/mpo'],
  ['qoi', 'image/qoi'],
  ['xcf', 'image/x-xcf'],
  // Films.
  ['dv', 'video/dv'],
  ['h265', 'video/h265'],
  ['hevc', 'video/h265'],
  ['ogm', 'video/ogg'],
  // Corrections: mime-types says image/pjpeg and image/aces (the latter is one rare profile of OpenEXR).
  ['exr', 'image/x-exr'],
  ['jfif', 'image/jpeg'],
]);

/** What mime-types says of the extensions that nearly all files have: its own table takes a while to load. */
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

/** Extensions of MPEG transport streams that belong to TypeScript and to Qt's translations far more often. */
const ambiguousExtensions = new Set(['ts', 'mts', 'm2ts']);

/** file-type's names for what mime-types, or the table above, calls something else. */
const aliases = new Map([
  ['image/icns', 'image/x-icns'],
  ['image/j2c', 'image/x-jp2-codestream'],
  ['image/mj2', 'video/mj2'],
  ['image/vnd.ms-photo', 'image/jxr'],
  ['image/x-icon', 'image/vnd.microsoft.icon'],
  ['video/matroska', 'video/x-matroska'],
  ['video/mp1s', 'video/mpeg'],
  ['video/mp2p', 'video/mpeg'],
  ['video/vnd.avi', 'video/x-msvideo'],
]);

/** Types whose bytes cannot, or need not, be told apart: within a line the name of the file is to be trusted. */
const families = [
  // One container; the extension alone tells a film from a stream of anything.
  ['video/x-ms-asf', 'video/x-ms-wmv', 'video/x-ms-wm'],
  // HEIF's brands: cameras and phones write .heic and .heif with any of them.
  ['image/heif', 'image/heic', 'image/heif-sequence', 'image/heic-sequence', 'image/avci', 'image/avcs'],
  // An animated PNG is a PNG for every reader.
  ['image/png', 'image/apng'],
  // TIFF and the raw formats built on it; many say so only in a private tag, or nowhere.
  [
    'image/tiff',
    'image/x-adobe-dng',
    'image/x-canon-cr2',
    'image/x-nikon-nef',
    'image/x-nikon-nrw',
    'image/x-pentax-pef',
    'image/x-samsung-srw',
    'image/x-sony-arw',
  ],
  // MPEG-4 files that differ in the major brand only.
  ['video/mp4', 'video/x-m4v', 'video/x-f4v'],
  // A progressive JPEG, and a JPEG with further pictures after the first.
  ['image/jpeg', 'image/pjpeg', 'image/mpo'],
  // A DVD's VOB is an MPEG program stream.
  ['video/mpeg', 'video/x-ms-vob'],
  // One format, from before and after its standard.
  ['image/jxr', 'image/vnd.ms-photo'],
];

/** The type that our own tables give an extension (lower case, without its dot), if they have one. */
export function tabledExtensionType(extension: string): string | undefined {
  return extensionTypes.get(extension) ?? commonTypes.get(extension);
}

/** Whether an extension (lower case, without its dot) needs the bytes to confirm it. */
export function isAmbiguousExtension(extension: string): boolean {
  return ambiguousExtensions.has(extension);
}

/** The name under which we know a media type that file-type reports: lower case, without parameters. */
export function canonicalType(type: string): string {
  const bare = (type.split(';', 1)[0] ?? '').trim().toLowerCase();
  return aliases.get(bare) ?? bare;
}

/** Whether an extension's type and that of the bytes describe the same file. */
export function typesAgree(one: string, other: string): boolean {
  return one === other || families.some(family => family.includes(one) && family.includes(other));
}

/** Whether a media type is one that the service takes: image/* or video/*. */
export function isMediaType(type: string): boolean {
  return type.startsWith('image/') || type.startsWith('video/');
}
