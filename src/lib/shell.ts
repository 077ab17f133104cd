/** Quotes a path for a POSIX shell; a path that looks like an option gets `./` in front. */
export function shellQuoted(path: string): string {
  return shellWord(path.startsWith('-') ? `./${path}` : path);
}

/** Quotes any word for a POSIX shell, options included. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
