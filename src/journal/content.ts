/** Some content: its size in bytes, and the first half of its SHA-256, which tells it from any other. */
export interface Content {
  size: number;
  sha: readonly [number, number, number, number];
}

/** The content with that SHA-256, in hex. */
export function contentOf(sha256: string, size: number): Content {
  const part = (at: number) => Number.parseInt(sha256.slice(8 * at, 8 * at + 8), 16) >>> 0;
  return {size, sha: [part(0), part(1), part(2), part(3)]};
}
