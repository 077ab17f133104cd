/** Memory that was used before: to clear new memory takes a tenth of the CPU time of an upload. */
const spare: Uint8Array[] = [];

/** Enough for the files that end at about the same time; usually pieces of 64 or 256 KiB. */
const mostSpare = 32;

/** Memory of exactly this many bytes, which may contain anything. */
export function takeMemory(bytes: number): Uint8Array {
  const index = spare.findLastIndex(({length}) => length === bytes);
  return spare.splice(index, index === -1 ? 0 : 1)[0] ?? Buffer.allocUnsafeSlow(bytes);
}

/** Keeps memory that nobody reads or writes any more, for the next file. */
export function keepMemory(...blocks: readonly Uint8Array[]): void {
  spare.push(...blocks);
  spare.splice(0, spare.length - mostSpare);
}
