/**
 * The shapes that the service answers with (service interface, part 2). Nothing in the interface says which fields
 * are always there, so every one is optional and nullable; unknown fields and unknown enumeration values are kept.
 */
export interface MediaUrl {
  /** Open enumeration; PUBLIC occurs. */
  variant?: string | null;
  url?: string | null;
  [field: string]: unknown;
}

/** A media record. `duration` and `size` have no documented unit and are shown as the service gives them. */
export interface MediaRecord {
  /** The media ID. */
  id?: string | null;
  /** Open enumeration; IMAGE occurs. */
  type?: string | null;
  urls?: MediaUrl[] | null;
  width?: number | null;
  height?: number | null;
  imageType?: string | null;
  fileUrl?: string | null;
  duration?: number | null;
  thumbnailUrl?: string | null;
  hlsUrl?: string | null;
  size?: number | null;
  [field: string]: unknown;
}

/** An error record; `code` has no documented meaning and need not be the HTTP status. */
export interface ErrorRecord {
  code: number;
  message: string;
}
