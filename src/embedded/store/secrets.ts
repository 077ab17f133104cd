import {createHash, timingSafeEqual} from 'node:crypto';

/** The SHA-256 of a secret, in hex, by which it is stored and looked up. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Whether two texts are the same, in constant time for the same length, so that timing reveals nothing about the secret one. */
export function isSameSecret(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)];
  return first.length === second.length && timingSafeEqual(first, second);
}
