/** A subcommand of `media journal` with its options. */
export type JournalRequest =
  | {action: 'list'; files: readonly string[]; json?: boolean; template?: string}
  | {action: 'check'; files: readonly string[]; inputs: readonly string[]; all?: boolean; json?: boolean}
  | {action: 'merge'; files: readonly string[]; output: string; json?: boolean}
  | {action: 'unlock'; file: string}
  /** `what`: a path or a media ID. */
  | {action: 'forget'; file: string; what: string}
  | {
      action: 'resolve';
      file: string;
      /** A path, an idempotency key or the SHA-256 of the content; absent with `all`. */
      what?: string;
      /** Whether `what` is the path in Base64. */
      base64?: boolean;
      /** Whether to settle all unknown uploads. */
      all?: boolean;
      /** The media ID at the service. */
      uploaded?: string;
      /** A file of media IDs, each after a path, an idempotency key or a SHA-256. */
      uploadedFrom?: string;
      resend?: boolean;
    };
