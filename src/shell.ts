/** A path as a POSIX shell reads it, for commands to paste; one that looks like an option is kept from being taken for one. */
export function shellQuoted(path: string): string {
  const plain = path.startsWith('-') ? `./${path}` : path;
  return /^[\w@%+=:,./-]+$/.test(plain) ? plain : `'${plain.replaceAll("'", `'\\''`)}'`;
}
