import {describe, expect, it} from 'vitest';
import {applyEdits} from '../../src/documents/document-text.ts';
import type {DocumentKind, ScanOptions} from '../../src/documents/scan/reference.ts';
import {scanDocument} from '../../src/documents/scan/scan.ts';
import {replacementOf} from '../../src/documents/write-plan.ts';
import {rewritten, scanned, usualScan} from './rewritten.ts';

const u = 'https://u.example';
/** The same in a value without quotes. */
const bare = 'https:&#47;&#47;u.example&#47;';

/** A document, and what becomes of it when each reference gets a URL: 0, 1, 2... in their order. */
type Row = readonly [name: string, document: string, expected: string, options?: Partial<ScanOptions>];

const markdownRows: readonly Row[] = [
  ['a title is kept', '![a](x.png "A title")', `![a](${u}/0 "A title")`],
  [
    'adjacent links',
    '[![a](a.png)](https://x) [![b](b.png)](y.md)',
    `[![a](${u}/0)](https://x) [![b](${u}/1)](y.md)`,
  ],
  [
    'lists that begin with 2, after code and in a list that ends a paragraph',
    '- a\n\n      code\n  2)  b\n\n      ![c](c.png)\n\ntext\n- 2)  b\n\n      ![c](d.png)\n',
    `- a\n\n      code\n  2)  b\n\n      ![c](${u}/0)\n\ntext\n- 2)  b\n\n      ![c](${u}/1)\n`,
  ],
  ['angle brackets', '![a](<my file.png>)', `![a](<${u}/0>)`],
  ['balanced parentheses', '![a](a(1).png)', `![a](${u}/0)`],
  ['an escaped parenthesis', '![a](a\\).png)', `![a](${u}/0)`],
  ['a bracket in the text', '![a [b] c](x.png)', `![a [b] c](${u}/0)`],
  ['an image in the text of an image', '![a ![b](b.png) c](c.png)', `![a ![b](${u}/0) c](${u}/1)`],
  ['a fragment is kept, a query is dropped', '![a](x.svg?v=2#icon)', `![a](${u}/0#icon)`],
  [
    'a definition that an image uses',
    '![a][R x]\n\n[r X]: x.png "t"\n[l]: y.png',
    `![a][R x]\n\n[r X]: ${u}/0 "t"\n[l]: y.png`,
  ],
  [
    'collapsed and shortcut references',
    '![a][] ![b]\n\n[a]: a.png\n[b]: <b.png>',
    `![a][] ![b]\n\n[a]: ${u}/0\n[b]: <${u}/1>`,
  ],
  [
    'the first of two definitions counts, both are replaced',
    '![a]\n\n[a]: a.png\n[a]: b.png',
    `![a]\n\n[a]: ${u}/0\n[a]: ${u}/1`,
  ],
  [
    'a linked image, each with a definition',
    '[![a][i]][l] [![j]][l] [![k][]](b.png)\n\n[i]: i.png\n[j]: j.png\n[k]: k.png\n[l]: l.png\n[a]: a.png',
    `[![a][i]][l] [![j]][l] [![k][]](b.png)\n\n[i]: ${u}/0\n[j]: ${u}/1\n[k]: ${u}/2\n[l]: l.png\n[a]: a.png`,
  ],
  [
    'an image by its definition in the text of a linked image, and beside a link',
    '[![a ![b][i] c](c.png)][l] ![x][m] [y][n]\n\n[i]: i.png\n[l]: l.png\n[m]: m.png\n[n]: n.png',
    `[![a ![b][i] c](${u}/0)][l] ![x][m] [y][n]\n\n[i]: ${u}/1\n[l]: l.png\n[m]: ${u}/2\n[n]: n.png`,
  ],
  [
    'code fences',
    '```md\n![a](x.png)\n```\n\n~~~\n<img src=x.png>\n~~~',
    '```md\n![a](x.png)\n```\n\n~~~\n<img src=x.png>\n~~~',
  ],
  ['a fence in a list, never closed', '- a\n\n  ```\n  ![a](x.png)\n', '- a\n\n  ```\n  ![a](x.png)\n'],
  [
    'an indented block and a code span',
    '    ![a](x.png)\n\n``![a](x.png)``',
    '    ![a](x.png)\n\n``![a](x.png)``',
  ],
  [
    'a comment',
    '<!-- ![a](x.png) <img src=x.png> -->\n\na <!-- ![b](b.png) --> b',
    '<!-- ![a](x.png) <img src=x.png> -->\n\na <!-- ![b](b.png) --> b',
  ],
  ['an escaped image', '\\![a](x.png) !\\[a](x.png)', '\\![a](x.png) !\\[a](x.png)'],
  [
    'URLs of others',
    '![a](https://x/y.png) ![b](//x/y.png) ![c](data:image/png;base64,AA) ![d](#x) ![e]()',
    '![a](https://x/y.png) ![b](//x/y.png) ![c](data:image/png;base64,AA) ![d](#x) ![e]()',
  ],
  [
    'what a template engine fills in',
    '![a]({{ site.url }}/x.png) <img src="{% url %}"> <img src={require("./x.png").default} />',
    '![a]({{ site.url }}/x.png) <img src="{% url %}"> <img src={require("./x.png").default} />',
  ],
  ['tables, an escaped pipe', '| a |\n|---|\n| ![a](a\\|b.png) |', `| a |\n|---|\n| ![a](${u}/0) |`],
  ['quotes and lists, tabs', '> - ![a](a.png)\n>\t![b](b.png)', `> - ![a](${u}/0)\n>\t![b](${u}/1)`],
  ['footnotes', 'a[^1]\n\n[^1]: ![a](a.png)', `a[^1]\n\n[^1]: ![a](${u}/0)`],
  ['headings, both kinds', '# ![a](a.png)\n\n![b](b.png)\n===', `# ![a](${u}/0)\n\n![b](${u}/1)\n===`],
  [
    'HTML in a quote, over lines',
    '> <img\n>   src="a.png"\n>   alt="x">',
    `> <img\n>   src="${u}/0"\n>   alt="x">`,
  ],
  ['HTML in a line', 'a <img src=a.png> b', `a <img src="${u}/0"> b`],
  [
    'attributes without quotes that have a slash: in a line, on their own, in a quote over lines, on the way to another one',
    'a <img src=img/a.png> <img class=a/b src=./b.png />\n\n<video src=/c.mp4>\n\n> a <img alt="x/y"\n> src=d/d.png>',
    `a <img src="${u}/0"> <img class=a/b src="${u}/1" />\n\n<video src="${u}/2">\n\n> a <img alt="x/y"\n> src="${u}/3">`,
  ],
  ['a slash in what is no tag', 'a=b/<img src=a.png a="b"c=d/e>', 'a=b/<img src=a.png a="b"c=d/e>'],
  [
    'attributes without quotes that are more than a URL',
    'a <b style=background:url(a.png)>b</b> <img srcset=b.png,><img srcset=c.png>',
    `a <b style=background:url(${bare}0)>b</b> <img srcset=${bare}1,><img srcset="${u}/2">`,
  ],
  [
    'a picture in a block',
    '<picture>\n<source srcset="a.webp 1x, b.webp 2x">\n<img src="a.png">\n</picture>',
    `<picture>\n<source srcset="${u}/0 1x, ${u}/1 2x">\n<img src="${u}/2">\n</picture>`,
  ],
  [
    'an inline image after an HTML block',
    '<div>\n\n![a](a.png)\n\n</div>',
    `<div>\n\n![a](${u}/0)\n\n</div>`,
  ],
  ['links are left alone', '[a](a.mp4) [b]\n\n[b]: b.mp4', '[a](a.mp4) [b]\n\n[b]: b.mp4'],
  [
    'links with --links',
    '[a](a.mp4) [b]\n\n[b]: b.mp4\n\n<a href="c.mp4">c</a>',
    `[a](${u}/0) [b]\n\n[b]: ${u}/1\n\n<a href="${u}/2">c</a>`,
    {links: true},
  ],
  [
    'Obsidian',
    '![[a.png]] ![[my dir/b.png|300]] [[c.png]] `![[d.png]]` ![[e.png#x|y]]',
    `![a.png](${u}/0) ![b.png|300](${u}/1) [[c.png]] \`![[d.png]]\` ![e.png|y](${u}/2#x)`,
  ],
  ['Obsidian in a table', '| a |\n|---|\n| ![[a.png\\|30]] |', `| a |\n|---|\n| ![a.png\\|30](${u}/0) |`],
  ['not Obsidian', '![[a](x.png) ![[]] ![[a\nb.png]]', '![[a](x.png) ![[]] ![[a\nb.png]]'],
  ['front matter', '---\nimage: a.png\n---\n\n![a](b.png)', `---\nimage: a.png\n---\n\n![a](${u}/0)`],
  [
    'front matter with keys',
    '---\nimage: "a.png"\ncover:\n  src: b c.png # x\nother: x.png\nimage: https://x\n---\n',
    `---\nimage: "${u}/0"\ncover:\n  src: ${u}/1 # x\nother: x.png\nimage: https://x\n---\n`,
    {frontMatter: ['image', 'src']},
  ],
  ...['\r\n', '\r'].map(
    (end): Row => [
      `front matter with keys, lines that end with ${JSON.stringify(end)}`,
      `\ufeff---${end}title: T${end}image: a.png${end}n:${end}  - src: "b.png" # c${end}---${end}${end}![a](c.png)${end}`,
      `\ufeff---${end}title: T${end}image: ${u}/0${end}n:${end}  - src: "${u}/1" # c${end}---${end}${end}![a](${u}/2)${end}`,
      {frontMatter: ['image', 'src']},
    ],
  ),
  [
    'front matter in TOML',
    "+++\nimage = 'a.png'\n+++\n",
    `+++\nimage = '${u}/0'\n+++\n`,
    {frontMatter: ['image']},
  ],
  [
    'front matter in TOML: dotted keys, tables, lists over lines, all strings, escapes',
    '+++\ncover.image = "a\\u0062.png" # c\nimages = [ # c\n  """\nb.png""",\n\n  {src = \'c.png\', alt = "not media"},\n]\n[[resources]]\nsrc = \'\'\'d.png\'\'\'\n[params.hero]\n"image" = "e.png"\nn = 1979-05-27\n+++\n',
    `+++\ncover.image = "${u}/0" # c\nimages = [ # c\n  """${u}/1""",\n\n  {src = '${u}/2', alt = "not media"},\n]\n[[resources]]\nsrc = '''${u}/3'''\n[params.hero]\n"image" = "${u}/4"\nn = 1979-05-27\n+++\n`,
    {frontMatter: ['image', 'images', 'src']},
  ],
  [
    'front matter in YAML: lists and maps in lines and in brackets',
    '---\nimages:\n- a.png # c\n-   "b.png"\n- [ [c.png], \'d.png\' ]\n- src: e.png\n  alt: not media\n- {src: f.png, alt: "x", "nested": {src: g.png}}\nsrc: h.png\n? images\n: i.png\n---\n',
    `---\nimages:\n- ${u}/0 # c\n-   "${u}/1"\n- [ [${u}/2], '${u}/3' ]\n- src: ${u}/4\n  alt: not media\n- {src: ${u}/5, alt: "x", "nested": {src: ${u}/6}}\nsrc: h.png\n? images\n: ${u}/7\n---\n`,
    {frontMatter: ['images']},
  ],
  [
    'front matter: text of several lines is no list of entries; one line of it is a value',
    '---\ntext: |\n  image: x.png\n\n  - image: y.png\nmore: >-\n  image: z.png\nimage: one.png\n  two.png\nimage: |\n  a.png\n  b.png\nimage: >- # folded\n  my c.png\n---\n',
    `---\ntext: |\n  image: x.png\n\n  - image: y.png\nmore: >-\n  image: z.png\nimage: one.png\n  two.png\nimage: |\n  a.png\n  b.png\nimage: >- # folded\n  ${u}/0\n---\n`,
    {frontMatter: ['image']},
  ],
  [
    'front matter: anchors, aliases, tags, escapes and what is no text',
    '---\na: &b\n  image: &c !!str a.png\nimage: *c\nimage: *none\nx: *b\ny: {image: "b\\x20\\u00e9.png"}\nz: {image: \'\'\'\'}\nimage: !!binary c.png\nimage: !mine d.png\nimage: false\nimage: 1.5\nimage:\nimage: []\n"im\\u0061ge": e.png\n---\n',
    `---\na: &b\n  image: &c !!str ${u}/0\nimage: *c\nimage: *none\nx: *b\ny: {image: "${u}/1"}\nz: {image: '${u}/2'}\nimage: !!binary c.png\nimage: !mine d.png\nimage: false\nimage: 1.5\nimage:\nimage: []\n"im\\u0061ge": ${u}/3\n---\n`,
    {frontMatter: ['image']},
  ],
  [
    'front matter: a fragment with what no format allows',
    '+++\nimage = "a.png#\\u0007\\U0001F600 x"\n+++\n',
    `+++\nimage = "${u}/0#%07😀%20x"\n+++\n`,
    {frontMatter: ['image']},
  ],
  [
    'front matter that is not at the start',
    '\n---\nimage: a.png\n---\n',
    '\n---\nimage: a.png\n---\n',
    {frontMatter: ['image']},
  ],
  [
    'front matter that is empty',
    '---\n# c\n\n---\n![a](a.png)',
    `---\n# c\n\n---\n![a](${u}/0)`,
    {frontMatter: ['a']},
  ],
  [
    'a byte order mark and CRLF',
    '\ufeff![a](a.png)\r\n\r\n> <img src="b.png">\r\n',
    `\ufeff![a](${u}/0)\r\n\r\n> <img src="${u}/1">\r\n`,
  ],
  ['characters beyond 16 bits', '😀 ![😀](😀.png) 写 ![b](写真.png)', `😀 ![😀](${u}/0) 写 ![b](${u}/1)`],
  ['backslashes of Windows authors', '![a](img\\x.png)', `![a](${u}/0)`],
];

