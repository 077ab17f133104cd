declare module 'picomatch' {
  interface Options {
    /** Whether `*`, `?` and `**` match a leading dot. */
    dot?: boolean;
    /** Whether a leading `!` is an ordinary character. */
    nonegate?: boolean;
    windows?: boolean;
    /** Whether some common patterns are compiled by a shorter way. */
    fastpaths?: boolean;
  }
  const picomatch: {makeRe(pattern: string, options: Options): RegExp};
  export = picomatch;
}
