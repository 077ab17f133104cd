import {randomBytes} from 'node:crypto';
import type {Clock} from '../../host.ts';
import {matching} from '../../lib/shape.ts';

// Crockford's base 32: sortable, safe in URLs, and unambiguous on file systems that ignore case.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** Whether a value is a media ID of this service, which is safe as a file name. */
export const isRecordId = matching(/^m_[0-9a-hjkmnp-tv-z]{29}$/);

/**
 * Makes media IDs that sort by creation: `m_`, milliseconds (10 digits), a counter (3 digits), and 80 random bits
 * (16 digits), since anyone who knows an ID may read its file.
 */
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

function digits(value: number, count: number): string {
  let text = '';
  for (let rest = value; text.length < count; rest = Math.floor(rest / 32)) {
    text = `${alphabet[rest % 32]}${text}`;
  }
  return text;
}
