declare module 'picomatch' {
  interface Options {
    /** Whether `*`, `?` and `**` match a leading dot. */
    dot?: boolean;
    /** Whether a leading `!` is an ordinary character. */
    nonegate?: boolean;
    windows?: boolean;
    /** Whether `+` after a class or a choice repeats it, as in a regular expression. */
    regex?: boolean;
    /** What `{1..3}` becomes in the regular expression, by its ends and these options. */
    expandRange?: (...parts: unknown[]) => string;
  }
  const picomatch: {
    makeRe(pattern: string, options: Options): RegExp;
    /** Only the text of the regular expression, without its anchors. */
    makeRe(pattern: string, options: Options, returnOutput: true): string;
  };
  export = picomatch;
}