const mdxRows: readonly Row[] = [
  [
    'audio without content: what follows is not in it',
    '<audio src={song} />\n\n<video><source src="a.mp4" /></video>\n',
    `<audio src={song} />\n\n<video><source src="${u}/0" /></video>\n`,
  ],
  [
    'no indented code: steps with an image',
    '<Steps>\n\n1. Open it.\n\n    ![a](a.png)\n\n2. Then\n\n        ![b](b.png)\n\n</Steps>\n',
    `<Steps>\n\n1. Open it.\n\n    ![a](${u}/0)\n\n2. Then\n\n        ![b](${u}/1)\n\n</Steps>\n`,
  ],
  [
    'Markdown in elements, on lines of their own and in a line',
    '<Frame>\n  ![a](a.png)\n</Frame>\n\n<b>![b](b.png)</b> <Box>\n![c](c.png)</Box>\n',
    `<Frame>\n  ![a](${u}/0)\n</Frame>\n\n<b>![b](${u}/1)</b> <Box>\n![c](${u}/2)</Box>\n`,
  ],
  [
    'attributes: strings count, also over lines and in a quote; expressions do not',
    '<img src="a&amp;b.png" alt={`{x}`} {...all} />\n\n> <img\n>   className=\'x\'\n>   src=\'b.png\'\n> />\n\n<img src={a} srcSet="c.png 2x" style={{background: "url(d.png)"}}/>\n',
    `<img src="${u}/0" alt={\`{x}\`} {...all} />\n\n> <img\n>   className='x'\n>   src='${u}/1'\n> />\n\n<img src={a} srcSet="${u}/2 2x" style={{background: "url(d.png)"}}/>\n`,
  ],
  [
    'imports, exports and expressions with brackets in text',
    "import A, {b} from './a.png'\nexport const c = () => {\n  // don't }\n\n  return <img src=\"b.png\" alt=\"}\" />\n}\n\n{'{'} {\"it's }\"} {`}`} {/* ![c](c.png) } */} {<p>It's {d}</p>} ![e](e.png)\n",
    `import A, {b} from './a.png'\nexport const c = () => {\n  // don't }\n\n  return <img src="b.png" alt="}" />\n}\n\n{'{'} {"it's }"} {\`}\`} {/* ![c](c.png) } */} {<p>It's {d}</p>} ![e](${u}/0)\n`,
  ],
  [
    "Docusaurus' comments and names of headings",
    '## A heading {#its-name}\n\n<!-- ![a](a.png)\n\n{ -->\n\nText <!-- <img src="b.png"> --> ![c](c.png)\n\n<!-- truncate -->\n\n![d](d.png)\n',
    `## A heading {#its-name}\n\n<!-- ![a](a.png)\n\n{ -->\n\nText <!-- <img src="b.png"> --> ![c](${u}/0)\n\n<!-- truncate -->\n\n![d](${u}/1)\n`,
  ],
  [
    'code, a byte order mark, front matter',
    '\ufeff---\r\nimage: a.png\r\n---\r\n\r\n```jsx\r\n<img src="b.png" />\r\n```\r\n\r\n`![c](c.png)` <video poster="d.png"></video>\r\n',
    `\ufeff---\r\nimage: ${u}/0\r\n---\r\n\r\n\`\`\`jsx\r\n<img src="b.png" />\r\n\`\`\`\r\n\r\n\`![c](c.png)\` <video poster="${u}/1"></video>\r\n`,
    {frontMatter: ['image']},
  ],
];

