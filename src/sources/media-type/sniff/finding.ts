/** What the bytes are: an image or video type, positively something else, or (undefined) nothing that anybody knows. */
export type Finding = MediaFinding | OtherFinding | undefined;

export interface MediaFinding {
  isMedia: true;
  type: string;
}

export interface OtherFinding {
  isMedia: false;
  /** A media type, or words; of a container of video, what is in it. */
  what: string;
  /** The type that the container has when there is video in it. */
  container?: string;
}
