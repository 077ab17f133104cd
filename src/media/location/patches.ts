/** Bytes that replace those of a file. */
export interface Patch {
  readonly offset: number;
  readonly bytes: Buffer;
}

/** The changes in order, those that touch joined; of those that overlap, the last one counts. */
export function mergePatches(changes: readonly Patch[]): Patch[] {
  const ranges: {start: number; end: number}[] = [];
  for (const {offset, bytes} of [...changes].sort((one, other) => one.offset - other.offset)) {
    const last = ranges.at(-1);
    const end = offset + bytes.length;
    if (last === undefined || last.end < offset) ranges.push({start: offset, end});
    else last.end = Math.max(last.end, end);
  }
  return ranges.map(({start, end}) => ({
    offset: start,
    bytes: applyPatches(Buffer.alloc(end - start), start, changes),
  }));
}

/** The bytes at a position with the patches there: a copy, if there are some. */
export function applyPatches<Bytes extends Uint8Array>(
  bytes: Bytes,
  position: number,
  patches: readonly Patch[],
): Bytes | Buffer {
  const end = position + bytes.length;
  const near = patches.filter(patch => patch.offset < end && position < patch.offset + patch.bytes.length);
  if (near.length === 0) return bytes;
  const copy = Buffer.from(bytes);
  for (const patch of near)
    patch.bytes.copy(copy, Math.max(0, patch.offset - position), Math.max(0, position - patch.offset));
  return copy;
}
