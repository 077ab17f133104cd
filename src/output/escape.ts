/** C0 and C1 controls, DEL, line and paragraph separators, and the marks that turn the reading direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is what this is for
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** The same without what JSON itself escapes. */
const unsafeInJson = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

const shortNames: Record<string, string> = {'\n': '\\n', '\r': '\\r', '\t': '\\t'};

/**
 * What makes a CI runner that reads the output take text for a command: GitHub's `##[` and `::` (the latter where a line
 * begins), Azure's `##vso[` and TeamCity's `##teamcity[`.
 */
const runnerCommand = /(?<=#)#(?=\w*\[)|^(\s*):(?=:)/g;

function withoutCommands(text: string): string {
  // Nearly all text is spared the search.
  if (!text.includes('##') && !text.includes('::')) return text;
  return text.replace(runnerCommand, (found, space: string | undefined) =>
    space === undefined ? escapeUnit(found) : `${space}${escapeUnit(':')}`,
  );
}

/**
 * Text from outside, fit for one line of a terminal or a log: what could steer the terminal, or be a command to a CI
 * runner, is shown as an escape.
 */
export function printable(text: string): string {
  return withoutCommands(text.replace(unsafe, character => shortNames[character] ?? escapeUnit(character)));
}

/** The same JSON value without raw C1 controls, direction marks and commands to CI runners; valid JSON has these only within strings. */
export function printableJson(json: string): string {
  return withoutCommands(json.replace(unsafeInJson, escapeUnit));
}

function escapeUnit(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** What spreadsheets take for the beginning of a formula; some the full-width forms too. */
const formula = /^[=+\-@\t\n\uff1d\uff0b\uff0d\uff20]/;

/**
 * One CSV field (RFC 4180), made inert for spreadsheets that would run a formula, for CI runners and for the terminal;
 * line feeds and tabs stay, quoted. Semicolons are quoted as well: some spreadsheets separate at them.
 */
export function csvField(value: string): string {
  const shown = value.replace(/[^\n\t]+/g, printable);
  const inert = formula.test(shown) && !/^-?\d+(\.\d+)?$/.test(shown) ? `'${shown}` : shown;
  return /[",;\t\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

/** Text that Markdown shows as it is. */
export function markdownText(text: string): string {
  return printable(text).replace(/[\\`*_{}[\]()<>#+\-!|~&=$^]/g, '\\$&');
}

/** A URL as a Markdown link target, or undefined when it is no http(s) URL. */
export function markdownUrl(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const parsed = new URL(url);
  if (!/^https?:$/.test(parsed.protocol)) return undefined;
  return parsed.href.replace(
    /[()<>\\]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
