import {printable} from './printable.ts';

/** Quotes a path for a command to paste; a path that looks like an option gets `./` in front. */
export function shellQuoted(path: string | Buffer): string {
  return shellWord(path).replace(/^(\$?'|)-/, '$1./-');
}

/** Quotes a word to paste on one line; controls and bytes that are not UTF-8 as `$'\033'`, for bash and zsh. */
export function shellWord(word: string | Buffer): string {
  if (typeof word === 'string' && printable(word) === word) return posixWord(word);
  const escaped = [...Buffer.from(word)].map(byte => {
    const character = String.fromCharCode(byte);
    return /[\w@%+=,./ -]/.test(character) ? character : `\\${byte.toString(8).padStart(3, '0')}`;
  });
  return `$'${escaped.join('')}'`;
}

/** Quotes any word for any POSIX shell, options included, and for zsh, where `=ls` is the path of a program. */
export function posixWord(word: string): string {
  return /^(?!=)[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
