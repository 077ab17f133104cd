import {Refusal} from './refusal.ts';

/** A text that a person entered, as a single line; throws a 422 if nothing is left of it or if it is too long. */
export function singleLine(given: string, field: string, longest: number): string {
  const text = given.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  if (text === '') throw new Refusal(422, `The ${field} is missing.`);
  if (text.length > longest) throw new Refusal(422, `The ${field} may have at most ${longest} characters.`);
  return text;
}
