import fc from 'fast-check';
import {expect, test} from 'vitest';
import {mayHoldReference} from '../../src/documents/may-hold.ts';
import type {DocumentKind, ScanOptions} from '../../src/documents/scan/reference.ts';
import {responseTo} from '../../src/documents/scan/scan.ts';
import {holdsFor} from '../support/property.ts';

const allKinds: readonly DocumentKind[] = ['markdown', 'mdx', 'mkdocs', 'html', 'css'];
const allOptions: readonly ScanOptions[] = [
  {links: false, frontMatter: []},
  {links: true, frontMatter: []},
  {links: false, frontMatter: ['image']},
];
/** One reference each, so that a document without it may well have none. */
const holders = [
  ...['![a](a.png)', '![a]\n\n[a]: a.png', '![[a.png]]', '[a](a.png)', '[a]\n\n[a]: a.png'],
  ...['> [a](\n> <a a.png>)', '[a]\n\n[a]:\n<a a.png>', '---\n+++\nb: a.png\n---\n'],
  ...[
    '---\nimage: a.png\n---\n',
    '---\nx:\n  - image: ["a.png"]\n---\n',
    '\ufeff+++\nimage = "a.png"\n+++\n',
    '<IMG SRC=a.png>',
    '> <img\n> src="a.png">',
  ],
  ...[
    '> <p\n> style\n> = "a: url(a.png)">',
    '<p style="a: &#117;rl(a.png)">',
    '<style>a{b:url(a.png)}</style>',
  ],
  ...['<source/srcset="a.png 1x">', '<svg><image href="a.png"/></svg>', '<video poster=a.png>'],
  ...['<link rel=icon href=a.png>', '<meta name=og:image content=a.png>', '<a href=a.png>'],
  ...[
    'a{b:URL(a.png)}',
    'a{b:url("a.png")}',
    'a{b:-webkit-image-set("a.png" 1x)}',
    '@media print{a{b:src("a.png")}}',
  ],
  ...[
    '{{< figure src="a.png" >}}',
    '{{ x }}/a.png',
    '{% a.png %}',
    'import a from "./a.png"',
    '<p a={["a.png"]} />',
  ],
];
const holder = fc.constantFrom(...holders);
const around = fc.constantFrom(
  '',
  '> ',
  '- ',
  '1. ',
  '    ',
  '`',
  '\\',
  '<!--',
  '<div>',
  '```\n',
  '\n',
  '| a |\n|---|\n',
);
const character = fc.constantFrom(...'![]()<>=:/{}`\\ \n\t"\'&;#a');
/** A document with one character put in, or in the place of some others: nearly a reference. */
const nearly = fc
  .tuple(around, holder, fc.nat(60), fc.nat(2), fc.oneof(fc.constant(''), character))
  .map(([before, text, at, length, put]) => {
    const whole = `${before}${text}\n`;
    return `${whole.slice(0, at)}${put}${whole.slice(at + length)}`;
  });

/** Fails if a parser finds what the search says is not there; returns how many references there are, and names that are left alone. */
async function found(kind: DocumentKind, text: string, scan: ScanOptions): Promise<number> {
  const answer = await responseTo({kind, text, options: scan});
  const {references, left = {}} = 'references' in answer ? answer : {references: []};
  const count = Object.values(left).reduce((sum, each) => sum + each, references.length);
  if (count > 0) expect([text, mayHoldReference({kind, text, options: scan})]).toEqual([text, true]);
  return count;
}

test('each way to hold a reference is found in one kind of document at least', async () => {
  for (const text of holders) {
    const counts = allKinds.flatMap(kind => allOptions.map(scan => found(kind, text, scan)));
    expect([text, await Promise.all(counts)]).toEqual([text, expect.arrayContaining([1])]);
  }
});

holdsFor(
  'a document whose text says that it holds no reference: its parser finds none',
  [fc.constantFrom(...allKinds), nearly, fc.constantFrom(...allOptions)],
  async (kind, text, scan) => {
    await found(kind, text, scan);
  },
);
