import type {Loose} from '../../lib/object.ts';
import {escapeUnit, printable, unsafe, withoutCommands} from '../../lib/printable.ts';
import {linkTarget, safeUrl} from '../../lib/url.ts';
import type {JsonOutputs} from './json-output.ts';

/** Escapes C1 controls, direction marks and commands to CI runners in JSON, where they occur only within strings. */
export function printableJson(json: string): string {
  // JSON itself escapes C0 controls; those that are left are white space between its tokens.
  return withoutCommands(json.replace(unsafe, unit => (unit < ' ' ? unit : escapeUnit(unit))));
}

/** A line of JSON without undefined fields; `recordJson`, the service's text, is its last, `record`. */
export function jsonLine<Output extends JsonOutputs[keyof JsonOutputs]>(
  value: Output | Loose<Output>,
  recordJson?: string,
): string {
  const json = JSON.stringify(value);
  const whole = recordJson === undefined ? json : `${json.slice(0, -1)},"record":${recordJson}}`;
  return `${printableJson(whole)}\n`;
}

export function markdownText(text: string): string {
  return printable(text).replace(/[\\`*_{}[\]()<>#+\-!|~&=$^]/g, '\\$&');
}

/** A URL as a Markdown link target, in tables too; undefined if it is not an http(s) URL. */
export function markdownUrl(url: string): string | undefined {
  const safe = safeUrl(url);
  return safe === undefined ? undefined : linkTarget(safe);
}
