import {timingSafeEqual} from 'node:crypto';

/** Whether two texts are equal, in constant time for equal lengths, so that timing does not reveal the secret. */
export function isSameSecret(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)];
  return first.length === second.length && timingSafeEqual(first, second);
}
