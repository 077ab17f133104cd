/**
 * Memory into which files were read, for the next files: the system has to clear new memory, which takes a tenth of the CPU
 * time of photos of 3 MB.
 */
const spare: Uint8Array[] = [];

/** Enough for the uploads that end at about the same time; usually pieces of 256 KiB. */
const mostSpare = 32;

/** Memory of exactly this many bytes, which may contain anything. */
export function takeMemory(bytes: number): Uint8Array {
  const index = spare.findLastIndex(({length}) => length === bytes);
  return spare.splice(index, index === -1 ? 0 : 1)[0] ?? Buffer.allocUnsafeSlow(bytes);
}

/** For memory that nobody reads any more. */
export function returnMemory(memory: Uint8Array): void {
  spare.push(memory);
  if (spare.length > mostSpare) spare.shift();
}
