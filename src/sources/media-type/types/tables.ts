import {extensionRows} from './extension-types.ts';

/** What mime-types lacks, or has another name for. */
export const extensionTypes: ReadonlyMap<string, string> = new Map(
  extensionRows.map(([extension, type]) => [extension, type]),
);

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

/** file-type's names for what mime-types, or the table above, calls something else. */
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

/** Raw pictures that are TIFFs; many say so only in a private tag, or nowhere. */
const rawTiffs = [
  'image/x-adobe-dng',
  'image/x-canon-cr2',
  'image/x-dcraw',
  'image/x-epson-erf',
  'image/x-gopro-gpr',
  'image/x-hasselblad-3fr',
  'image/x-hasselblad-fff',
  'image/x-kodak-dcr',
  'image/x-kodak-k25',
  'image/x-kodak-kdc',
  'image/x-leaf-mos',
  'image/x-mamiya-mef',
  'image/x-nikon-nef',
  'image/x-nikon-nrw',
  'image/x-panasonic-rw',
  'image/x-panasonic-rw2',
  'image/x-pentax-pef',
  'image/x-phaseone-iiq',
  'image/x-samsung-srw',
  'image/x-sinar-sti',
  'image/x-sony-arw',
  'image/x-sony-sr2',
  'image/x-sony-srf',
];

/** Types whose bytes cannot, or need not, be told apart: within a line the name of the file is to be trusted. */
const families = [
  // One container; the extension alone tells a film from a stream of anything.
  ['video/x-ms-asf', 'video/x-ms-wmv', 'video/x-ms-wm'],
  // HEIF's brands: cameras and phones write .heic and .heif with any of them.
  ['image/heif', 'image/heic', 'image/heif-sequence', 'image/heic-sequence', 'image/avci', 'image/avcs'],
  // An animated PNG is a PNG for every reader.
  ['image/png', 'image/apng'],
  ['image/tiff', ...rawTiffs],
  // Canon's films have the brand of its pictures.
  ['image/x-canon-cr3', 'video/x-canon-crm'],
  // MPEG-4 files that differ in the major brand only, and the pieces that they are streamed in.
  ['video/mp4', 'video/x-m4v', 'video/x-f4v', 'video/iso.segment'],
  // A progressive JPEG, a JPEG with further pictures after the first, and a film of JPEGs.
  ['image/jpeg', 'image/pjpeg', 'image/mpo', 'video/x-mjpeg'],
  // A DVD's VOB is an MPEG program stream.
  ['video/mpeg', 'video/x-ms-vob'],
  // One format, from before and after its standard.
  ['image/jxr', 'image/vnd.ms-photo'],
  // mime-types has one name for two formats that both end in .ras.
  ['image/x-cmu-raster', 'image/x-sun-raster'],
  [
    'image/x-portable-anymap',
    'image/x-portable-arbitrarymap',
    'image/x-portable-bitmap',
    'image/x-portable-graymap',
    'image/x-portable-pixmap',
  ],
  // RGB is what SGI's own format was called first.
  ['image/sgi', 'image/x-rgb'],
];

/** Types that the bytes suggest of files that may be something more specific, which only the name tells. */
const refinements = new Map<string, readonly string[]>([
  ['image/tiff', rawTiffs],
  ['image/x-adobe-dng', ['image/x-gopro-gpr']],
  ['image/x-nikon-nef', ['image/x-nikon-nrw']],
  ['image/x-panasonic-rw2', ['image/x-panasonic-rw']],
  ['image/x-sony-arw', ['image/x-sony-sr2', 'image/x-sony-srf']],
  ['image/jpeg', ['image/mpo', 'video/x-mjpeg']],
  ['video/mp4', ['video/iso.segment']],
]);

/** Formats that are wrapped in what else holds anything: the type that the name says, and what the bytes are. */
const wrappings = new Map<string, string>([
  ['image/vnd.fpx', 'application/x-cfb'],
  ['image/vnd.net-fpx', 'application/x-cfb'],
  ['image/x-dcraw', 'a Capture One package'],
]);

/** Formats that are text themselves. */
const textTypes = new Set(['image/cgm', 'image/vnd.dxf', 'image/x-xbitmap', 'image/x-xpixmap']);

/** The type that our own tables give an extension (lower case, without its dot), if they have one. */
export function tabledExtensionType(extension: string): string | undefined {
  return extensionTypes.get(extension) ?? commonTypes.get(extension);
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

/** Whether a name's type is a more specific one of the same family as that of the bytes. */
export function isMoreSpecific(named: string, found: string): boolean {
  return refinements.get(found)?.includes(named) ?? false;
}

/** Whether files of a media type may be, byte for byte, what is no media by itself. */
export function isWrappedIn(type: string, what: string): boolean {
  return wrappings.get(type) === what;
}

/** Whether files of a media type are text. */
export function isTextType(type: string): boolean {
  return textTypes.has(type);
}

/** Whether a media type is one that the service takes: image/* or video/*. */
export function isMediaType(type: string): boolean {
  return type.startsWith('image/') || type.startsWith('video/');
}
