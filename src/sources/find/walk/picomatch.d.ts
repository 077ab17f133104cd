declare module 'picomatch' {
  interface Options {
    /** Whether `*`, `?` and `**` match a leading dot. */
    dot?: boolean;
    /** Whether a leading `!` is an ordinary character. */
    nonegate?: boolean;
    /** Of the regular expression. */
    flags?: string;
    windows?: boolean;
    /** What `{1..3}` becomes in the regular expression, by its ends and these options. */
    expandRange?: (...parts: unknown[]) => string;
  }
  const picomatch: {makeRe(pattern: string, options?: Options): RegExp};
  export = picomatch;
}
