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