const mkdocsRows: readonly Row[] = [
  [
    'behind lines that are whole HTML',
    '<br>\n![a](a.png)\n\n<p align="center">A</p>\n![b](b.png)\n\n</div>\n![c](c.png)\n\n<img src="d.png">\n![e](e.png)\n\n<div>![x](x.png)</div>\n\n<div>\n![x](x.png)\n</div>\n\n<iframe src="https://x.example"></iframe>\n![f](f.png)\n',
    `<br>\n![a](${u}/0)\n\n<p align="center">A</p>\n![b](${u}/1)\n\n</div>\n![c](${u}/2)\n\n<img src="${u}/3">\n![e](${u}/4)\n\n<div>![x](x.png)</div>\n\n<div>\n![x](x.png)\n</div>\n\n<iframe src="https://x.example"></iframe>\n![f](${u}/5)\n`,
  ],
  [
    'behind HTML of several lines, and in elements of a paragraph',
    '<DIV>\n<div>\n![x](x.png)</div>\n![x](x.png)\n</div>\n![a](a.png)\n\n<a href="x">\n![b](b.png)\n</a>\n\n> <p>\n> <img src="c.png">\n> </p>\n> ![d](d.png)\n\n<!-- <p>\n</p> -->\n\n<p>\n![x](x.png)\n\n<pre>\n<p>\n</p>\n![x](x.png)</pre>\n\n<p>\n</p>',
    `<DIV>\n<div>\n![x](x.png)</div>\n![x](x.png)\n</div>\n![a](${u}/0)\n\n<a href="x">\n![b](${u}/1)\n</a>\n\n> <p>\n> <img src="${u}/2">\n> </p>\n> ![d](${u}/3)\n\n<!-- <p>\n</p> -->\n\n<p>\n![x](x.png)\n\n<pre>\n<p>\n</p>\n![x](x.png)</pre>\n\n<p>\n</p>`,
  ],
  [
    'types of blocks in any letters',
    '!!! größe\n\n    ![a](a.png)\n\n??? примечание "Т"\n\n    ![b](b.png)\n',
    `!!! größe\n\n    ![a](${u}/0)\n\n??? примечание "Т"\n\n    ![b](${u}/1)\n`,
  ],
  [
    'definitions in a block, and in a paragraph',
    '!!! note\n\n    ![a][x]\n\n    [x]: a.png\n\nText ![a][y]\n[y]: <b.png>\n',
    `!!! note\n\n    ![a][x]\n\n    [x]: ${u}/0\n\nText ![a][y]\n[y]: <${u}/1>\n`,
  ],
  [
    'blocks: their content is what is indented by four spaces or a tab, code what is indented by eight',
    '!!! note\n    ![a](a.png)\n\n        ![code](x.png)\n\nText\n???+ tip "T"\n\n\t![b](b.png)\n\n===! "Tab"\n\n    !!! warning inline end ""\n        ![c](c.png)\n\n    Text',
    `!!! note\n    ![a](${u}/0)\n\n        ![code](x.png)\n\nText\n???+ tip "T"\n\n\t![b](${u}/1)\n\n===! "Tab"\n\n    !!! warning inline end ""\n        ![c](${u}/2)\n\n    Text`,
  ],
  [
    'code after a block in a block, and in a definition in a list, as Python-Markdown has it',
    '!!! note\n    !!! tip\n        ![a](a.png)\n\n    Text.\n\n        ![code](x.png)\n\n    Term\n    :   ![b](b.png)\n\n        ![c](c.png)\n\n- One\n\n    Term\n    :   Text\n\n        ![code](x.png)\n',
    `!!! note\n    !!! tip\n        ![a](${u}/0)\n\n    Text.\n\n        ![code](x.png)\n\n    Term\n    :   ![b](${u}/1)\n\n        ![c](${u}/2)\n\n- One\n\n    Term\n    :   Text\n\n        ![code](x.png)\n`,
  ],
  [
    'in lists and quotes, definitions',
    '1. One\n\n    !!! note\n\n        ![a](a.png)\n\n> ??? note\n>     ![b](b.png)\n\nTerm\n:   ![c](c.png)\n\n    ![d](d.png)\n',
    `1. One\n\n    !!! note\n\n        ![a](${u}/0)\n\n> ??? note\n>     ![b](${u}/1)\n\nTerm\n:   ![c](${u}/2)\n\n    ![d](${u}/3)\n`,
  ],
  [
    'elements with the attribute markdown, attributes',
    '<figure class="a" markdown="span">\n    ![a](a.png){ width=300 }\n</figure>\n\n<div>\n![no](x.png)\n</div>\n\n<div markdown><img src="b.png">\n![c](c.png)\n</div>\n',
    `<figure class="a" markdown="span">\n    ![a](${u}/0){ width=300 }\n</figure>\n\n<div>\n![no](x.png)\n</div>\n\n<div markdown><img src="${u}/1">\n![c](${u}/2)\n</div>\n`,
  ],
  [
    'code, headings and words that are no blocks',
    'A\n===\n\n!!!\n\n    ![a](x.png)\n\n```\n!!! note\n\n    ![b](x.png)\n```\n\nText.\n\n    ![c](x.png)\n\n!!!! x\n\n    ![d](x.png)\n',
    'A\n===\n\n!!!\n\n    ![a](x.png)\n\n```\n!!! note\n\n    ![b](x.png)\n```\n\nText.\n\n    ![c](x.png)\n\n!!!! x\n\n    ![d](x.png)\n',
  ],
];

