/** A file that a test makes. */
export interface Sample {
  name: string;
  content: string;
}

/** The lengths of lines that put the same column every 188, 192 or 204 bytes, as in an MPEG transport stream. */
const lineLengths = [24, 32, 34, 47, 48, 51, 64, 68, 94, 96, 102];

/** A log of lines with so many bytes each, the letter G in one column. */
function log(length: number, column: number): string {
  const line = (index: number) =>
    `${'2026-11-23T10:15:00.000Z level=info '.repeat(4).slice(0, column)}G${`ET /photos/${index % 10}.html 200 `.repeat(8)}`;
  return Array.from({length: 400}, (_, index) => `${line(index).slice(0, length - 1)}\n`).join('');
}

const typescript = `export class Gallery {
  readonly #photos = new Map<string, Photo>();
  get(name: string): Photo { return this.#photos.get(name) ?? none; }
  // Grows by one with each call, and never shrinks again, whatever is in it.
}
`;
// As long as four packets, so that each letter G comes back in the same place.
const source = typescript
  .padEnd(4 * 188 - 1)
  .concat('\n')
  .repeat(60);

export const svg =
  '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"><path d="M0 0h1v1z"/></svg>\n';

const prose = [
  'GIF89a is the version of GIF with transparency.',
  'GIF89a',
  'P3 10 10 is how a header begins.',
  'P6 10 10 255 is how another begins, as in café.',
  '/* XPM */ is how pictures in C begin.',
  '#?RADIANCE is what the first line says.',
  'BIKini weather.',
  'DDS is a format of textures.',
  'qoif is a magic word.',
  'NSVf, too.',
];

const textNames = ['a.txt', 'a.md', 'a.ts', 'a', 'a.tmp'];

/** Texts under several names that are neither images nor videos, whatever they begin with. */
export const texts: readonly Sample[] = [
  ...lineLengths.flatMap(length =>
    [0, 4, 20].map(column => ({name: `log-${length}-${column}.log`, content: log(length, column)})),
  ),
  ...[0, 5].map(column => ({name: `log-${column}.m2ts`, content: log(47, column)})),
  {name: 'log-of-no-name', content: log(94, 8)},
  // A program that was killed leaves bytes behind that no text has.
  {name: 'torn.log', content: `${log(47, 8)}\0\0\0`},
  {name: 'latin.log', content: log(94, 8)},
  {name: 'source.ts', content: source},
  {name: 'source.tsx', content: source},
  ...prose.flatMap((line, index) =>
    textNames.map(name => ({
      name: `prose-${index}-${name}`,
      content: `${line}\n`.repeat(index === 1 ? 1 : 20),
    })),
  ),
];

const textExtensions =
  'svelte hbs erb snap html htm vue jsx tsx ejs njk tpl tmpl twig liquid astro mustache php md mdx txt js py rs go';

/** Texts that begin like a picture, under names that say that they are texts. */
export const templates: readonly Sample[] = textExtensions
  .split(' ')
  .map(extension => ({name: `icon.${extension}`, content: svg}));
