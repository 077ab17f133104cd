import {matches, viewOf} from './sniff-signatures.ts';
import {mostTelling, type Tracks} from './tracks.ts';

/** How the first packet of each stream in an Ogg file begins. */
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

/** What an Ogg file holds: every stream begins, one page each, before any goes on (RFC 3533, section 6). */
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
  return mostTelling(found);
}

const asfHeader = '\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c';
const asfVideo = '\xc0\xef\x19\xbc\x4d\x5b\xcf\x11\xa8\xfd\x00\x80\x5f\x5c\x44\x2b';
const asfAudio = '\x40\x9e\x69\xf8\x4d\x5b\xcf\x11\xa8\xfd\x00\x80\x5f\x5c\x44\x2b';

/** Whether a file is Microsoft's ASF, the container of WMV and WMA. */
export function isAsf(head: Uint8Array): boolean {
  return matches(head, 0, asfHeader);
}

/**
 * What an ASF file holds: the header names the type of each stream by its GUID (ASF 01.20.03, 3.3). file-type looks at
 * the first stream only.
 */
export function asfTracks(head: Uint8Array): Tracks {
  if (head.length < 24) return undefined;
  const end = Number(viewOf(head).getBigUint64(16, true));
  const header = head.subarray(0, end);
  if (holds(header, asfVideo)) return 'video';
  return end <= head.length && holds(header, asfAudio) ? 'audio' : undefined;
}

function holds(bytes: Uint8Array, sequence: string): boolean {
  const first = sequence.charCodeAt(0);
  for (let at = bytes.indexOf(first); at !== -1; at = bytes.indexOf(first, at + 1)) {
    if (matches(bytes, at, sequence)) return true;
  }
  return false;
}
