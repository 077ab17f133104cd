declare module 'css-tree/tokenizer' {
  /** Calls `onToken` for each token with its type, and where it begins and ends. */
  export function tokenize(css: string, onToken: (type: number, start: number, end: number) => void): void;

  type TokenName = 'AtKeyword' | 'Function' | 'Semicolon' | 'String' | 'Url';
  type Bracket = `${'Left' | 'Right'}${'CurlyBracket' | 'Parenthesis'}`;
  /** As CSS Syntax Module Level 3 names them. */
  export const tokenTypes: Readonly<Record<TokenName | Bracket, number>>;
}

declare module 'css-tree/utils' {
  export const ident: {
    /** A text of CSS with its escapes resolved. */
    decode(css: string): string;
  };
}