const xhtmlRows: readonly Row[] = [
  [
    'audio without content: what follows is not in it',
    '<audio src="a.mp3"/><video><source src="a.mp4"/></video>',
    `<audio src="a.mp3"/><video><source src="${u}/0"/></video>`,
  ],
  [
    'elements that are empty',
    '<head><title/><script src="x.js"/><style/></head><body><img src="a.png"/></body>',
    `<head><title/><script src="x.js"/><style/></head><body><img src="${u}/0"/></body>`,
  ],
];

const htmlRows: readonly Row[] = [
  [
    'empty elements in SVG, and text elements after it',
    '<svg><title/><style/><image href="a.png"/><style>x{fill:url(b.png)}</style></svg><title><img src="x.png"></title><script src=x /><img src="x.png">',
    `<svg><title/><style/><image href="${u}/0"/><style>x{fill:url(${u}/1)}</style></svg><title><img src="x.png"></title><script src=x /><img src="x.png">`,
  ],
  ...['---\n---\n', '---\r\nimage: <img src="a.png">\r\n--- \t\r\n', '\ufeff+++\r+++\r'].map(
    (start): Row => [
      `behind front matter: ${JSON.stringify(start)}`,
      `${start}<img src="b.png"> ---\n---\n![](c.png)`,
      `${start}<img src="${u}/0"> ---\n---\n![](c.png)`,
    ],
  ),
  ...['---', '----\n', '+++\nimage: a.png\n---\n', ' ---\n---\n', '<p>\n---\n---\n'].map(
    (start): Row => [
      `behind what is not front matter: ${JSON.stringify(start)}`,
      `${start}<img src="b.png">\n--- +++ ![](c.png)`,
      `${start}<img src="${u}/0">\n--- +++ ![](c.png)`,
      {frontMatter: ['image']},
    ],
  ),
  [
    'the places of pictures',
    '<img src="a.png"><video src=b.mp4 poster=\'c.png\'></video><svg><image href="d.png" xlink:href="e.png"/></svg><link rel="shortcut icon" href="f.ico"><meta property="og:image" content="g.png">',
    `<img src="${u}/0"><video src="${u}/1" poster='${u}/2'></video><svg><image href="${u}/3" xlink:href="${u}/4"/></svg><link rel="shortcut icon" href="${u}/5"><meta property="og:image" content="${u}/6">`,
  ],
  [
    'pictures to load early, buttons, embedded media and nothing else of these elements',
    '<link rel=preload as=image href="a.png" imagesrcset="b.png 2x"><input type=IMAGE src="c.png"><object data="d.svg"></object><embed src="e.mp4"><link rel=preload as=font href="f.woff"><input type=text src="g.png"><embed src="h">',
    `<link rel=preload as=image href="${u}/0" imagesrcset="${u}/1 2x"><input type=IMAGE src="${u}/2"><object data="${u}/3"></object><embed src="${u}/4"><link rel=preload as=font href="f.woff"><input type=text src="g.png"><embed src="h">`,
  ],
  [
    'audio is left alone',
    '<audio src=a.mp3><source src=a.ogg></audio><video><source src=b.mp4></video>',
    `<audio src=a.mp3><source src=a.ogg></audio><video><source src="${u}/0"></video>`,
  ],
  [
    'other elements are left alone',
    '<script src=a.js></script><link rel=stylesheet href=a.css><a href=a.png><iframe src=a.html></iframe>',
    '<script src=a.js></script><link rel=stylesheet href=a.css><a href=a.png><iframe src=a.html></iframe>',
  ],
  [
    'scripts, comments and text areas',
    '<script>"<img src=a.png>"</script><!--<img src=a.png>--><textarea><img src=a.png></textarea><title><img src=a.png></title>',
    '<script>"<img src=a.png>"</script><!--<img src=a.png>--><textarea><img src=a.png></textarea><title><img src=a.png></title>',
  ],
  [
    'noscript and templates',
    '<noscript><img src=a.png></noscript><template><img src=b.png></template>',
    `<noscript><img src="${u}/0"></noscript><template><img src="${u}/1"></template>`,
  ],
  [
    'srcset: descriptors, data URLs, commas',
    '<img srcset="a.png, b.png 2x,data:image/png;base64,AA= 3x, c.png 100w">',
    `<img srcset="${u}/0, ${u}/1 2x,data:image/png;base64,AA= 3x, ${u}/2 100w">`,
  ],
  [
    'styles',
    '<style>a{background:url(a.png)}</style><p style="background:url(\'b.png\')">',
    `<style>a{background:url(${u}/0)}</style><p style="background:url('${u}/1')">`,
  ],
  [
    'a style with character references',
    '<p style="background:url(&quot;a&amp;b.png&quot;) no-repeat">',
    `<p style="background:url(&quot;${u}/0&quot;) no-repeat">`,
  ],
  [
    'character references in a path',
    '<img src="a&amp;b.png" alt="&copy;">',
    `<img src="${u}/0" alt="&copy;">`,
  ],
  ['white space around a path, upper case', '<IMG SRC = " a.png ">', `<IMG SRC = " ${u}/0 ">`],
  [
    'no value, a broken tag',
    '<img src><img src=""><img src="a.png" <p>',
    `<img src><img src=""><img src="${u}/0" <p>`,
  ],
  ['attributes twice: the first counts', '<img src="a.png" src="b.png">', `<img src="${u}/0" src="b.png">`],
  ['an unclosed tag at the end', '<img src="a.png', '<img src="a.png'],
];

