import {defined} from '../../lib/defined.ts';
import {isCount, isSha256, isString, oneOf, optional, type Shape} from '../../lib/shape.ts';
import type {MediaRecord} from '../../service/record.ts';
import {factsShape, type MediaFacts} from '../media/media-facts.ts';

/** The content of a record file. It has no URLs, since they depend on where the service listens. */
export interface StoredRecord extends MediaFacts {
  readonly version: 1;
  readonly id: string;
  readonly type: 'IMAGE' | 'VIDEO';
  readonly contentType: string;
  readonly size: number;
  /** Hexadecimal. */
  readonly sha256: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** Whether there is a thumbnail. */
  readonly thumbnail?: true;
  /** Whether there is an HLS stream. */
  readonly stream?: true;
}

/** The shape of a record file. */
export const recordShape: Shape<StoredRecord> = {
  version: oneOf(1),
  id: isString,
  type: oneOf('IMAGE', 'VIDEO'),
  contentType: isString,
  size: isCount,
  sha256: isSha256,
  createdAt: isString,
  thumbnail: optional(oneOf(true)),
  stream: optional(oneOf(true)),
  ...factsShape,
};

/** The media record of the interface (part 2); unknown fields are absent. */
export function mediaRecord(stored: StoredRecord, baseUrl: string): MediaRecord {
  const url = `${baseUrl}/files/${stored.id}`;
  return defined({
    id: stored.id,
    type: stored.type,
    urls: [{variant: 'PUBLIC', url}],
    width: stored.width,
    height: stored.height,
    imageType: stored.imageType,
    fileUrl: url,
    duration: stored.duration,
    thumbnailUrl: stored.thumbnail && `${baseUrl}/thumbnails/${stored.id}.webp`,
    hlsUrl: stored.stream && `${baseUrl}/streams/${stored.id}/index.m3u8`,
    size: stored.size,
  });
}
