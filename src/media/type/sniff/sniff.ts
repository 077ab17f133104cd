import {type RandomAccess, readAt} from '../../../lib/files/random-access.ts';
import {byWord} from '../../../lib/object.ts';
import {matches} from '../../tracks/bytes.ts';
import {readContainer} from '../../tracks/containers.ts';
import {canonicalType, isMediaType, mayBeText} from '../tables/type-tables.ts';
import {isAudioStream} from './audio.ts';
import {latin1, sniffPlainText, sniffText} from './text.ts';

/** Finds out what a file's bytes are, from its first 64 KiB and, for containers, from the list of tracks. */
export async function sniff(bytes: RandomAccess): Promise<Finding> {
  const head = await readAt(bytes, 0, Math.min(64 * 1024, bytes.size));
  const isWhole = head.length === bytes.size;
  const type = sniffSignature(head) ?? sniffText(head, isWhole) ?? sniffPicture(head);
  const text = type === undefined || isMediaType(type) ? sniffPlainText(head, isWhole) : undefined;
  // Whatever a text begins with, it is in no binary format.
  if (text !== undefined && (type === undefined || !mayBeText(type))) return toFinding(text);
  if (type !== undefined) return toFinding(type, text !== undefined);
  const container = await readContainer(head, bytes);
  if (container === undefined) return askFileType(head, bytes);
  const {type: containerType, tracks} = container;
  // Without known tracks, the file is what its first bytes say: a video that was cut short is still a video.
  if (tracks === undefined || tracks === 'video') return {isMedia: true, type: containerType};
  return {isMedia: false, what: tracks, container: containerType};
}

function toFinding(type: string, isText = false): Finding {
  return isMediaType(type) ? {isMedia: true, type, isText} : {isMedia: false, what: type};
}

/** What file-type recognises, where its type is certain: a type that it decides by few bytes is checked or ignored. */
async function askFileType(head: Buffer, bytes: RandomAccess): Promise<Finding> {
  const {fileTypeFromBuffer} = await import('file-type');
  // It throws for some malformed files, which count as not recognised.
  const libraryType = (await fileTypeFromBuffer(head).catch(() => undefined))?.mime;
  // For a TIFF, file-type needs the directory, which may be at the end of a large file.
  if (libraryType === undefined && (matches(head, 0, 'II*\0') || matches(head, 0, 'MM\0*')))
    return {isMedia: true, type: 'image/tiff'};
  if (libraryType === undefined) return undefined;
  if (weakTypes.has(libraryType) || confirmations.get(libraryType)?.(head, bytes.size) === false)
    return undefined;
  // file-type reports these after only two bytes.
  if (/^audio\/(?:mpeg|aac)$/.test(libraryType) && !(await isAudioStream(bytes))) return undefined;
  // A cursor has the layout of an icon with another number in its header.
  const isCursor = libraryType === 'image/x-icon' && matches(head, 0, '\0\0\x02\0');
  return toFinding(isCursor ? 'image/x-cursor' : canonicalType(libraryType));
}

/** What the bytes are: an image or video, certainly something else, or unknown (undefined). */
export type Finding = MediaFinding | OtherFinding | undefined;

export interface MediaFinding {
  isMedia: true;
  type: string;
  /** Whether its first bytes are text. */
  isText?: boolean;
}

export interface OtherFinding {
  isMedia: false;
  /** A media type or a description; for a video container, its content. */
  what: string;
  /** Whether they are too few for a whole file. */
  isPart?: true;
  /** The type of the container if it contained video. */
  container?: string;
}

/** The file in which macOS stores metadata of another file on disks of other systems. */
export const appleDouble = 'an AppleDouble file';

