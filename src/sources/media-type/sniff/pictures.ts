import {matches, viewOf} from '../bytes/bytes.ts';

/** The type of a picture that is recognised by more than a few fixed bytes, if the bytes are one. */
export function sniffPicture(head: Uint8Array): string | undefined {
  return (
    netpbmType(head) ??
    iffType(head) ??
    pictType(head) ??
    radianceType(head) ??
    sgiType(head) ??
    sourceType(head) ??
    (isPhotoCd(head) ? 'image/x-photo-cd' : undefined)
  );
}

const netpbmTypes = new Map([
  ['P1', 'image/x-portable-bitmap'],
  ['P2', 'image/x-portable-graymap'],
  ['P3', 'image/x-portable-pixmap'],
  ['P4', 'image/x-portable-bitmap'],
  ['P5', 'image/x-portable-graymap'],
  ['P6', 'image/x-portable-pixmap'],
  ['PF', 'image/x-pfm'],
  ['Pf', 'image/x-pfm'],
  ['PH', 'image/x-phm'],
  ['Ph', 'image/x-phm'],
]);

// Any text may begin with a letter and a digit, so the size must follow, after comments (netpbm's manual).
function netpbmType(head: Uint8Array): string | undefined {
  if (head[0] !== 0x50) return undefined;
  const text = latin1(head, 0, 1024);
  if (/^P7\s*\n(?:#[^\n]*\n)*(?:WIDTH|HEIGHT|DEPTH|MAXVAL|TUPLTYPE)\s/.test(text))
    return 'image/x-portable-arbitrarymap';
  if (!/^..(?:\s|#[^\r\n]*[\r\n])+\d+(?:\s|#[^\r\n]*[\r\n])+\d+\s/.test(text)) return undefined;
  // In a sentence, words follow in the same line, and all of it is text.
  if (!/^..(?:[ \t]*[\r\n#]|[\d\s]*$|.*[^\t-\r -\xf7])/s.test(text)) return undefined;
  return netpbmTypes.get(text.slice(0, 2));
}

const iffTypes = new Map([
  ['ILBM', 'image/x-ilbm'],
  ['PBM ', 'image/x-ilbm'],
  ['ACBM', 'image/x-ilbm'],
  ['RGB8', 'image/x-ilbm'],
  ['RGBN', 'image/x-ilbm'],
  ['DEEP', 'image/x-ilbm'],
  ['ANIM', 'video/x-anim'],
]);

// EA's Interchange File Format holds pictures, films, sounds and texts (EA IFF 85).
function iffType(head: Uint8Array): string | undefined {
  return matches(head, 0, 'FORM') ? iffTypes.get(latin1(head, 8, 4)) : undefined;
}

// With or without a preamble of 512 bytes: the size, the frame, and the version operator.
function pictType(head: Uint8Array): string | undefined {
  const isNew = (start: number) => matches(head, start + 10, '\0\x11\x02\xff\x0c\0');
  const isOld = matches(head, 522, '\x11\x01') && head.subarray(0, 512).every(byte => byte === 0);
  return isNew(0) || isNew(512) || isOld ? 'image/x-pict' : undefined;
}

function radianceType(head: Uint8Array): string | undefined {
  if (!matches(head, 0, '#?')) return undefined;
  return /\n(?:FORMAT=32-bit_rle_(?:rgbe|xyze)|\n[-+][XY] \d+ [-+][XY] \d+)\s/.test(
    latin1(head, 0, head.length),
  )
    ? 'image/vnd.radiance'
    : undefined;
}

// Two bytes may be a coincidence, so the header must make sense.
function sgiType(head: Uint8Array): string | undefined {
  if (!matches(head, 0, '\x01\xda') || head.length < 12) return undefined;
  const dimension = viewOf(head).getUint16(4);
  const isSound = (head[2] ?? 2) <= 1 && [1, 2].includes(head[3] ?? 0) && dimension >= 1 && dimension <= 3;
  return isSound ? 'image/sgi' : undefined;
}

// Pictures that are C source.
function sourceType(head: Uint8Array): string | undefined {
  if (!matches(head, 0, '#define ') && !matches(head, 0, '/*')) return undefined;
  const source = latin1(head, 0, 2048);
  if (/^\/\* XPM\b.*\bchar\s*\*[^;]*\[/s.test(source)) return 'image/x-xpixmap';
  const text = source.replace(/^\/\*[\s\S]*?\*\/\s*/, '');
  return /^#define\s+\w*width\s+\d+\s+#define\s+\w*height\s+\d+\s/.test(text) ? 'image/x-xbitmap' : undefined;
}

function isPhotoCd(head: Uint8Array): boolean {
  return matches(head, 2048, 'PCD_IPI') || matches(head, 0, 'PCD_OPA');
}

function latin1(head: Uint8Array, start: number, length: number): string {
  return new TextDecoder('latin1').decode(head.subarray(start, start + length));
}
