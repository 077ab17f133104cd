import {type Loose, own} from '../lib/object.ts';
import {linkTarget, safeUrl} from '../lib/url.ts';
import type {JsonOutputs} from './json-output.ts';

/** C0 and C1 controls, DEL, line and paragraph separators, and marks that change the reading direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is what this is for
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** The same, except for what JSON escapes itself. */
const unsafeInJson = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

const shortNames: Record<string, string> = {'\n': '\\n', '\r': '\\r', '\t': '\\t'};

/**
 * Text that CI runners interpret as commands: GitHub's `##[` and, at the beginning of a line, `::`; Azure's `##vso[`;
 * TeamCity's `##teamcity[`.
 */
const runnerCommand = /(?<=#)#(?=\w*\[)|^(\s*):(?=:)/g;

function withoutCommands(text: string): string {
  // Nearly all text can skip the search.
  if (!text.includes('##') && !text.includes('::')) return text;
  return text.replace(runnerCommand, (found, space: string | undefined) =>
    space === undefined ? escapeUnit(found) : `${space}${escapeUnit(':')}`,
  );
}

/** Makes text from outside safe for a line of a terminal or a log: escapes controls, and commands to CI runners. */
export function printable(text: string): string {
  return withoutCommands(
    text.replace(unsafe, character => own(shortNames, character) ?? escapeUnit(character)),
  );
}

/** Escapes C1 controls, direction marks and commands to CI runners in JSON, where they occur only within strings. */
export function printableJson(json: string): string {
  return withoutCommands(json.replace(unsafeInJson, escapeUnit));
}

/** A value of a documented type as a line of JSON, which leaves out what is undefined; `recordJson` follows the status as the field `record`, as the service returned it. */
export function jsonLine<Output extends JsonOutputs[keyof JsonOutputs]>(
  value: Output | Loose<Output>,
  recordJson?: string,
): string {
  const json = JSON.stringify(value);
  if (recordJson === undefined) return `${printableJson(json)}\n`;
  // Within strings, quotes are escaped, so that this is the field.
  const whole = json.replace(/"status":"\w+"/, status => `${status},"record":${recordJson}`);
  return `${printableJson(whole)}\n`;
}

function escapeUnit(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

export function markdownText(text: string): string {
  return printable(text).replace(/[\\`*_{}[\]()<>#+\-!|~&=$^]/g, '\\$&');
}

/** A URL as a Markdown link target, in tables too; undefined if it is not an http(s) URL. */
export function markdownUrl(url: string): string | undefined {
  const safe = safeUrl(url);
  return safe === undefined ? undefined : linkTarget(safe);
}