/** First bytes that identify a type for certain. file-type knows further types, but takes time to load. */
const signatures: readonly (readonly [bytes: string, type: string])[] = [
  ['GIF87a', 'image/gif'],
  ['GIF89a', 'image/gif'],
  ['\xff\xd8\xff\xf7', 'image/jls'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['qoif', 'image/qoi'],
  ['DDS ', 'image/vnd.ms-dds'],
  ['\x76\x2f\x31\x01', 'image/x-exr'],
  ['SIMPLE  =', 'image/fits'],
  ['SDPX', 'image/dpx'],
  ['XPDS', 'image/dpx'],
  ['farbfeld', 'image/x-farbfeld'],
  ['\xb1\x68\xde\x3a', 'image/x-dcx'],
  ['\x59\xa6\x6a\x95', 'image/x-sun-raster'],
  ['\x13\xab\xa1\x5c', 'image/astc'],
  ['\xabKTX 20\xbb', 'image/ktx2'],
  ['\x8bJNG\r\n\x1a\n', 'image/x-jng'],
  ['msid', 'image/x-mrsid-image'],
  ['id=ImageMagick', 'image/x-miff'],
  // Raw pictures that are not TIFFs.
  ['II\x1a\0\0\0HEAPCCDR', 'image/x-canon-crw'],
  ['IIU\0', 'image/x-panasonic-rw2'],
  ['\0MRM', 'image/x-minolta-mrw'],
  ['FOVb', 'image/x-sigma-x3f'],
  ['ARRI\x12\x34\x56\x78', 'image/x-dcraw'],
  // Videos.
  ['\x8aMNG\r\n\x1a\n', 'video/x-mng'],
  ['DKIF\0\0\x20\0', 'video/x-ivf'],
  ['YUV4MPEG2 ', 'video/x-yuv4mpeg'],
  ['\x12\0\x0a', 'video/av1'],
  ['NSVf', 'video/x-nsv'],
  ['NSVs', 'video/x-nsv'],
  ['.RMF\0\0\0', 'video/vnd.rn-realvideo'],
  ['\xb7\xd8\x00\x20\x37\x49\xda\x11\xa6\x4e\x00\x07\xe9\x5e\xad\x8d', 'video/x-ms-wtv'],
  ['\x06\x0e\x2b\x34\x02\x05\x01\x01\x0d\x01\x02\x01\x01\x02', 'video/mxf'],
  ['SMK2', 'video/vnd.radgamettools.smacker'],
  ['SMK4', 'video/vnd.radgamettools.smacker'],
  // Not media.
  ['\x0a\x0d\x0d\x0a', 'application/vnd.tcpdump.pcap'],
  ['bplist00', 'a macOS property list'],
  ['.ra\xfd', 'an audio file'],
  ['\x89HDF\r\n\x1a\n', 'scientific data'],
  ['\xde\x12\x04\x95', 'a message catalogue'],
  ['%PDF-', 'application/pdf'],
  ['\0\x05\x16\x07', appleDouble],
  ['\0\x05\x16\0', 'an AppleSingle file'],
  ['SQLite format 3\0', 'application/x-sqlite3'],
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'application/x-cfb'],
  ['{\\rtf', 'application/rtf'],
  ['PK\x03\x04', 'application/zip'],
  ['PK\x05\x06', 'application/zip'],
  ['\x1f\x8b\x08', 'application/gzip'],
];

/** The type that the first bytes of a file identify for certain, if any: by a signature, or by bytes at an offset. */
function sniffSignature(head: Buffer): string | undefined {
  if (matches(head, 0, '\x89PNG\r\n\x1a\n')) return pngType(head);
  if (matches(head, 0, 'RIFF') && matches(head, 8, 'WEBP')) return 'image/webp';
  const signature = signatures.find(([bytes]) => matches(head, 0, bytes));
  if (signature !== undefined) return signature[1];
  // Only audio files have an ID3 tag, whatever their codec. Some bits of its version and its length are never set.
  const isTag = matches(head, 0, 'ID3') && head.length >= 10 && (head[3] ?? 255) < 5;
  if (isTag && head.subarray(6, 10).every(byte => byte < 0x80)) return 'audio/mpeg';
  if (matches(head, 4, 'RED1') || matches(head, 4, 'RED2')) return 'video/x-red-r3d';
  if ((matches(head, 0, 'IIII') && matches(head, 5, 'waR')) || matches(head, 0x19, 'ARECOYK'))
    return 'image/x-dcraw';
  if (matches(head, 0, 'BIK') && /[bdfghik]/.test(String.fromCharCode(head[3] ?? 0)))
    return 'video/vnd.radgamettools.bink';
  return undefined;
}

