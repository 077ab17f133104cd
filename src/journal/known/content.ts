/** Some content: its size in bytes, and the first half of its SHA-256, which tells it from any other. */
export interface Content {
  size: number;
  sha: readonly [number, number, number, number];
}

/** The content with that SHA-256, in hex. */
export function contentOf(sha256: string, size: number): Content {
  return {size, sha: [hex(sha256, 0), hex(sha256, 8), hex(sha256, 16), hex(sha256, 24)]};
}

/** Eight digits as a number, without a text of their own: a journal has a million of these. */
function hex(text: string, from: number): number {
  let value = 0;
  for (let at = from; at < from + 8; at += 1) {
    const unit = text.charCodeAt(at);
    value = (value << 4) | (unit < 0x3a ? unit - 0x30 : unit - 0x57);
  }
  return value >>> 0;
}
