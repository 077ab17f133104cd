import {randomUUID} from 'node:crypto';
import {closeSync, fstatSync, openSync, readSync} from 'node:fs';

const uuidSize = 16;
/** Random bytes read ahead, and where the next UUID begins in them. */
const pool = Buffer.alloc(256 * uuidSize);
let next = pool.length;

/**
 * A random UUID (RFC 9562, version 4). Its bytes come from the kernel itself where it has a device for them: node:crypto
 * would give the same, and takes 2 to 10 ms to load.
 */
export function uuid(): string {
  if (next === pool.length && !refill()) return randomUUID();
  const bytes = pool.subarray(next, next + uuidSize);
  next += uuidSize;
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Whether the pool is full again. */
function refill(): boolean {
  let device: number | undefined;
  try {
    device = openSync('/dev/urandom', 'r');
    if (!fstatSync(device).isCharacterDevice() || readSync(device, pool) !== pool.length) return false;
    next = 0;
    return true;
  } catch {
    return false;
  } finally {
    if (device !== undefined) closeSync(device);
  }
}
