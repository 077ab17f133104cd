/** Random access to the bytes of an opened file. */
export interface RandomAccess {
  readonly size: number;
  /** Reads at a position; fewer bytes than asked for only at the end. */
  read(position: number, length: number): Promise<Uint8Array>;
}

/** Bytes at a position, as a buffer. */
export async function readAt(bytes: RandomAccess, position: number, length: number): Promise<Buffer> {
  const read = await bytes.read(position, length);
  return Buffer.from(read.buffer, read.byteOffset, read.length);
}
