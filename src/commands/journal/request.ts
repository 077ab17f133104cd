/** What the options of a subcommand of `media journal` ask for. */
export type JournalRequest =
  | {action: 'list'; files: readonly string[]; json?: boolean}
  | {action: 'check'; files: readonly string[]; inputs: readonly string[]; all?: boolean; json?: boolean}
  | {action: 'merge'; files: readonly string[]; output: string; json?: boolean}
  | {action: 'unlock'; file: string}
  | {
      action: 'resolve';
      file: string;
      path: string;
      /** Whether `path` is Base64 of the path's bytes. */
      base64?: boolean;
      /** The media ID that the service gave it. */
      uploaded?: string;
      resend?: boolean;
    };
