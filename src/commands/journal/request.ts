/** What the options of a subcommand of `media journal` ask for. */
export type JournalRequest =
  | {action: 'list'; files: readonly string[]; json?: boolean}
  | {action: 'check'; files: readonly string[]; inputs: readonly string[]; all?: boolean; json?: boolean}
  | {action: 'merge'; files: readonly string[]; output: string; json?: boolean}
  | {action: 'unlock'; file: string}
  /** `what`: a path, or the ID that the service gave it. */
  | {action: 'forget'; file: string; what: string}
  | {
      action: 'resolve';
      file: string;
      /** A path, an idempotency key or the SHA-256 of the content; absent with `all`. */
      what?: string;
      /** Whether `what` is Base64 of the path's bytes. */
      base64?: boolean;
      /** Whether everything that is unknown is to be settled. */
      all?: boolean;
      /** The media ID that the service gave it. */
      uploaded?: string;
      /** A file of such IDs, each behind a path, an idempotency key or a SHA-256. */
      uploadedFrom?: string;
      resend?: boolean;
    };
