/** The codec of a raw video stream, by the bytes after its first start codes. */
interface Codec {
  type: string;
  /** Whether a stream may begin with a unit with this header. */
  begins(first: number, second: number): boolean;
  /** Whether units with this header exist. */
  exists(first: number, second: number): boolean;
}

// The first bit is zero; then H.264 has two bits of importance and five of kind; H.265 six of kind, H.266 six of the
// layer, which comes first there, and five of kind; both end in the temporal layer plus one (ITU-T H.264, 7.3.1;
// H.265, 7.3.1.2; H.266, 7.3.1.2).
const codecs: readonly Codec[] = [
  {
    type: 'video/h264',
    // A parameter set, a delimiter, or a message ahead of the first picture.
    begins: first => [0x67, 0x47, 0x27, 0x09, 0x06].includes(first),
    exists: first => first < 0x80 && (first & 31) >= 1 && (first & 31) <= 21,
  },
  {
    type: 'video/h265',
    begins: (first, second) => [0x40, 0x42, 0x46, 0x4e].includes(first) && second === 1,
    exists: (first, second) => first < 0x52 && (first & 1) === 0 && (second & 7) >= 1 && second < 8,
  },
  {
    type: 'video/h266',
    begins: (first, second) => first === 0 && [0x61, 0x69, 0x71, 0x79, 0xa1, 0xb9].includes(second),
    exists: (first, second) => first === 0 && (second & 7) >= 1 && second >> 3 < 28,
  },
];

/** The type of a raw H.264, H.265, H.266 or MPEG-4 stream, if that is what the bytes begin. */
export function sniffRawVideo(head: Uint8Array): string | undefined {
  if (!isStartCode(head, 0) && !(head[0] === 0 && isStartCode(head, 1))) return undefined;
  const units = [...startCodes(head)].map(at => [head[at + 3] ?? 0xff, head[at + 4] ?? 0xff] as const);
  const [start, ...rest] = units;
  if (start === undefined || rest.length === 0) return undefined;
  if (start[0] === 0xb0 && rest.some(([first]) => first === 0xb5 || first <= 0x2f)) return 'video/mp4v-es';
  const isOf = (codec: Codec) => codec.begins(...start) && rest.every(unit => codec.exists(...unit));
  return codecs.find(isOf)?.type;
}

/** Enough units to decide: a stream has dozens per second. */
const mostUnits = 8;

function* startCodes(head: Uint8Array): Generator<number> {
  let found = 0;
  // The last bytes may be half of a unit's header.
  for (let at = head.indexOf(0); at !== -1 && at + 5 <= head.length; at = head.indexOf(0, at + 1)) {
    if (!isStartCode(head, at)) continue;
    yield at;
    found += 1;
    if (found === mostUnits) return;
  }
}

function isStartCode(head: Uint8Array, at: number): boolean {
  return head[at] === 0 && head[at + 1] === 0 && head[at + 2] === 1;
}
