/** Identifies some content: its size in bytes, and the first half of its SHA-256. */
export interface Content {
  size: number;
  sha: ShaHalf;
}

/** Sixteen bytes as four signed numbers of 32 bits. */
export type ShaHalf = [number, number, number, number];

/** The content with this SHA-256, in hex. */
export function contentOf(sha256: string, size: number): Content {
  const sha: ShaHalf = [0, 0, 0, 0];
  for (let at = 0; at < 32; at += 1) {
    const unit = sha256.charCodeAt(at);
    sha[at >> 3] = ((sha[at >> 3] ?? 0) << 4) | (unit < 0x3a ? unit - 0x30 : unit - 0x57);
  }
  return {size, sha};
}

/** Reads a SHA-256 in hex; false if it is not one. A journal may contain millions of these. */
export function readHash(into: ShaHalf, bytes: Uint8Array, from: number): boolean {
  let isNone = 0;
  for (let part = 0; part < 4; part += 1) {
    let value = 0;
    for (let at = from + 8 * part; at < from + 8 * part + 8; at += 1) {
      const digit = digits[bytes[at] ?? 0] ?? notDigit;
      value = (value << 4) | digit;
      isNone |= digit;
    }
    into[part] = value;
  }
  for (let at = from + 32; at < from + 64; at += 1) isNone |= digits[bytes[at] ?? 0] ?? notDigit;
  return isNone < notDigit;
}

const notDigit = 16;

/** The value of each byte as a hexadecimal digit in lower case. */
const digits = Uint8Array.from({length: 256}, (_, byte) => {
  const digit = '0123456789abcdef'.indexOf(String.fromCharCode(byte));
  return digit === -1 ? notDigit : digit;
});
