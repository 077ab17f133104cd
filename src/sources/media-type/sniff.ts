import {holdsAudioFrames} from './audio-frames.ts';
import type {Finding} from './finding.ts';
import type {RandomAccess} from './random-access.ts';
import {isAudioStream} from './sniff-audio.ts';
import {sniffRawVideo} from './sniff-nal.ts';
import {sniffPicture} from './sniff-pictures.ts';
import {sniffPlainText} from './sniff-plain-text.ts';
import {isConfirmed, isCursor, isTransportStream, matches, sniffSignature} from './sniff-signatures.ts';
import {sniffText} from './sniff-text.ts';
import {canonicalType, isMediaType} from './tables.ts';
import type {Tracks} from './tracks.ts';
import {isobmffTracks, isobmffType} from './tracks-isobmff.ts';
import {matroskaTracks, matroskaType} from './tracks-matroska.ts';
import {isMxf, mxfTracks} from './tracks-mxf.ts';
import {
  asfTracks,
  aviTracks,
  flvTracks,
  isAsf,
  isAvi,
  isFlv,
  isOgg,
  isRealMedia,
  isWtv,
  oggTracks,
  realMediaTracks,
  wtvTracks,
} from './tracks-streams.ts';
import {transportTracks} from './tracks-transport.ts';

const headLength = 64 * 1024;

/** Containers that may hold video, of which neither we nor file-type can tell. */
const undecided = new Set(['application/ogg', 'application/vnd.ms-asf']);

/** Audio that file-type concludes from two bytes. */
const bareAudio = new Set(['audio/mpeg', 'audio/aac', 'audio/vnd.dolby.dd-raw']);

/** Containers whose first bytes name what is in them: the type with video, how they begin, and what they hold. */
const containers: readonly (readonly [
  type: string,
  begins: (head: Uint8Array) => boolean,
  tracks: (head: Uint8Array) => Tracks,
])[] = [
  ['video/x-ms-asf', isAsf, asfTracks],
  ['video/x-msvideo', isAvi, aviTracks],
  ['video/x-flv', isFlv, flvTracks],
  ['video/vnd.rn-realvideo', isRealMedia, realMediaTracks],
  ['video/x-ms-wtv', isWtv, wtvTracks],
  ['video/mp2t', isTransportStream, transportTracks],
];

/** Says what a file's bytes are: from its first 64 KiB, and for containers from the list of tracks. */
export async function sniff(bytes: RandomAccess): Promise<Finding> {
  const head = await bytes.read(0, Math.min(headLength, bytes.size));
  const isWhole = head.length === bytes.size;
  const type = sniffSignature(head) ?? sniffText(head, isWhole) ?? sniffPicture(head);
  if (type !== undefined) return finding(type);
  const container = await sniffContainer(head, bytes);
  if (container !== undefined) return container;
  const rest = sniffRawVideo(head) ?? sniffPlainText(head, isWhole);
  return rest === undefined ? askFileType(head, bytes) : finding(rest);
}

function finding(type: string): Finding {
  return isMediaType(type) ? {isMedia: true, type} : {isMedia: false, what: type};
}

async function sniffContainer(head: Uint8Array, bytes: RandomAccess): Promise<Finding> {
  if (isOgg(head)) {
    const tracks = oggTracks(head);
    return tracks === undefined ? undefined : trackFinding('video/ogg', tracks);
  }
  const known = containers.find(([, begins]) => begins(head));
  if (known !== undefined) return trackFinding(known[0], known[2](head));
  const remembered = withHead(head, bytes);
  if (isMxf(head)) return trackFinding('video/mxf', await mxfTracks(remembered));
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
  return {isMedia: false, what: tracks, container: type};
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
  if (bareAudio.has(reported) && !(await isAudio(bytes))) return undefined;
  return finding(reported === 'image/x-icon' && isCursor(head) ? 'image/x-cursor' : canonicalType(reported));
}

// mediabunny wants more of it than a sliver has.
async function isAudio(bytes: RandomAccess): Promise<boolean> {
  return (await holdsAudioFrames(bytes, 0, bytes.size)) || isAudioStream(bytes);
}

// file-type wants the directory as well, which may be at the end of a large file.
function isTiff(head: Uint8Array): boolean {
  return matches(head, 0, 'II*\0') || matches(head, 0, 'MM\0*');
}
