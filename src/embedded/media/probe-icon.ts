import type {FileHandle} from 'node:fs/promises';

/** A picture of an icon or a cursor: what the directory says, and where its bytes are. */
interface Entry {
  readonly width: number;
  readonly height: number;
  readonly offset: number;
}

/** Whether the picture of this size in an icon or a cursor has the size that the directory says. */
export async function isIconSize(
  handle: FileHandle,
  head: Buffer,
  size: {width: number | undefined; height: number | undefined},
): Promise<boolean> {
  const entry = entriesOf(head).find(({width, height}) => width === size.width && height === size.height);
  if (entry === undefined) return false;
  const {buffer: picture} = await handle.read(Buffer.alloc(24), 0, 24, entry.offset);
  const isPng = picture.toString('latin1', 1, 4) === 'PNG';
  const width = isPng ? picture.readUInt32BE(16) : picture.readInt32LE(4);
  // A bitmap is followed by its mask.
  const height = isPng ? picture.readUInt32BE(20) : picture.readInt32LE(8) / 2;
  return width === entry.width && height === entry.height;
}

function entriesOf(head: Buffer): Entry[] {
  const count = Math.min(head.readUInt16LE(4), Math.floor((head.length - 6) / 16));
  return Array.from({length: count}, (_, index) => {
    const entry = head.subarray(6 + 16 * index);
    return {
      width: entry.readUInt8(0) || 256,
      height: entry.readUInt8(1) || 256,
      offset: entry.readUInt32LE(12),
    };
  });
}
