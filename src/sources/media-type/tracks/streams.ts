import {holds, matches, type RandomAccess, viewOf} from '../bytes/bytes.ts';
import {dominantTrack, type Tracks} from './tracks.ts';

/** The first bytes of each stream in an Ogg file, by codec. */
const oggCodecs: readonly (readonly [magic: string, tracks: Tracks])[] = [
  ['\x80theora', 'video'],
  ['\x01video\0', 'video'],
  ['BBCD', 'video'],
  ['OVP80', 'video'],
  ['\x01vorbis', 'audio'],
  ['OpusHead', 'audio'],
  ['\x7fFLAC', 'audio'],
  ['fLaC', 'audio'],
  ['Speex   ', 'audio'],
  ['\x80kate', 'subtitles'],
];

/** Whether a file is an Ogg container. */
export function isOgg(head: Uint8Array): boolean {
  return matches(head, 0, 'OggS');
}

/** The content of an Ogg file. The first pages of all streams come before any other page (RFC 3533, section 6). */
export function oggTracks(head: Uint8Array): Tracks {
  const found = new Set<Tracks>();
  let position = 0;
  while (
    matches(head, position, 'OggS') &&
    position + 27 <= head.length &&
    ((head[position + 5] ?? 0) & 2) !== 0
  ) {
    const segments = head.subarray(position + 27, position + 27 + (head[position + 26] ?? 0));
    const packet = position + 27 + segments.length;
    found.add(oggCodecs.find(([magic]) => matches(head, packet, magic))?.[1]);
    position = packet + segments.reduce((sum, length) => sum + length, 0);
  }
  return dominantTrack(found);
}

const asfHeader = '\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c';
const asfVideo = '\xc0\xef\x19\xbc\x4d\x5b\xcf\x11\xa8\xfd\x00\x80\x5f\x5c\x44\x2b';
const asfAudio = '\x40\x9e\x69\xf8\x4d\x5b\xcf\x11\xa8\xfd\x00\x80\x5f\x5c\x44\x2b';

/** Whether a file is Microsoft's ASF, the container of WMV and WMA. */
export function isAsf(head: Uint8Array): boolean {
  return matches(head, 0, asfHeader);
}

/**
 * The content of an ASF file, whose header has the type of each stream as a GUID (ASF 01.20.03, 3.3). file-type reads only
 * the first stream.
 */
export function asfTracks(head: Uint8Array): Tracks {
  if (head.length < 24) return undefined;
  const end = Number(viewOf(head).getBigUint64(16, true));
  const header = head.subarray(0, end);
  if (holds(header, asfVideo)) return 'video';
  return end <= head.length && holds(header, asfAudio) ? 'audio' : undefined;
}

/** Whether a file is Adobe's FLV. */
export function isFlv(head: Uint8Array): boolean {
  return matches(head, 0, 'FLV\x01') && matches(head, 5, '\0\0\0\x09');
}

/** The content of an FLV, by the kinds of its consecutive tags, since some headers are wrong. */
export function flvTracks(head: Uint8Array): Tracks {
  const found = new Set<Tracks>();
  const view = viewOf(head);
  // Each tag is preceded by the length of the previous one.
  let position = head.length < 9 ? head.length : view.getUint32(5) + 4;
  while (position + 11 <= head.length) {
    const kind = (head[position] ?? 0) & 31;
    if (kind === 9) return 'video';
    if (kind === 8) found.add('audio');
    else if (kind !== 18) return undefined;
    position += 11 + (view.getUint32(position) & 0xffffff) + 4;
  }
  // Video may begin late, so the header must agree.
  return ((head[4] ?? 1) & 1) === 0 ? dominantTrack(found) : undefined;
}

/** Whether a file is an AVI. */
export function isAvi(head: Uint8Array): boolean {
  return matches(head, 0, 'RIFF') && matches(head, 8, 'AVI ');
}

/** The content of an AVI, by the headers of its streams. */
export function aviTracks(head: Uint8Array): Tracks {
  const end = aviHeaderEnd(head);
  if (end === undefined) return undefined;
  const header = head.subarray(0, end);
  const found = new Set<Tracks | 'unknown'>();
  for (let at = 12; at + 12 <= header.length; at += 1) {
    if (!matches(header, at, 'strh')) continue;
    if (matches(header, at + 8, 'vids') || matches(header, at + 8, 'iavs')) return 'video';
    const isKnown = matches(header, at + 8, 'auds') || matches(header, at + 8, 'txts');
    found.add(isKnown ? (matches(header, at + 8, 'auds') ? 'audio' : 'subtitles') : 'unknown');
  }
  return found.has('unknown') ? undefined : dominantTrack(found);
}

