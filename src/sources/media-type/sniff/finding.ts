/** What the bytes are: an image or video, certainly something else, or unknown (undefined). */
export type Finding = MediaFinding | OtherFinding | undefined;

export interface MediaFinding {
  isMedia: true;
  type: string;
  /** Whether its first bytes are text. */
  isText?: boolean;
}

export interface OtherFinding {
  isMedia: false;
  /** A media type or a description; for a video container, its content. */
  what: string;
  /** The type of the container if it contained video. */
  container?: string;
}
