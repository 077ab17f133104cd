import {viewOf} from '../bytes/bytes.ts';
import {dominantTrack, type Tracks} from './tracks.ts';

/** Types of streams (ISO/IEC 13818-1, table 2-34; from 0x80 on, ATSC and SMPTE). */
const videoTypes = new Set([
  ...[0x01, 0x02, 0x10, 0x1b, 0x1e, 0x1f, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25],
  ...[0x31, 0x32, 0x33, 0x34, 0x35, 0x42, 0xd1, 0xd2, 0xd4, 0xea],
]);
const audioTypes = new Set([
  ...[0x03, 0x04, 0x0f, 0x11, 0x1c, 0x2d, 0x2e, 0x81, 0x82, 0x83, 0x84],
  ...[0x85, 0x87, 0x88, 0xc1, 0xc2],
]);
/** Sections, data carousels, metadata. */
const otherTypes = new Set([0x05, 0x0b, 0x0d, 0x15, 0x86]);

/** Descriptors of private streams (ETSI EN 300 468): AC-3, E-AC-3, DTS, AAC; then subtitles and teletext. */
const audioDescriptors = new Set([0x6a, 0x7a, 0x7b, 0x7c, 0x81]);
const subtitleDescriptors = new Set([0x46, 0x56, 0x59]);

/** The content of an MPEG transport stream, by the tables of its programs; undefined unless every stream is known. */
export function transportTracks(head: Uint8Array): Tracks {
  const layout = layoutOf(head);
  if (layout === undefined) return undefined;
  const programs = new Set<number>();
  const found = new Set<Tracks | 'none' | 'unknown'>();
  for (let at = layout.start; at + 188 <= head.length; at += layout.distance) {
    const section = sectionOf(head.subarray(at, at + 188));
    if (section === undefined) continue;
    if (section.pid === 0) for (const pid of programPids(section.bytes)) programs.add(pid);
    else if (programs.has(section.pid)) for (const kind of streamKinds(section.bytes)) found.add(kind);
  }
  if (found.has('video')) return 'video';
  return found.has('unknown') ? undefined : dominantTrack(found);
}

/**
 * Where the packets begin, and the distance between them: of 188 bytes, 192 with a time stamp, or 204 with error correction. A
 * capture may begin within a packet; then more packets are required.
 */
function layoutOf(head: Uint8Array): {start: number; distance: number} | undefined {
  for (const distance of [188, 192, 204]) {
    for (let start = 0; start < distance; start += 1) {
      if (head[start] !== 0x47) continue;
      const atBoundary = start === 0 || (start === 4 && distance === 192);
      if (packetsFollow(head, start, distance, atBoundary ? 3 : 5)) return {start, distance};
    }
  }
  return undefined;
}

interface Section {
  pid: number;
  bytes: Uint8Array;
}

/** The table in a packet, if it begins and ends there. */
function sectionOf(packet: Uint8Array): Section | undefined {
  const view = viewOf(packet);
  const flags = view.getUint16(1);
  const isBeginning = (flags & 0x4000) !== 0;
  const control = packet[3] ?? 0;
  if (!isBeginning || (control & 0x10) === 0) return undefined;
  const payload = (control & 0x20) === 0 ? 4 : 5 + (packet[4] ?? 0);
  const start = payload + 1 + (packet[payload] ?? 0);
  if (start + 8 > packet.length) return undefined;
  const length = view.getUint16(start + 1) & 0xfff;
  if (length < 9 || start + 3 + length > packet.length) return undefined;
  // Without the checksum at its end.
  return {pid: flags & 0x1fff, bytes: packet.subarray(start, start + 3 + length - 4)};
}

function* programPids(table: Uint8Array): Generator<number> {
  if (table[0] !== 0) return;
  const view = viewOf(table);
  for (let at = 8; at + 4 <= table.length; at += 4)
    if (view.getUint16(at) !== 0) yield view.getUint16(at + 2) & 0x1fff;
}

function* streamKinds(table: Uint8Array): Generator<Tracks | 'none' | 'unknown'> {
  if (table[0] !== 2 || table.length < 12) return;
  const view = viewOf(table);
  let at = 12 + (view.getUint16(10) & 0xfff);
  while (at + 5 <= table.length) {
    const type = table[at] ?? 0;
    const end = at + 5 + (view.getUint16(at + 3) & 0xfff);
    yield kindOf(type, table.subarray(at + 5, end));
    at = end;
  }
}

