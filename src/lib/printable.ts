import {own} from './object.ts';

/** C0 and C1 controls, DEL, line and paragraph separators, and marks that change the reading direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is what this is for
export const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

const shortNames: Record<string, string> = {'\n': '\\n', '\r': '\\r', '\t': '\\t'};

/** Commands to CI runners: GitHub's `##[` and `::` at the start of a line, Azure's `##vso[`, `##teamcity[`. */
const runnerCommand = /(?<=#)#(?=\w*\[)|(?<=^\s*):(?=:)/g;

/** Escapes text that CI runners interpret as commands. */
export function withoutCommands(text: string): string {
  // Nearly all text can skip the search.
  if (!text.includes('##') && !text.includes('::')) return text;
  return text.replace(runnerCommand, escapeUnit);
}

/** Makes text from outside safe for a line of a terminal or a log: escapes controls, and commands to CI runners. */
export function printable(text: string): string {
  return withoutCommands(
    text.replace(unsafe, character => own(shortNames, character) ?? escapeUnit(character)),
  );
}

/** A character as `\u200e`. */
export function escapeUnit(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