const cssRows: readonly Row[] = [
  [
    'url() with and without quotes',
    'a{background:url(a.png),url( "b.png" ),url( \'c.png\')}',
    `a{background:url(${u}/0),url( "${u}/1" ),url( '${u}/2')}`,
  ],
  [
    'image-set()',
    'a{background:image-set("a.png" 1x, url(b.png) 2x type("image/png"))}',
    `a{background:image-set("${u}/0" 1x, url(${u}/1) 2x type("image/png"))}`,
  ],
  [
    '@import, @font-face and @namespace',
    '@import url(a.css);@import "b.css";@font-face{src:url(c.woff)}@namespace url(d.png);a{b:url(e.png)}',
    `@import url(a.css);@import "b.css";@font-face{src:url(c.woff)}@namespace url(d.png);a{b:url(${u}/0)}`,
  ],
  ['@media', '@media print{a{b:url(a.png)}}', `@media print{a{b:url(${u}/0)}}`],
  [
    'comments and strings',
    '/* url(a.png) */a::before{content:"url(b.png)"}',
    '/* url(a.png) */a::before{content:"url(b.png)"}',
  ],
  ['escapes', 'a{b:url(a\\ b\\).png)}', `a{b:url(${u}/0)}`],
  [
    'fragments and data',
    'a{b:url(#x) url(data:image/png;base64,AA) url(s.svg#x)}',
    `a{b:url(#x) url(data:image/png;base64,AA) url(${u}/0#x)}`,
  ],
];

