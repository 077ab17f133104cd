/** The fields of a medium, and all that is in them. */
export const everyField =
  'id type urls {variant url} width height imageType fileUrl duration thumbnailUrl hlsUrl size contentType sha256 createdAt';

/** A query of one field under many names. */
export const aliases = (count: number, field: string) =>
  `{${Array.from({length: count}, (_, index) => `a${index}: ${field}`).join(' ')}}`;
