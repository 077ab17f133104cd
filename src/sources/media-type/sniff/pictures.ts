import {byWord} from '../../../lib/object.ts';
import {matches} from '../tracks/bytes.ts';
import {latin1} from './text.ts';

/** The type of a picture that is recognised by more than a few fixed bytes, if the bytes are one. */
export function sniffPicture(head: Uint8Array): string | undefined {
  if (!matches(head, 0, '#?')) return netpbmType(head);
  return /\n(?:FORMAT=32-bit_rle_(?:rgbe|xyze)|\n[-+][XY] \d+ [-+][XY] \d+)\s/.test(latin1(head))
    ? 'image/vnd.radiance'
    : undefined;
}

const netpbmTypes = byWord([
  ['image/x-portable-bitmap', 'P1 P4'],
  ['image/x-portable-graymap', 'P2 P5'],
  ['image/x-portable-pixmap', 'P3 P6'],
  ['image/x-pfm', 'PF Pf'],
  ['image/x-phm', 'PH Ph'],
]);

// Any text may begin with a letter and a digit, so the size must follow, after comments (netpbm's manual).
function netpbmType(head: Uint8Array): string | undefined {
  if (head[0] !== 0x50) return undefined;
  const text = latin1(head.subarray(0, 1024));
  if (/^P7\s*\n(?:#[^\n]*\n)*(?:WIDTH|HEIGHT|DEPTH|MAXVAL|TUPLTYPE)\s/.test(text))
    return 'image/x-portable-arbitrarymap';
  if (!/^..(?:\s|#[^\r\n]*[\r\n])+\d+(?:\s|#[^\r\n]*[\r\n])+\d+\s/.test(text)) return undefined;
  // In a sentence, words follow in the same line, and all of it is text.
  if (!/^..(?:[ \t]*[\r\n#]|[\d\s]*$|.*[^\t-\r -\xf7])/s.test(text)) return undefined;
  return netpbmTypes.get(text.slice(0, 2));
}
