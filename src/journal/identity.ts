/** Identifies some content: the first half of its SHA-256, in hex, and its size. */
export type Content = string;

export function contentOf(sha256: string, size: number): Content {
  return `${sha256.slice(0, 32)} ${size}`;
}

/** How some content is sent. */
export interface Variant {
  contentType: string;
  /** What was done to its bytes, such as `geotags/2`; undefined if they are sent unchanged. Hashes are always of the source. */
  transform?: string | undefined;
}

/** How some content is sent, as a key; no content type contains a line break. */
export function variantKey({contentType, transform}: Variant): string {
  return transform === undefined ? contentType : `${contentType}\n${transform}`;
}

/** What `sentAsKey` was made of. */
export function variantOf(key = ''): Variant {
  const [contentType = '', transform] = key.split('\n');
  return {contentType, transform};
}
