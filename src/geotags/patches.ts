/** Bytes that replace those of a file. */
export interface Patch {
  readonly offset: number;
  readonly bytes: Buffer;
}

/** So few bytes are copied whole. */
const shortBytes = 64 * 1024;

/** The patches that change some of the bytes at a position. */
export function touching<One extends Patch>(
  patches: readonly One[],
  position: number,
  length: number,
): One[] {
  return patches.filter(({offset, bytes}) => offset < position + length && position < offset + bytes.length);
}

/** A copy of the bytes at a position, with patches that touch them. */
export function changed(bytes: Uint8Array, position: number, patches: readonly Patch[]): Buffer {
  const copy = Buffer.from(bytes);
  for (const {offset, bytes: patch} of patches)
    patch.copy(copy, Math.max(0, offset - position), Math.max(0, position - offset));
  return copy;
}

/** The changes in order, those that touch joined; of those that overlap, the last one counts. */
export function united(changes: readonly Patch[]): Patch[] {
  const ranges: {start: number; end: number}[] = [];
  for (const {offset, bytes} of [...changes].sort((one, other) => one.offset - other.offset)) {
    const last = ranges.at(-1);
    const end = offset + bytes.length;
    if (last === undefined || last.end < offset) ranges.push({start: offset, end});
    else last.end = Math.max(last.end, end);
  }
  return ranges.map(({start, end}) => ({
    offset: start,
    bytes: changed(Buffer.alloc(end - start), start, touching(changes, start, end - start)),
  }));
}

/** The bytes at a position with the patches there; of many, only those up to the last patch are copied, since new memory takes time. */
export function patched(bytes: Uint8Array, position: number, patches: readonly Patch[]): Uint8Array[] {
  const near = touching(patches, position, bytes.length);
  const last = near.at(-1);
  if (last === undefined) return [bytes];
  const isShort = bytes.length <= shortBytes;
  const end = isShort ? bytes.length : Math.min(bytes.length, last.offset + last.bytes.length - position);
  const copy = changed(bytes.subarray(0, end), position, near);
  return end === bytes.length ? [copy] : [copy, bytes.subarray(end)];
}
