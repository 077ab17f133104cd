/** A path as a POSIX shell reads it, for commands to paste; one that looks like an option is kept from being taken for one. */
export function shellQuoted(path: string): string {
  return shellWord(path.startsWith('-') ? `./${path}` : path);
}

/** Any word of a command line, options too, as a POSIX shell reads it. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A command that prints these names, each ended by a zero byte: the way to type names that hold line breaks or are not UTF-8. */
export function shellPrintf(names: readonly Buffer[]): string {
  const text = names.map(name => `${[...name].map(printfByte).join('')}\\0`).join('');
  return `printf '${text}'`;
}

function printfByte(byte: number): string {
  const character = String.fromCharCode(byte);
  if (character === '%') return '%%';
  return /[\w@+=:,./ -]/.test(character) ? character : `\\${byte.toString(8).padStart(3, '0')}`;
}