describe.each<[DocumentKind, readonly Row[]]>([
  ['markdown', markdownRows],
  ['mdx', mdxRows],
  ['mkdocs', mkdocsRows],
  ['html', htmlRows],
  ['xhtml', xhtmlRows],
  ['css', cssRows],
])('%s', (kind, rows) => {
  it.each(rows.map(row => ({row, name: row[0]})))(
    '$name; then nothing more',
    async ({row: [, document, expected, options]}) => {
      expect(await rewritten(kind, document, options)).toBe(expected);
      expect((await scanned(kind, expected, options)).map(({source}) => source)).toEqual([]);
    },
  );
});

describe('a URL with what has a meaning where it is put', () => {
  const url = 'https://u.example/w_300,h_200/a,.png?x=1&y=2';

  it.each([
    ['html', '<img srcset="a.png 1x, b.png 2x">', 'https://u.example/w_300%2Ch_200/a%2C.png?x=1&amp;y=2'],
    [
      'markdown',
      '<source srcset="a.png, b.png 100w">',
      'https://u.example/w_300%2Ch_200/a%2C.png?x=1&amp;y=2',
    ],
    ['html', '<img src="a.png">', 'https://u.example/w_300,h_200/a,.png?x=1&amp;y=2'],
    ['markdown', '![a](a.png)', url],
    ['css', 'a{b:url("a.png")}', url],
    ['html', '<style>a{b:url("a.png")}</style>', url],
    ['xhtml', '<style>a{b:url("a.png")}</style>', url.replace('&', '&amp;')],
    ['html', '<svg><style>a{b:url(a.png)}</style></svg>', url.replace('&', '&amp;')],
    ['xhtml', '<style><![CDATA[a{b:url("a.png")}]]></style>', url],
    ['markdown', '---\nimage: a.png\nimages: [b.png]\n---\n', `"${url}"`],
    ['markdown', '---\nimages: ["a.png"]\nimage: >-\n  b.png\n---\n', url],
    ['mkdocs', '+++\nimages = ["a.png", \'b.png\']\n+++\n', url],
  ] as const)('%s: %s', async (kind, document, expected) => {
    const edits = (await scanned(kind, document, {frontMatter: ['image', 'images']})).map(reference => ({
      ...reference,
      text: replacementOf(reference, url),
    }));
    expect(applyEdits(document, edits)).toBe(document.replace(/[ab]\.png/g, expected));
  });
});

