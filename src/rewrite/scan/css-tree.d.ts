declare module 'css-tree/tokenizer' {
  /** Calls `onToken` for each token with its type, and where it begins and ends. */
  export function tokenize(css: string, onToken: (type: number, start: number, end: number) => void): void;
}

declare module 'css-tree/utils' {
  export const ident: {
    /** A text of CSS with its escapes resolved. */
    decode(css: string): string;
  };
}
