import {readFile} from 'node:fs/promises';
import {expect} from 'vitest';

/** The only code block of the README in this language that holds this text, without the line that ends it. */
export async function recipe(language: string, text: string): Promise<string> {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  const blocks = [...readme.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter(match => match[1] === language && match[2]?.includes(text))
    .map(match => match[2] ?? '');
  expect(blocks).toHaveLength(1);
  return blocks[0] ?? '';
}