describe('the path that a reference means', () => {
  it.each([
    ['markdown', '![a](a\\_b&amp;c.png)', 'a_b&c.png'],
    ['markdown', '![a](img\\x.png)', 'img\\x.png'],
    ['markdown', '![[写真 1.png|x]]', '写真 1.png'],
    ['html', '<img src="a&#32;b&eacute;.png">', 'a bé.png'],
    ['css', 'a{b:url(\\61 \\)b.png)}', 'a)b.png'],
    ['xhtml', '<style>a{b:url(a&amp;b.png)}</style>', 'a&b.png'],
    ['html', '<img src="a&copy=b&reg.png">', 'a&copy=b®.png'],
  ] as const)('%s %s', async (kind, document, target) => {
    expect((await scanned(kind, document)).map(reference => reference.target)).toEqual([target]);
  });
});

it.each([
  ['../img/index.html?a/b', ['../img/a.png', '/b.png', '../img/c.png', '../img/d.png#e']],
  ['img', ['a.png', '/b.png', 'c.png', 'd.png#e']],
  ['/site/', ['a.png', '/b.png', 'c.png', 'd.png#e']],
  ['{{ .Site.BaseURL }}', ['a.png', '/b.png', 'c.png', 'd.png#e']],
  [' https://example.com', []],
  ['//example.com/img/', []],
])('the base URL %j: what relative URLs behind it mean', async (href, targets) => {
  const parts = '<img src="/b.png"><style>a{b:url(c.png)}</style><base href="x/"><img src="d.png#e">';
  const document = `<img src="0.png"><base href="${href}"><img src="a.png">${parts}<img src="https://x">`;
  const found = (await scanned('html', document)).map(({target}) => target);
  expect(found).toEqual(['0.png', ...targets]);
});