function aviHeaderEnd(head: Uint8Array): number | undefined {
  if (!matches(head, 12, 'LIST') || !matches(head, 20, 'hdrl')) return undefined;
  const end = 20 + viewOf(head).getUint32(16, true);
  return end <= head.length ? end : undefined;
}

/** Whether a file is RealMedia. */
export function isRealMedia(head: Uint8Array): boolean {
  return matches(head, 0, '.RMF\0\0\0');
}

/** The content of a RealMedia file, by the properties of its streams. */
export function realMediaTracks(head: Uint8Array): Tracks {
  if (holds(head, 'video/x-pn-')) return 'video';
  return holds(head, 'audio/x-pn-') ? 'audio' : undefined;
}

/** Whether a file is an MPEG program stream (ISO/IEC 11172-1, 2.4.3.2; 13818-1, 2.5.3.3). */
export function isProgramStream(head: Uint8Array): boolean {
  const version = head[4] ?? 0;
  return matches(head, 0, '\0\0\x01\xba') && ((version & 0xf0) === 0x20 || (version & 0xc0) === 0x40);
}

/** The content of an MPEG program stream, by the bounds in its system header, and its packets, since some headers are wrong. */
export function programTracks(head: Uint8Array): Tracks {
  const view = viewOf(head);
  let tracks: Tracks;
  for (let at = 0; at + 14 <= head.length; ) {
    const code = view.getUint32(at);
    if (code >> 4 === 0x1e || code === 0x1fd) return 'video';
    if (code === 0x1bb && (view.getUint8(at + 10) & 31) > 0) return 'video';
    if (code === 0x1bb && view.getUint8(at + 9) >> 2 > 0) tracks = 'audio';
    // A sector of a Video CD ends in zeros.
    if (code < 0x100) at += 1;
    else if (code >>> 8 !== 1) return undefined;
    else if (code !== 0x1ba) at += 6 + view.getUint16(at + 4);
    else at += (view.getUint8(at + 4) & 0xc0) === 0x40 ? 14 + (view.getUint8(at + 13) & 7) : 12;
  }
  return tracks;
}

const wtvHeader = '\xb7\xd8\x00\x20\x37\x49\xda\x11\xa6\x4e\x00\x07\xe9\x5e\xad\x8d';
const directShowKind = '\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71';

/** Whether a file is a recording of Windows Media Center. */
export function isWtv(head: Uint8Array): boolean {
  return matches(head, 0, wtvHeader);
}

/** The content of such a recording, by the DirectShow types of its streams. */
export function wtvTracks(head: Uint8Array): Tracks {
  if (holds(head, `vids${directShowKind}`)) return 'video';
  return holds(head, `auds${directShowKind}`) ? 'audio' : undefined;
}

/** The longest header that is read: headers describe a few dozen tracks. */
const mostBytes = 1024 * 1024;

/** A run-in of other bytes may precede the first partition (SMPTE ST 377-1, 6.5). */
const mostRunIn = 64 * 1024;

const headerPartition = '\x06\x0e\x2b\x34\x02\x05\x01\x01\x0d\x01\x02\x01\x01\x02';

/** The kind of a track's essence (SMPTE RP 224): the thirteenth byte is 1 for pictures, 2 for sound. */
const dataDefinition = '\x06\x0e\x2b\x34\x04\x01\x01\x01\x01\x03\x02\x02';

/** Whether a file is an MXF, the container of cameras and broadcasters. */
export function isMxf(head: Uint8Array): boolean {
  if (matches(head, 0, headerPartition)) return true;
  // A run-in cannot contain the beginning of a key.
  return head[0] === 0x06 && holds(head.subarray(0, mostRunIn), headerPartition);
}

/** The content of an MXF, by the kinds of essence that its header defines. */
export async function mxfTracks(bytes: RandomAccess): Promise<Tracks> {
  const header = await bytes.read(0, Math.min(mostBytes, bytes.size));
  if (holds(header, `${dataDefinition}\x01`)) return 'video';
  return holds(header, `${dataDefinition}\x02`) ? 'audio' : undefined;
}
