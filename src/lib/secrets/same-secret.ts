import {timingSafeEqual} from 'node:crypto';

/** Whether two texts are the same, in constant time for the same length, so that timing reveals nothing about the secret one. */
export function isSameSecret(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)];
  return first.length === second.length && timingSafeEqual(first, second);
}
