import type {RandomAccess} from './content-type.ts';
import {canonicalType, isMediaType} from './content-type-tables.ts';
import {isAudioStream} from './sniff-audio.ts';
import {isConfirmed, isCursor, matches, sniffSignature} from './sniff-signatures.ts';
import {sniffText} from './sniff-text.ts';
import type {Tracks} from './tracks.ts';
import {isobmffTracks, isobmffType} from './tracks-isobmff.ts';
import {matroskaTracks, matroskaType} from './tracks-matroska.ts';
import {asfTracks, isAsf, isOgg, oggTracks} from './tracks-streams.ts';

/** What the bytes are: an image or video type, positively something else, or (undefined) nothing that anybody knows. */
export type Finding = {isMedia: true; type: string} | OtherFinding | undefined;

export interface OtherFinding {
  isMedia: false;
  what: string;
  /** The type under which its container could be sent all the same. */
  container?: string;
}

const headLength = 64 * 1024;

/** Containers that may hold video, of which neither we nor file-type can tell. */
const undecided = new Set([
  'application/mxf',
  'application/ogg',
  'application/vnd.ms-asf',
  'application/vnd.rn-realmedia',
]);

/** Says what a file's bytes are: from its first 64 KiB, and for containers from the list of tracks. */
export async function sniff(bytes: RandomAccess): Promise<Finding> {
  const head = await bytes.read(0, Math.min(headLength, bytes.size));
  const type = sniffSignature(head) ?? sniffText(head, head.length === bytes.size);
  if (type !== undefined) return finding(type);
  return (await sniffContainer(head, bytes)) ?? (await askFileType(head, bytes));
}

function finding(type: string): Finding {
  return isMediaType(type) ? {isMedia: true, type} : {isMedia: false, what: type};
}

async function sniffContainer(head: Uint8Array, bytes: RandomAccess): Promise<Finding> {
  if (isOgg(head)) {
    const tracks = oggTracks(head);
    return tracks === undefined ? undefined : trackFinding('video/ogg', tracks);
  }
  if (isAsf(head)) return trackFinding('video/x-ms-asf', asfTracks(head));
  const remembered = withHead(head, bytes);
  const matroska = matroskaType(head);
  if (matroska !== undefined) return trackFinding(matroska, await matroskaTracks(remembered));
  const isobmff = isobmffType(head, bytes.size);
  if (isobmff === undefined || isobmff.startsWith('image/'))
    return isobmff === undefined ? undefined : finding(isobmff);
  const tracks = await isobmffTracks(remembered);
  // The brands of audio are kept by players for audio; only a picture that moves outweighs them.
  if (isobmff === 'audio/mp4') return trackFinding('video/mp4', tracks ?? 'audio');
  return trackFinding(isobmff, tracks);
}

// Most lists of tracks begin within the bytes that have been read already.
function withHead(head: Uint8Array, bytes: RandomAccess): RandomAccess {
  return {
    size: bytes.size,
    read: async (position, length) =>
      position + length <= head.length
        ? head.subarray(position, position + length)
        : bytes.read(position, length),
  };
}

// Where the tracks are not known, the file stays what its first bytes say: it may be cut short, and still a video.
function trackFinding(type: string, tracks: Tracks): Finding {
  if (tracks === undefined || tracks === 'video') return {isMedia: true, type};
  return {isMedia: false, what: `${type} with nothing but ${tracks} in it`, container: type};
}

/** Loads what sniffing nearly always needs. */
export async function loadSniffer(): Promise<void> {
  await import('file-type');
}

async function askFileType(head: Uint8Array, bytes: RandomAccess): Promise<Finding> {
  const {fileTypeFromBuffer} = await import('file-type');
  // It throws for some malformed files; those it does not recognise.
  const reported = (await fileTypeFromBuffer(head).catch(() => undefined))?.mime;
  if (reported === undefined) return isTiff(head) ? {isMedia: true, type: 'image/tiff'} : undefined;
  // XML is for the sniffer of text to tell, which looks at more than the declaration.
  if (reported === 'application/xml' || undecided.has(reported)) return undefined;
  if (!isConfirmed(reported, head, bytes.size)) return undefined;
  const isBareAudio = (reported === 'audio/mpeg' || reported === 'audio/aac') && !matches(head, 0, 'ID3');
  if (isBareAudio && !(await isAudioStream(bytes))) return undefined;
  return finding(reported === 'image/x-icon' && isCursor(head) ? 'image/x-cursor' : canonicalType(reported));
}

// file-type wants the directory as well, which may be at the end of a large file.
function isTiff(head: Uint8Array): boolean {
  return matches(head, 0, 'II*\0') || matches(head, 0, 'MM\0*');
}