function kindOf(type: number, descriptors: Uint8Array): Tracks | 'none' | 'unknown' {
  if (videoTypes.has(type)) return 'video';
  if (audioTypes.has(type)) return 'audio';
  if (otherTypes.has(type)) return 'none';
  for (let at = 0; at + 2 <= descriptors.length; at += 2 + (descriptors[at + 1] ?? 0)) {
    const tag = descriptors[at] ?? 0;
    if (audioDescriptors.has(tag)) return 'audio';
    if (subtitleDescriptors.has(tag)) return 'subtitles';
  }
  return 'unknown';
}

/** Whether the bytes are packets of an MPEG transport stream. */
export function isTransportStream(head: Uint8Array): boolean {
  return layoutOf(head) !== undefined;
}

function packetsFollow(head: Uint8Array, start: number, distance: number, least: number): boolean {
  const whole = Math.floor((head.length - start) / distance);
  if (whole < least) return false;
  let isText = true;
  for (let packet = 0; packet < Math.min(whole, 8); packet += 1) {
    const position = start + packet * distance;
    // The sync byte is the letter G, so the next bytes must not have the error bit or the reserved "no content" (H.222.0, 2.4.3).
    const isPacket = head[position] === 0x47 && ((head[position + 1] ?? 0x80) & 0x80) === 0;
    if (!isPacket || ((head[position + 3] ?? 0) & 0x30) === 0) return false;
    // A damaged log may have other bytes than text, but not in each line after the same letter.
    isText &&= head
      .subarray(position + 1, position + 4)
      .every(byte => byte >= 0x20 || (byte >= 9 && byte <= 13));
  }
  return !isText;
}

/** The codec of a raw video stream, by the bytes after its first start codes. */
interface Codec {
  type: string;
  /** Whether a stream may begin with a unit with this header. */
  begins(first: number, second: number): boolean;
  /** Whether units with this header exist. */
  exists(first: number, second: number): boolean;
}

// The first bit is zero; then H.264 has two bits of importance and five of kind; H.265 six of kind, H.266 six of the
// layer, which comes first there, and five of kind; both end in the temporal layer plus one (ITU-T H.264, 7.3.1;
// H.265, 7.3.1.2; H.266, 7.3.1.2).
const codecs: readonly Codec[] = [
  {
    type: 'video/h264',
    // A parameter set, a delimiter, or a message ahead of the first picture.
    begins: first => [0x67, 0x47, 0x27, 0x09, 0x06].includes(first),
    exists: first => first < 0x80 && (first & 31) >= 1 && (first & 31) <= 21,
  },
  {
    type: 'video/h265',
    begins: (first, second) => [0x40, 0x42, 0x46, 0x4e].includes(first) && second === 1,
    exists: (first, second) => first < 0x52 && (first & 1) === 0 && (second & 7) >= 1 && second < 8,
  },
  {
    type: 'video/h266',
    begins: (first, second) => first === 0 && [0x61, 0x69, 0x71, 0x79, 0xa1, 0xb9].includes(second),
    exists: (first, second) => first === 0 && (second & 7) >= 1 && second >> 3 < 28,
  },
];

/** The type of a raw H.264, H.265, H.266 or MPEG-4 stream, if that is what the bytes begin. */
export function sniffRawVideo(head: Uint8Array): string | undefined {
  if (!isStartCode(head, 0) && !(head[0] === 0 && isStartCode(head, 1))) return undefined;
  const units = [...startCodes(head)].map(at => [head[at + 3] ?? 0xff, head[at + 4] ?? 0xff] as const);
  const [start, ...rest] = units;
  if (start === undefined || rest.length === 0) return undefined;
  if (start[0] === 0xb0 && rest.some(([first]) => first === 0xb5 || first <= 0x2f)) return 'video/mp4v-es';
  const isOf = (codec: Codec) => codec.begins(...start) && rest.every(unit => codec.exists(...unit));
  return codecs.find(isOf)?.type;
}

/** Enough units to decide: a stream has dozens per second. */
const mostUnits = 8;

function* startCodes(head: Uint8Array): Generator<number> {
  let found = 0;
  // The last bytes may be half of a unit's header.
  for (let at = head.indexOf(0); at !== -1 && at + 5 <= head.length; at = head.indexOf(0, at + 1)) {
    if (!isStartCode(head, at)) continue;
    yield at;
    found += 1;
    if (found === mostUnits) return;
  }
}

function isStartCode(head: Uint8Array, at: number): boolean {
  return head[at] === 0 && head[at + 1] === 0 && head[at + 2] === 1;
}
