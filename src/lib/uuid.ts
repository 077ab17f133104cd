import {randomUUID} from 'node:crypto';
import {closeSync, fstatSync, openSync, readSync} from 'node:fs';

/** The length of a UUID in bytes. */
const uuidBytes = 16;
const poolBytes = 256 * uuidBytes;

/**
 * Makes random UUIDs (RFC 9562, version 4) from the kernel's random device, if there is one. node:crypto does the same,
 * but takes 2 to 10 ms to load, and a small upload over plain http does not need it otherwise.
 */
export function uuidSource(): () => string {
  let pool: Buffer | undefined;
  let next = poolBytes;
  return () => {
    if (next === poolBytes) {
      pool = readDevice();
      next = 0;
    }
    if (pool === undefined) return randomUUID();
    const bytes = pool.subarray(next, next + uuidBytes);
    next += uuidBytes;
    return uuidOf(bytes);
  };
}

/** Random bytes, or undefined without the device. */
function readDevice(): Buffer | undefined {
  let device: number | undefined;
  try {
    device = openSync('/dev/urandom', 'r');
    const bytes = Buffer.alloc(poolBytes);
    return fstatSync(device).isCharacterDevice() && readSync(device, bytes) === poolBytes ? bytes : undefined;
  } catch {
    return undefined;
  } finally {
    if (device !== undefined) closeSync(device);
  }
}

function uuidOf(bytes: Buffer): string {
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const digits = bytes.toString('hex');
  const group = (from: number, to?: number) => digits.slice(from, to);
  return `${group(0, 8)}-${group(8, 12)}-${group(12, 16)}-${group(16, 20)}-${group(20)}`;
}
