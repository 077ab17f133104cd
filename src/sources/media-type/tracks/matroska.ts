import type {RandomAccess} from '../../../lib/files/random-access.ts';
import {type Budget, matches} from './bytes.ts';

/** The most elements before the list of tracks: a few, or a cluster every few seconds if the list comes last. */
const mostElements = 4000;

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
export function matroskaType(head: Uint8Array): string | undefined {
  if (!matches(head, 0, '\x1a\x45\xdf\xa3')) return undefined;
  const header = readElement(head, 0);
  if (header === undefined) return undefined;
  let position = header.data;
  while (position < header.data + header.size) {
    const child = readElement(head, position);
    if (child === undefined) return undefined;
    if (child.id === docType && matches(head, child.data, 'webm')) return 'video/webm';
    if (child.id === docType && matches(head, child.data, 'matroska')) return 'video/x-matroska';
    position = child.data + child.size;
  }
  return undefined;
}

/** The kinds of tracks in a Matroska or WebM file; undefined unless there is video, or the list of tracks is complete. */
export async function matroskaTracks(bytes: RandomAccess): Promise<ReadonlySet<string> | undefined> {
  const budget = {left: mostElements, isSound: true};
  const whole = await findElement(bytes, segment, {data: 0, size: bytes.size}, budget);
  const list = whole && (await findElement(bytes, trackList, whole, budget));
  if (list === undefined) return undefined;
  const found = new Set<string>();
  const end = list.data + list.size;
  let position = list.data;
  for (;;) {
    const entry = await findElement(bytes, trackEntry, {data: position, size: end - position}, budget);
    if (entry === undefined) break;
    const type = await findElement(bytes, trackType, entry, budget);
    if (type?.size !== 1) return undefined;
    found.add(trackTypes.get((await bytes.read(type.data, 1))[0] ?? 0) ?? 'unknown');
    position = entry.data + entry.size;
  }
  if (found.has('video')) return found;
  const isWhole = budget.isSound && budget.left > 0 && position <= end && end <= bytes.size;
  return isWhole && !found.has('unknown') ? found : undefined;
}

interface Extent {
  data: number;
  size: number;
}

interface Element extends Extent {
  id: number;
}

async function findElement(
  bytes: RandomAccess,
  id: number,
  within: Extent,
  budget: Budget,
): Promise<Element | undefined> {
  let position = within.data;
  const end = Math.min(within.data + within.size, bytes.size);
  while (position < end && budget.left > 0) {
    budget.left -= 1;
    const element = readElement(await bytes.read(position, 12), 0);
    if (element === undefined) {
      budget.isSound = false;
      return undefined;
    }
    const found = {...element, data: position + element.data};
    if (element.id === id) return found;
    position = found.data + found.size;
  }
  return undefined;
}

/** An element's identifier, where its data begins, and its length, which is infinite in live streams. */
function readElement(bytes: Uint8Array, position: number): Element | undefined {
  const idLength = lengthOf(bytes[position]);
  const sizeLength = lengthOf(bytes[position + idLength]);
  const data = position + idLength + sizeLength;
  if (idLength === 0 || idLength > 4 || sizeLength === 0 || data > bytes.length) return undefined;
  const id = bigEndian(0, bytes.subarray(position, position + idLength));
  // With the marker bit, a size of eight bytes would not fit into a number.
  const highest = (bytes[position + idLength] ?? 0) & (0xff >> sizeLength);
  const size = bigEndian(highest, bytes.subarray(position + idLength + 1, data));
  return {id, data, size: size >= 2 ** (7 * sizeLength) - 1 ? Number.POSITIVE_INFINITY : size};
}

// The length of a number is the count of leading zero bits in its first byte, plus one.
function lengthOf(first: number | undefined): number {
  return first === undefined || first === 0 ? 0 : Math.clz32(first) - 23;
}

function bigEndian(highest: number, bytes: Uint8Array): number {
  return bytes.reduce((number, byte) => number * 256 + byte, highest);
}
