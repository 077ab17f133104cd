import type {FileHandle} from 'node:fs/promises';
import type {MediaFacts} from '../media-facts.ts';

const headLength = 6;
const entryLength = 16;
const iconType = 1;
const cursorType = 2;

/** A picture of an icon or a cursor: what the directory says, and where its bytes are. */
interface Entry {
  readonly width: number;
  readonly height: number;
  readonly offset: number;
}

/** Whether a file begins like an icon or a cursor with at least one picture. */
export function isIcon(head: Buffer): boolean {
  if (head.length < headLength || head.readUInt16LE(0) !== 0 || head.readUInt16LE(4) === 0) return false;
  return [iconType, cursorType].includes(head.readUInt16LE(2));
}

/** Format and size of an icon or a cursor: those of its largest picture; no size if the picture has another than the directory says. */
export async function probeIcon(handle: FileHandle, head: Buffer): Promise<MediaFacts> {
  const imageType = head.readUInt16LE(2) === iconType ? 'ico' : 'cur';
  const length = entryLength * head.readUInt16LE(4);
  const {buffer: directory, bytesRead} = await handle.read(Buffer.alloc(length), 0, length, headLength);
  if (bytesRead < length) throw new Error('the directory is cut off');
  const [first, ...others] = entriesIn(directory);
  if (first === undefined) return {imageType};
  const largest = others.reduce((one, other) => (areaOf(other) > areaOf(one) ? other : one), first);
  const {width, height} = largest;
  return (await isSizeOf(handle, largest)) ? {width, height, imageType} : {imageType};
}

function entriesIn(directory: Buffer): Entry[] {
  return Array.from({length: directory.length / entryLength}, (_, index) => {
    const entry = directory.subarray(entryLength * index);
    return {
      width: entry.readUInt8(0) || 256,
      height: entry.readUInt8(1) || 256,
      offset: entry.readUInt32LE(12),
    };
  });
}

function areaOf({width, height}: Entry): number {
  return width * height;
}

async function isSizeOf(handle: FileHandle, entry: Entry): Promise<boolean> {
  const {buffer: picture} = await handle.read(Buffer.alloc(24), 0, 24, entry.offset);
  const isPng = picture.toString('latin1', 1, 4) === 'PNG';
  const width = isPng ? picture.readUInt32BE(16) : picture.readInt32LE(4);
  // A bitmap is followed by its mask.
  const height = isPng ? picture.readUInt32BE(20) : picture.readInt32LE(8) / 2;
  return width === entry.width && height === entry.height;
}