// An animation has a chunk before the picture's data (PNG, third edition, 11.3.6).
function pngType(head: Buffer): string {
  let position = 8;
  while (position + 8 <= head.length && !matches(head, position + 4, 'IDAT')) {
    if (matches(head, position + 4, 'acTL')) return 'image/apng';
    position += 12 + head.readUInt32BE(position);
  }
  return 'image/png';
}

/** Types that file-type decides by too few bytes: ignored, since our own checks come first where bytes can tell. */
const weakTypes = new Set(
  `image/gif video/mp2t video/quicktime audio/vnd.dolby.dd-raw application/xml application/ogg application/x-arj
  application/x-compress application/vnd.ms-asf application/vnd.rn-realmedia
  application/x-apple-diskimage`.split(/\s+/),
);

/** Checks of other types that it reports after only a few bytes. */
const confirmations = new Map<string, (head: Buffer, size: number) => boolean>([
  ['image/bmp', head => [12, 16, 40, 52, 56, 64, 108, 124].includes(uint32(head, 14))],
  ['image/x-icon', isIconDirectory],
  ['application/postscript', head => matches(head, 0, '%!PS')],
  ['application/x-msdownload', isExecutable],
  ['audio/aiff', head => matches(head, 8, 'AIFF') || matches(head, 8, 'AIFC')],
  ['video/x-flv', head => matches(head, 5, '\0\0\0\x09')],
  ['application/x-cpio', head => matches(head, 0, '07070')],
]);

// An uncompressed TGA begins like a cursor, so the first picture must be within the file, after the directory.
function isIconDirectory(head: Buffer, size: number): boolean {
  if (head.length < 22) return false;
  const count = head.readUInt16LE(4);
  const offset = uint32(head, 18);
  const liesWithin = offset >= 6 + 16 * count && offset < size;
  return count > 0 && head[9] === 0 && uint32(head, 14) > 0 && liesWithin;
}

/** Whether a file is a program of Windows: its header of DOS says where that of Windows begins. */
function isExecutable(head: Buffer, size: number): boolean {
  const offset = uint32(head, 60);
  return offset < size && (matches(head, offset, 'PE\0\0') || matches(head, offset, 'NE'));
}

function uint32(head: Buffer, offset: number): number {
  return offset + 4 <= head.length ? head.readUInt32LE(offset) : 0;
}

/** The type of a picture that is recognised by more than a few fixed bytes, if the bytes are one. */
function sniffPicture(head: Buffer): string | undefined {
  if (!matches(head, 0, '#?')) return netpbmType(head);
  return /\n(?:FORMAT=32-bit_rle_(?:rgbe|xyze)|\n[-+][XY] \d+ [-+][XY] \d+)\s/.test(latin1(head))
    ? 'image/vnd.radiance'
    : undefined;
}

const netpbmTypes = byWord([
  ['image/x-portable-bitmap', 'P1 P4'],
  ['image/x-portable-graymap', 'P2 P5'],
  ['image/x-portable-pixmap', 'P3 P6'],
  ['image/x-pfm', 'PF Pf'],
  ['image/x-phm', 'PH Ph'],
]);

// Any text may begin with a letter and a digit, so the size must follow, after comments (netpbm's manual).
function netpbmType(head: Buffer): string | undefined {
  if (head[0] !== 0x50) return undefined;
  const text = latin1(head.subarray(0, 1024));
  if (/^P7\s*\n(?:#[^\n]*\n)*(?:WIDTH|HEIGHT|DEPTH|MAXVAL|TUPLTYPE)\s/.test(text))
    return 'image/x-portable-arbitrarymap';
  if (!/^..(?:\s|#[^\r\n]*[\r\n])+\d+(?:\s|#[^\r\n]*[\r\n])+\d+\s/.test(text)) return undefined;
  // In a sentence, words follow in the same line, and all of it is text.
  if (!/^..(?:[ \t]*[\r\n#]|[\d\s]*$|.*[^\t-\r -\xf7])/s.test(text)) return undefined;
  return netpbmTypes.get(text.slice(0, 2));
}
