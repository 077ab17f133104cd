import {createInterface} from 'node:readline';
import {evaluate} from '@mdx-js/mdx';
import {HtmlRenderer, Parser} from 'commonmark';
import {execa, execaSync} from 'execa';
import type fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import {type DefaultTreeAdapterTypes, parseFragment} from 'parse5';
import {afterAll, expect, test} from 'vitest';
import type {DocumentKind} from '../../../src/documents/scan/reference.ts';
import {notRun, whatIsMissing} from '../../support/installed.ts';
import {holdsFor} from '../../support/property.ts';
import {commonPages, difficultPages, mdxPages, mkdocsPages, tagPages} from '../generated-pages.ts';
import {rewritten, scanned} from '../rewritten.ts';

/** An element as a renderer of a dialect makes it, or a text. */
type Rendered = string | {name: string; attributes: Record<string, unknown>; children: Rendered[]};

const pictureAttributes = new Set(['src', 'srcset', 'srcSet', 'poster', 'style']);

/** What is rendered, with each URL in the place of a reference as it was before, and the names of images that are still there. */
function restored(rendered: readonly Rendered[], sources: readonly string[]) {
  const left: unknown[] = [];
  const restore = (node: Rendered): Rendered => {
    if (typeof node === 'string') return node;
    const attributes = Object.entries(node.attributes).map(([name, value]) => {
      // A link may have the definition of an image.
      if ((!pictureAttributes.has(name) && name !== 'href') || typeof value !== 'string')
        return [name, value];
      if (name !== 'href') left.push(...(value.match(/\bi\d+\.png/g) ?? []));
      return [name, value.replace(/https:\/\/u\.example\/(\d+)/g, (_, index) => sources[index] ?? '')];
    });
    return {...node, attributes: Object.fromEntries(attributes), children: node.children.map(restore)};
  };
  return {tree: rendered.map(restore), left};
}

/** Declares that a page looks the same before and after, but for its URLs, and that no image of it is left. */
function looksTheSame(
  what: string,
  kind: DocumentKind,
  pages: fc.Arbitrary<string>,
  render: (text: string) => Rendered[] | Promise<Rendered[]>,
): void {
  const check = async (page: string) => {
    const sources = (await scanned(kind, page)).map(({source}) => source);
    const {tree, left} = restored(await render(await rewritten(kind, page)), sources);
    expect(left).toEqual([]);
    expect(tree).toEqual(await render(page));
  };
  holdsFor(`${what}: the same before and after a rewrite, but for the URLs`, [pages], check, 50);
}

function elements(html: string): Rendered[] {
  const convert = (node: DefaultTreeAdapterTypes.ChildNode): Rendered => {
    if (!('tagName' in node))
      return JSON.stringify('value' in node ? node.value : 'data' in node ? node.data : '');
    const attributes = Object.fromEntries(node.attrs.map(({name, value}) => [name, value]));
    return {name: node.tagName, attributes, children: node.childNodes.map(convert)};
  };
  return parseFragment(html).childNodes.map(convert);
}

const [parser, renderer] = [new Parser(), new HtmlRenderer()];
looksTheSame('Markdown by commonmark.js', 'markdown', difficultPages, page =>
  elements(renderer.render(parser.parse(page))),
);

const markdownIt = new MarkdownIt({html: true});
looksTheSame('Markdown by markdown-it', 'markdown', commonPages, page => elements(markdownIt.render(page)));

/** The names of images in attributes of elements, in their order. */
function imagesIn(rendered: readonly Rendered[]): unknown[] {
  return rendered.flatMap(node =>
    typeof node === 'string' ? [] : [node.attributes['src'] ?? [], imagesIn(node.children)].flat(),
  );
}

holdsFor(
  'tags: those that commonmark.js and markdown-it see have references, no others',
  [tagPages],
  async page => {
    const images = imagesIn(elements(renderer.render(parser.parse(page))));
    expect(imagesIn(elements(markdownIt.render(page)))).toEqual(images);
    expect((await scanned('markdown', page)).map(({source}) => source)).toEqual(images);
  },
);

/** Makes plain objects where a page would use React. */
function element(name: unknown, {children, ...attributes}: Record<string, unknown>): Rendered {
  const all = [children].flat(9).filter(child => child !== undefined) as Rendered[];
  return {name: String(name), attributes, children: all};
}

looksTheSame('MDX by mdx-js', 'mdx', mdxPages, async page => {
  const {default: content} = await evaluate(page, {
    Fragment: 'fragment',
    jsx: element,
    jsxs: element,
  } as never);
  return [content({components: {Steps: 'Steps', Frame: 'Frame'}}) as unknown as Rendered];
});

const renderLines = `
import json, markdown, sys
extensions = ['admonition', 'pymdownx.details', 'pymdownx.tabbed', 'attr_list', 'md_in_html', 'def_list', 'footnotes', 'tables', 'fenced_code']
for line in sys.stdin:
    html = markdown.markdown(json.loads(line), extensions=extensions, extension_configs={'pymdownx.tabbed': {'alternate_style': True}})
    print(json.dumps(html), flush=True)
`;
const python = '/usr/bin/python3';
const hasExtensions = execaSync(python, ['-c', 'import markdown, pymdownx'], {reject: false}).exitCode === 0;
const missing = whatIsMissing(['markdown_py']) ?? (hasExtensions ? undefined : 'not installed: pymdownx');

if (missing === undefined) {
  const python3 = execa(python, ['-c', renderLines], {reject: false});
  const lines = createInterface({input: python3.stdout})[Symbol.asyncIterator]();
  afterAll(async () => {
    python3.stdin.end();
    await python3;
  });
  looksTheSame('MkDocs by Python-Markdown', 'mkdocs', mkdocsPages, async page => {
    python3.stdin.write(`${JSON.stringify(page)}\n`);
    return elements(JSON.parse((await lines.next()).value));
  });
} else
  test('MkDocs by Python-Markdown: the same before and after a rewrite', context => notRun(context, missing));
