import type {RandomAccess} from '../bytes/bytes.ts';
import {isobmffTracks, isobmffType} from './isobmff.ts';
import {matroskaTracks, matroskaType} from './matroska.ts';
import {isTransportStream, sniffRawVideo, transportTracks} from './mpeg.ts';
import {
  asfTracks,
  aviTracks,
  flvTracks,
  isAsf,
  isAvi,
  isFlv,
  isMxf,
  isOgg,
  isProgramStream,
  isRealMedia,
  isWtv,
  mxfTracks,
  oggTracks,
  programTracks,
  realMediaTracks,
  wtvTracks,
} from './streams.ts';
import type {Tracks} from './tracks.ts';

/** A container that may hold video, or a stream of video without one. */
export interface Contents {
  /** Its type if there is video in it, or a type of picture. */
  type: string;
  tracks: Tracks;
}

/** Containers that list their tracks in their first bytes: the type with video, a test, and a reader of the tracks. */
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
  ['video/mpeg', isProgramStream, programTracks],
  ['video/mp2t', isTransportStream, transportTracks],
];

/**
 * Reads the content of a container from its first bytes and its list of tracks; undefined for other files. mediabunny would
 * do this for four of the ten containers only (not for AVI, ASF, FLV, MXF, RealMedia, WTV), and takes 50 ms to load.
 */
export async function readContainer(head: Uint8Array, bytes: RandomAccess): Promise<Contents | undefined> {
  if (isOgg(head)) {
    const tracks = oggTracks(head);
    return tracks && {type: 'video/ogg', tracks};
  }
  const known = containers.find(([, begins]) => begins(head));
  if (known !== undefined) return {type: known[0], tracks: known[2](head)};
  const cached = withHead(head, bytes);
  if (isMxf(head)) return {type: 'video/mxf', tracks: await mxfTracks(cached)};
  const matroska = matroskaType(head);
  if (matroska !== undefined) return {type: matroska, tracks: await matroskaTracks(cached)};
  const type = isobmffType(head, bytes.size);
  if (type === undefined) {
    const raw = sniffRawVideo(head);
    return raw === undefined ? undefined : {type: raw, tracks: 'video'};
  }
  if (type.startsWith('image/')) return {type, tracks: undefined};
  const tracks = await isobmffTracks(cached);
  // The brands of audio are for audio only, unless there is a video track.
  if (type === 'audio/mp4') return {type: 'video/mp4', tracks: tracks ?? 'audio'};
  return {type, tracks};
}

/** Most lists of tracks begin within the bytes that are read already. */
function withHead(head: Uint8Array, bytes: RandomAccess): RandomAccess {
  return {
    size: bytes.size,
    read: async (position, length) =>
      position + length <= head.length
        ? head.subarray(position, position + length)
        : bytes.read(position, length),
  };
}
