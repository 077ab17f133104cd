import type {RandomAccess} from '../../lib/files/random-access.ts';
import {matches} from './bytes.ts';
import {type Section, Sections} from './sections.ts';

// The identifiers of RFC 9559 and RFC 8794.
const docType = 0x4282;
const segment = 0x18538067;
const trackList = 0x1654ae6b;
const trackEntry = 0xae;
const trackType = 0x83;

/** The kinds of tracks; 3 is a picture with sound (RFC 9559, 5.1.4.1.3). */
const trackTypes = new Map([
  [1, 'video'],
  [2, 'audio'],
  [3, 'video'],
  [17, 'subtitles'],
]);

/** The type by the first bytes of a Matroska or WebM file, regardless of its tracks; undefined for others. */
export function matroskaType(head: Buffer): string | undefined {
  if (!matches(head, 0, '\x1a\x45\xdf\xa3')) return undefined;
  const header = readElement(head, 0);
  for (let at = header?.start ?? 0; header !== undefined && at < header.end; ) {
    const child = readElement(head.subarray(at), at);
    if (child === undefined) return undefined;
    if (child.kind === docType && matches(head, child.start, 'webm')) return 'video/webm';
    if (child.kind === docType && matches(head, child.start, 'matroska')) return 'video/x-matroska';
    at = child.end;
  }
  return undefined;
}

/** The kinds of tracks in a Matroska or WebM file; undefined if there is no video and the list is incomplete. */
export async function matroskaTracks(bytes: RandomAccess): Promise<ReadonlySet<string> | undefined> {
  // There are a few elements before the list of tracks, or a cluster every few seconds if the list comes last.
  const elements = new Sections(bytes, {shortest: 1, most: 4000, read: readElement});
  const whole = await elements.find({start: 0, end: bytes.size}, segment);
  const list = whole && (await elements.find(whole, trackList));
  if (list === undefined) return undefined;
  const kinds = new Set<string>();
  let end = list.start;
  for await (const entry of elements.in(list)) {
    if (entry.kind !== trackEntry) continue;
    end = entry.end;
    const type = await elements.find(entry, trackType);
    if (type === undefined || type.end - type.start !== 1) return undefined;
    kinds.add(trackTypes.get((await bytes.read(type.start, 1))[0] ?? 0) ?? 'unknown');
  }
  if (kinds.has('video')) return kinds;
  // The last entry of a file that was cut off may end behind the list, and the list behind the file.
  const isWhole = elements.isSound && end <= list.end && list.end <= bytes.size;
  return isWhole && !kinds.has('unknown') ? kinds : undefined;
}

/** An element by its first bytes; its length is infinite in live streams. */
function readElement(bytes: Buffer, position: number): Section<number> | undefined {
  const idLength = numberLength(bytes[0]);
  const sizeLength = numberLength(bytes[idLength]);
  const headerLength = idLength + sizeLength;
  if (idLength === 0 || idLength > 4 || sizeLength === 0 || headerLength > bytes.length) return undefined;
  // With the marker bit, a size of eight bytes would not fit into a number.
  const highest = (bytes[idLength] ?? 0) & (0xff >> sizeLength);
  const size = bigEndian(highest, bytes.subarray(idLength + 1, headerLength));
  const isInfinite = size >= 2 ** (7 * sizeLength) - 1;
  const start = position + headerLength;
  const kind = bigEndian(0, bytes.subarray(0, idLength));
  return {kind, start, end: isInfinite ? Number.POSITIVE_INFINITY : start + size};
}

// The length of a number is the count of leading zero bits in its first byte, plus one.
function numberLength(first: number | undefined): number {
  return first === undefined || first === 0 ? 0 : Math.clz32(first) - 23;
}

function bigEndian(highest: number, bytes: Uint8Array): number {
  return bytes.reduce((number, byte) => number * 256 + byte, highest);
}
