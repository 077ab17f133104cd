import {randomBytes} from 'node:crypto';
import type {Clock} from '../../host.ts';
import {isCount, isSha256, isString, matching, oneOf, optional, type ShapeOf} from '../../lib/json.ts';
import {omitUndefined} from '../../lib/object.ts';
import {factsShape} from '../../media/pixels/media-facts.ts';

export const recordShape = {
  version: oneOf(1),
  id: isString,
  type: oneOf('IMAGE', 'VIDEO'),
  contentType: isString,
  size: isCount,
  /** Hexadecimal. */
  sha256: isSha256,
  /** ISO 8601, UTC. */
  createdAt: isString,
  thumbnail: optional(oneOf(true)),
  stream: optional(oneOf(true)),
  ...factsShape,
};

/** The content of a record file. It has no URLs, since they depend on where the service listens. */
export type StoredRecord = Readonly<ShapeOf<typeof recordShape>>;

/** The media record of the interface (docs/design/interface.md); unknown fields are absent. */
export function mediaRecord(stored: StoredRecord, baseUrl: string) {
  const url = `${baseUrl}/files/${stored.id}`;
  return omitUndefined({
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

// Crockford's base 32: sortable, safe in URLs, and unambiguous on file systems that ignore case.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** Whether a value is a media ID of this service, which is safe as a file name. */
export const isRecordId = matching(/^m_[0-9a-hjkmnp-tv-z]{29}$/);

/** Makes media IDs that sort by creation and cannot be guessed: whoever has an ID may read the file. */
export function recordIds(clock: Clock): () => string {
  let last = 0;
  let counter = 0;
  return () => {
    const now = Math.floor(clock.now());
    counter = now > last ? 0 : (counter + 1) % 32 ** 3;
    // The order must hold even if the counter wraps or the clock is set back.
    last = Math.max(last + (counter === 0 ? 1 : 0), now);
    const random = Array.from(randomBytes(16), byte => alphabet[byte % 32]).join('');
    return `m_${digits(last, 10)}${digits(counter, 3)}${random}`;
  };
}

/** The ID of a file that is there from the start, by a hash (hexadecimal): it sorts before all uploads. */
export function seedId(hash: string): string {
  const random = [...Buffer.from(hash, 'hex').subarray(0, 19)].map(byte => alphabet[byte % 32]);
  return `m_${digits(0, 10)}${random.join('')}`;
}

/** A number in Crockford's base 32, with zeros in front of it up to `count` digits. */
function digits(value: number, count: number): string {
  const base32 = value.toString(32).padStart(count, '0');
  return base32.replace(/./g, digit => alphabet[Number.parseInt(digit, 32)] ?? '');
}
