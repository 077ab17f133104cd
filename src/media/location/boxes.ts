import {readBox} from '../tracks/isobmff-tracks.ts';
import type {Part} from './part.ts';
import {UnstrippableError, wrongLengths} from './unstrippable.ts';

/** A box of an ISO base media file (ISO/IEC 14496-12, 4.2). */
export interface Box {
  /** Its type, with one character per byte. */
  readonly kind: string;
  readonly whole: Part;
  readonly content: Part;
}

/** The box at a position; undefined at the end. Throws if it is longer than the part. */
export function boxAt(part: Part, at: number): Box | undefined {
  const head = part.readUpTo(16, at);
  // QuickTime ends some lists with a zero.
  if (head.length < 8 && head.every(byte => byte === 0)) return undefined;
  const box = readBox(head, 0, part.size - at);
  if (box === undefined) throw wrongLengths();
  const whole = part.slice(at, box.end);
  return {kind: box.kind, whole, content: whole.slice(box.start)};
}

/** All boxes of a part, in order. */
export function boxesIn(part: Part): Box[] {
  const boxes: Box[] = [];
  for (let box = boxAt(part, 0), at = 0; box !== undefined; box = boxAt(part, at)) {
    // All of them are in memory; real boxes have less than a thousand.
    if (boxes.push(box) > 10_000) throw new UnstrippableError('very many boxes');
    at += box.whole.size;
  }
  return boxes;
}

/** The content of the first box of a kind within the first box of another kind, and so on. */
export function contentWithin(part: Part | undefined, ...kinds: readonly string[]): Part | undefined {
  return kinds.reduce(
    (within, kind) => within && boxesIn(within).find(box => box.kind === kind)?.content,
    part,
  );
}
