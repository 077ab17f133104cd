import type {Part} from './part.ts';
import {UnstrippableError} from './unstrippable.ts';

/** A box of an ISO base media file (ISO/IEC 14496-12, 4.2). */
export interface Box {
  /** Its type, with one character per byte. */
  readonly kind: string;
  readonly header: Part;
  readonly content: Part;
}

/** The most boxes in a box; a long recording in fragments has a few for each second. */
const mostBoxes = 1_000_000;

/** The boxes that a part consists of. */
export async function* boxesOf(part: Part): AsyncGenerator<Box> {
  let at = 0;
  for (let count = 0; at < part.size; count += 1) {
    const head = await part.read(at, Math.min(16, part.size - at));
    // QuickTime ends some lists with a zero.
    if (head.length < 8 && head.every(byte => byte === 0)) return;
    if (head.length < 8 || count > mostBoxes) throw new UnstrippableError('a file whose boxes are wrong');
    const short = head.readUInt32BE(0);
    if (short === 1 && head.length < 16) throw new UnstrippableError('a file whose boxes are wrong');
    const headerSize = short === 1 ? 16 : 8;
    const size = short === 0 ? part.size - at : short === 1 ? Number(head.readBigUInt64BE(8)) : short;
    if (size < headerSize) throw new UnstrippableError('a file whose boxes are wrong');
    const box = part.slice(at, size);
    yield {
      kind: head.toString('latin1', 4, 8),
      header: box.slice(0, headerSize),
      content: box.slice(headerSize),
    };
    at += size;
  }
}
