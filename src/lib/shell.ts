/** Quotes a path for a POSIX shell; a path that looks like an option gets `./` in front. */
export function shellQuoted(path: string): string {
  return shellWord(path.startsWith('-') ? `./${path}` : path);
}

/** Quotes any word for a POSIX shell, options included. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A command that prints names with a zero byte after each, for names that contain line breaks or are not UTF-8. */
export function shellPrintf(names: readonly Buffer[]): string {
  const text = names.map(name => `${[...name].map(printfByte).join('')}\\0`).join('');
  return `printf '${text}'`;
}

function printfByte(byte: number): string {
  const character = String.fromCharCode(byte);
  if (character === '%') return '%%';
  return /[\w@+=:,./ -]/.test(character) ? character : `\\${byte.toString(8).padStart(3, '0')}`;
}
