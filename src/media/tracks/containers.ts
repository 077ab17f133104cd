import type {RandomAccess} from '../../lib/files/random-access.ts';
import {matches} from './bytes.ts';
import {isobmffTracks, isobmffTypes} from './isobmff-tracks.ts';
import {matroskaTracks, matroskaType} from './matroska.ts';

/** The most significant kind of track in a container; undefined if unknown. */
export type Tracks = 'video' | 'audio' | 'subtitles' | undefined;

/**
 * Reads the content of a container, or of a stream of video without one, from its first bytes and, where sound alone is
 * common, from its list of tracks; undefined for other files. `type`: its type if there is video in it, or a type of
 * picture. mediabunny would do the latter for three of the four, but takes 50 to 100 ms to load, and some damaged files
 * keep it busy forever.
 */
export async function readContainer(
  head: Buffer,
  bytes: RandomAccess,
): Promise<{type: string; tracks: Tracks} | undefined> {
  if (matches(head, 0, 'OggS')) {
    const tracks = oggTracks(head);
    return tracks && {type: 'video/ogg', tracks};
  }
  if (matches(head, 0, asfHeader)) return {type: 'video/x-ms-asf', tracks: asfTracks(head)};
  if (isProgramStream(head)) return {type: 'video/mpeg', tracks: programTracks(head)};
  if (isTransportStream(head)) return {type: 'video/mp2t', tracks: undefined};
  const matroska = matroskaType(head);
  if (matroska !== undefined) return {type: matroska, tracks: dominantTrack(await matroskaTracks(bytes))};
  const [type, ...otherTypes] = isobmffTypes(head, bytes.size);
  if (type === undefined) return undefined;
  if (type.startsWith('image/')) return {type, tracks: undefined};
  const tracks = dominantTrack(await isobmffTracks(bytes));
  // The brands of audio are for audio only, unless there is a video track.
  if (type === 'audio/mp4') return {type: 'video/mp4', tracks: tracks ?? 'audio'};
  // The brands of MP4 say no more than how a file is built: pictures have no tracks.
  const picture = otherTypes.find(other => other.startsWith('image/'));
  if (type === 'video/mp4' && tracks === undefined && picture !== undefined) return {type: picture, tracks};
  return {type, tracks};
}

/** The most significant of the kinds that were found; undefined if there is none. */
function dominantTrack(kinds: ReadonlySet<unknown> | undefined): Tracks {
  return (['video', 'audio', 'subtitles'] as const).find(kind => kinds?.has(kind));
}

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

/** The content of an Ogg file. The first pages of all streams come before any other page (RFC 3533, section 6). */
function oggTracks(head: Buffer): Tracks {
  const kinds = new Set<Tracks>();
  let position = 0;
  // The bit says that a page begins a stream.
  while (
    matches(head, position, 'OggS') &&
    position + 27 <= head.length &&
    ((head[position + 5] ?? 0) & 2) !== 0
  ) {
    const segments = head.subarray(position + 27, position + 27 + (head[position + 26] ?? 0));
    const packet = position + 27 + segments.length;
    kinds.add(oggCodecs.find(([magic]) => matches(head, packet, magic))?.[1]);
    position = packet + segments.reduce((sum, length) => sum + length, 0);
  }
  return dominantTrack(kinds);
}

/** The header of Microsoft's ASF, the container of WMV and WMA, and the types of its streams (ASF 01.20.03, 3.3). */
const asfHeader = '\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c';
const asfVideo = '\xc0\xef\x19\xbc\x4d\x5b\xcf\x11\xa8\xfd\x00\x80\x5f\x5c\x44\x2b';
const asfAudio = '\x40\x9e\x69\xf8\x4d\x5b\xcf\x11\xa8\xfd\x00\x80\x5f\x5c\x44\x2b';

/** The content of an ASF file, by its header. file-type reads only the first stream. */
function asfTracks(head: Buffer): Tracks {
  if (head.length < 24) return undefined;
  const end = Number(head.readBigUInt64LE(16));
  const header = head.subarray(0, end);
  if (header.includes(asfVideo, 'latin1')) return 'video';
  return end <= head.length && header.includes(asfAudio, 'latin1') ? 'audio' : undefined;
}

/** Whether a file is an MPEG program stream (ISO/IEC 11172-1, 2.4.3.2; 13818-1, 2.5.3.3). */
function isProgramStream(head: Buffer): boolean {
  const version = head[4] ?? 0;
  return matches(head, 0, '\0\0\x01\xba') && ((version & 0xf0) === 0x20 || (version & 0xc0) === 0x40);
}

/** The content of an MPEG program stream: by its system header and, since some headers are wrong, by its packets. */
function programTracks(head: Buffer): Tracks {
  let tracks: Tracks;
  for (let at = 0; at + 14 <= head.length; ) {
    const code = head.readUInt32BE(at);
    // Video streams, also extended ones; then the numbers of streams in a system header.
    if (code >> 4 === 0x1e || code === 0x1fd) return 'video';
    if (code === 0x1bb && (head.readUInt8(at + 10) & 31) > 0) return 'video';
    if (code === 0x1bb && head.readUInt8(at + 9) >> 2 > 0) tracks = 'audio';
    // A sector of a Video CD ends in zeros.
    if (code < 0x100) at += 1;
    else if (code >>> 8 !== 1) return undefined;
    else if (code !== 0x1ba) at += 6 + head.readUInt16BE(at + 4);
    else at += (head.readUInt8(at + 4) & 0xc0) === 0x40 ? 14 + (head.readUInt8(at + 13) & 7) : 12;
  }
  return tracks;
}

/** Whether the bytes are MPEG transport packets of 188, 192 or 204 bytes; a capture may begin within a packet. */
function isTransportStream(head: Buffer): boolean {
  for (const distance of [188, 192, 204]) {
    for (let start = 0; start < distance; start += 1) {
      if (head[start] !== 0x47) continue;
      // At the start of a file, fewer packets are enough.
      const atBoundary = start === 0 || (start === 4 && distance === 192);
      if (packetsFollow(head, start, distance, atBoundary ? 3 : 5)) return true;
    }
  }
  return false;
}

/** Whether the bytes from `start` are at least `least` packets of this length, and not lines of a text. */
function packetsFollow(head: Buffer, start: number, distance: number, least: number): boolean {
  const whole = Math.floor((head.length - start) / distance);
  if (whole < least) return false;
  let isText = true;
  for (let packet = 0; packet < Math.min(whole, 8); packet += 1) {
    const position = start + packet * distance;
    // The sync byte is the letter G: the next bytes must have no error bit and no reserved value (H.222.0, 2.4.3).
    const isPacket = head[position] === 0x47 && ((head[position + 1] ?? 0x80) & 0x80) === 0;
    if (!isPacket || ((head[position + 3] ?? 0) & 0x30) === 0) return false;
    // A damaged log may have other bytes than text, but not in each line after the same letter.
    isText &&= head
      .subarray(position + 1, position + 4)
      .every(byte => byte >= 0x20 || (byte >= 9 && byte <= 13));
  }
  return !isText;
}
