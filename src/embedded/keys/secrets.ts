import {createHash} from 'node:crypto';

/** The SHA-256 of a secret, in hex, by which it is stored and looked up. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
