/** A file of a rare format, as small as its readers still recognise: its name, bytes and media type. */
export interface SmallFile {
  name: string;
  bytes: Buffer;
  type: string;
}

/** Bytes from text, one per character. */
export const latin1 = (text: string) => Buffer.from(text, 'latin1');

const hex = (digits: string) => Buffer.from(digits.replaceAll(' ', ''), 'hex');
const zeros = (length: number) => Buffer.alloc(length);

/** Bytes that are neither text nor any other known format. */
const samples = hex('00010203fffe8081'.repeat(8));

const tiff = hex('49492a00 08000000 0100 0001 0300 01000000 01000000 00000000'.padEnd(64, '0'));
const h264 = hex('00000001 6764000aacd9 00000001 68ebe3cb 00000001 658884000f');
const h265 = hex('00000001 40010c01ffff 00000001 420101016000 00000001 4401c172');
const h266 = hex('00000001 00790029024a 00000001 0081000045 00000001 0041c4');
const mxf = Buffer.concat([hex('060e2b34 0205 0101 0d010201 01020400 83000068'), zeros(150)]);
const wtv = Buffer.concat([hex('b7d800203749da11a64e0007e95ead8d'), zeros(600)]);

/** A box of an MP4 file. */
export function box(kind: string, ...content: Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  const header = Buffer.alloc(8);
  header.writeUInt32BE(body.length + 8);
  header.write(kind, 4, 'latin1');
  return Buffer.concat([header, body]);
}

const uint32 = (...values: number[]) =>
  Buffer.concat(values.map(value => hex(value.toString(16).padStart(8, '0'))));

/** A track of an MP4 file, by its handler; version 1 of its header has longer dates. */
function trackOf(id: number, handler: string, version: 0 | 1, references: Uint8Array[] = []): Buffer {
  const header = Buffer.concat([uint32(version << 24), zeros(version === 1 ? 16 : 8), uint32(id), zeros(60)]);
  const media = box('mdia', box('hdlr', zeros(8), latin1(handler)));
  return box('trak', box('tkhd', header), ...references, media);
}

/** An MPEG-4 file with sound, a track of texts and one of pictures; the sound names its `chapters`. */
export function audiobook(brand: string, chapters: readonly number[], version: 0 | 1 = 0): Buffer {
  const references = chapters.length === 0 ? [] : [box('tref', box('chap', uint32(...chapters)))];
  const tracks = [
    trackOf(1, 'soun', version, references),
    trackOf(2, 'text', version),
    trackOf(3, 'vide', version),
  ];
  return Buffer.concat([
    box('ftyp', latin1(`${brand}\0\0\0\0${brand}`)),
    box('moov', ...tracks),
    box('mdat', samples),
  ]);
}

const pict = Buffer.concat([hex('0096 0000 0000 0080 0080 0011 02ff 0c00 fffe0000'), samples]);
const form = (kind: string) => Buffer.concat([latin1('FORM\0\0\0\x40'), latin1(kind), samples]);
const behind = (text: string, bytes: Buffer = samples) => Buffer.concat([latin1(text), bytes]);

