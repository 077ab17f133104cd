/** Bytes that replace those of a file. */
export interface Patch {
  readonly offset: number;
  readonly bytes: Buffer;
}

/** The bytes at a position with the patches there, of which the last one counts; a copy, if there are some. */
export function applyPatches<Bytes extends Uint8Array>(
  bytes: Bytes,
  position: number,
  patches: readonly Patch[],
): Bytes | Buffer {
  const end = position + bytes.length;
  const near = patches.filter(patch => patch.offset < end && position < patch.offset + patch.bytes.length);
  if (near.length === 0) return bytes;
  // Not by Buffer.from(), which clears the memory first.
  const copy = Buffer.concat([bytes]);
  for (const patch of near)
    patch.bytes.copy(copy, Math.max(0, patch.offset - position), Math.max(0, position - patch.offset));
  return copy;
}
