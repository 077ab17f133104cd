/** Random access to the bytes of an opened file. */
export interface RandomAccess {
  readonly size: number;
  /** Reads at a position; fewer bytes only at the end. May use the memory of `into` if that is large enough. */
  read(position: number, length: number, into?: Uint8Array): Promise<Uint8Array>;
}

/** Bytes at a position, as a buffer. */
export async function readAt(
  bytes: RandomAccess,
  position: number,
  length: number,
  into?: Uint8Array,
): Promise<Buffer> {
  const read = await bytes.read(position, length, into);
  return Buffer.from(read.buffer, read.byteOffset, read.length);
}
