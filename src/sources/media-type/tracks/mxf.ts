import {holds, matches} from '../bytes/bytes.ts';
import type {RandomAccess} from '../bytes/random-access.ts';
import type {Tracks} from './tracks.ts';

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
