/** Identifies content: the first half of its SHA-256, in hex, and its size. */
export type Content = string;

export function contentKey(sha256: string, size: number): Content {
  return `${sha256.slice(0, 32)} ${size}`;
}

/** A form in which content is sent: its content type and what changes its bytes. */
export interface Variant {
  contentType: string;
  /** The change to the bytes, such as `geotags/2`; undefined for the original. Hashes are always of the original. */
  transform?: string | undefined;
}

/** A variant as a map key; no content type contains a line break. */
export function variantKey({contentType, transform}: Variant): string {
  return transform === undefined ? contentType : `${contentType}\n${transform}`;
}

/** The variant of a key of variantKey(). */
export function variantOf(key = ''): Variant {
  const [contentType = '', transform] = key.split('\n');
  return {contentType, transform};
}