const rows: [names: string, bytes: Buffer, type: string][] = [
  ['a.h264 a.264 a.avc', h264, 'video/h264'],
  ['a.h265 a.265 a.hevc', h265, 'video/h265'],
  ['a.h266 a.266 a.vvc', h266, 'video/h266'],
  ['a.obu', hex('12000a0a000000032dffcdaf9004328e0814'), 'video/av1'],
  ['a.ivf', behind('DKIF\0\0\x20\0VP80'), 'video/x-ivf'],
  ['a.y4m', behind('YUV4MPEG2 W2 H2 F25:1\nFRAME\n'), 'video/x-yuv4mpeg'],
  ['a.mxf', mxf, 'video/mxf'],
  ['a.wtv', wtv, 'video/x-ms-wtv'],
  ['a.m4s', Buffer.concat([box('styp', latin1('msdh')), box('moof', zeros(16))]), 'video/iso.segment'],
  ['b.m4s', Buffer.concat([box('moof', zeros(16)), box('mdat', samples)]), 'video/iso.segment'],
  ['a.heif', Buffer.concat([box('ftyp', latin1('jpeg\0\0\0\0mif1jpegmiaf')), samples]), 'image/heif'],
  ['a.r3d', Buffer.concat([hex('00000488'), latin1('RED2'), samples]), 'video/x-red-r3d'],
  ['a.rm', behind('.RMF\0\0\0\x12 video/x-pn-realvideo'), 'video/vnd.rn-realvideo'],
  ['a.flc', Buffer.concat([hex('00010000 12af 0100 4000 4000 0800'), samples]), 'video/x-fli'],
  ['a.hdr a.pic', behind('#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 1\n'), 'image/vnd.radiance'],
  ['a.pict a.pct b.pic', Buffer.concat([zeros(512), pict]), 'image/x-pict'],
  ['b.pict', pict, 'image/x-pict'],
  ['a.pam', behind('P7\nWIDTH 2\nHEIGHT 2\nDEPTH 3\nMAXVAL 255\nENDHDR\n'), 'image/x-portable-arbitrarymap'],
  ['a.pfm', behind('PF\n2 2\n-1.0\n'), 'image/x-pfm'],
  ['a.dcx', Buffer.concat([hex('b168de3a 0c000000 00000000'), samples]), 'image/x-dcx'],
  ['a.miff', behind('id=ImageMagick\nclass=DirectClass\n\f\n:\x1a'), 'image/x-miff'],
  ['a.lbm a.ilbm', form('ILBMBMHD'), 'image/x-ilbm'],
  ['a.crw', behind('II\x1a\0\0\0HEAPCCDR'), 'image/x-canon-crw'],
  ['a.mrw', behind('\0MRM\0\0\x0a\x0c'), 'image/x-minolta-mrw'],
  ['a.x3f', behind('FOVb\x02\0\x02\0'), 'image/x-sigma-x3f'],
  ['a.raf', behind('FUJIFILMCCD-RAW 0201'), 'image/x-fuji-raf'],
  ['a.rw2 a.rwl', behind('IIU\0\x18\0\0\0'), 'image/x-panasonic-rw2'],
  ['a.raw', behind('IIU\0\x18\0\0\0'), 'image/x-panasonic-rw'],
  ['b.raw', tiff, 'image/x-panasonic-rw'],
  ['a.ari', behind('ARRI\x12\x34\x56\x78'), 'image/x-dcraw'],
  ['a.cap', behind('IIII\x43waR'), 'image/x-dcraw'],
  ['b.cap a.bay a.dcs a.drf a.ptx a.pxn', tiff, 'image/x-dcraw'],
  ['a.3fr', tiff, 'image/x-hasselblad-3fr'],
  ['a.arw', tiff, 'image/x-sony-arw'],
  ['a.cr2', tiff, 'image/x-canon-cr2'],
  ['a.dcr', tiff, 'image/x-kodak-dcr'],
  ['a.erf', tiff, 'image/x-epson-erf'],
  ['a.fff', tiff, 'image/x-hasselblad-fff'],
  ['a.gpr', tiff, 'image/x-gopro-gpr'],
  ['a.iiq', tiff, 'image/x-phaseone-iiq'],
  ['a.k25', tiff, 'image/x-kodak-k25'],
  ['a.kdc', tiff, 'image/x-kodak-kdc'],
  ['a.mef', tiff, 'image/x-mamiya-mef'],
  ['a.mos', tiff, 'image/x-leaf-mos'],
  ['a.nef', tiff, 'image/x-nikon-nef'],
  ['a.nrw', tiff, 'image/x-nikon-nrw'],
  ['a.pef', tiff, 'image/x-pentax-pef'],
  ['a.sr2', tiff, 'image/x-sony-sr2'],
  ['a.srf', tiff, 'image/x-sony-srf'],
  ['a.srw', tiff, 'image/x-samsung-srw'],
];

/** One file of each rare format, under each of its usual names. */
export const smallFiles: readonly SmallFile[] = rows.flatMap(([names, bytes, type]) =>
  names.split(' ').map(name => ({name, bytes, type})),
);

/** A frame of MPEG audio: layer III, 128 kbit/s at 44.1 kHz, silent. */
export const mp3Frame = Buffer.concat([hex('fffb9064'), zeros(413)]);