describe('front matter that is not valid', () => {
  const scan = (text: string) =>
    scanDocument('markdown', `${text}![a](b.png)`, {...usualScan, frontMatter: ['image']});

  it.each([
    [
      '---\r\nimage: a.png\r\nb: c: d\r\n---\r\n',
      'not valid YAML: 3:4: Nested mappings are not allowed in compact mappings',
    ],
    ['---\nimage: a.png\n...\nimage: a.png\n---\n', 'not valid YAML: 4:1: Another document begins'],
    ['\ufeff+++\nimage = "a.png"\nb = \n+++\n', 'not valid TOML: 3:5: Unspecified values are invalid'],
    [
      `---\nimage: ${'['.repeat(8_000)}${']'.repeat(8_000)}\n---\n`,
      'not valid YAML: 2:107: It has more than 100 levels',
    ],
    [
      `+++\nimage = ${'['.repeat(8_000)}${']'.repeat(8_000)}\n+++\n`,
      'not valid TOML: 2:2009: It has more than 2000 brackets',
    ],
  ])('%#: left as it is, and said so', async (text, badFrontMatter) => {
    expect(await scan(text)).toMatchObject({references: [{source: 'b.png'}], badFrontMatter});
  });

  it('as deep as it may be: read', async () => {
    for (const text of [
      `---\nimage: ${'['.repeat(90)}a.png${']'.repeat(90)}\n---\n`,
      `+++\nimage = ${'['.repeat(1_900)}"a.png"${']'.repeat(1_900)}\n+++\n`,
    ])
      expect((await scan(text)).references).toMatchObject([{source: 'a.png'}, {source: 'b.png'}]);
  });
});
