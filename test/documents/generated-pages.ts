import fc from 'fast-check';

/** In the place of the name of an image, which `numbered` gives. */
const name = '@@';
const image = fc.constantFrom(
  `![a](${name})`,
  `![*a* b](<${name}> "t")`,
  `![a](./${name} 't')`,
  `[![a](${name})](page.md)`,
  `**b ![a](dir/${name})**`,
);
const noImage = fc.constantFrom(`\`![a](${name})\``, `\\![a](${name})`, `\`\` \`<img src="${name}">\` \`\``);

/** Lines with an indent before all but empty ones, and another before the first. */
function indented(text: string, indent: string, first = indent): string {
  return text.replace(/^(?=.)/gm, indent).replace(indent, first);
}

/** Blocks below one another: `leaf` ones, and those that `container` makes of others, up to three levels deep. */
function blocks(
  leaf: fc.Arbitrary<string>,
  container: (inner: fc.Arbitrary<string>) => fc.Arbitrary<string>,
  levels = 3,
): fc.Arbitrary<string> {
  const inner = levels === 0 ? undefined : blocks(leaf, container, levels - 1);
  const block = inner === undefined ? leaf : fc.oneof(leaf, container(inner));
  return fc.array(block, {minLength: 1, maxLength: 3}).map(parts => parts.join('\n\n'));
}

/** Pages with a name of its own for each image. */
function pages(body: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return body.map(text => {
    let number = 0;
    return `# Title\n\n${text}\n`.replaceAll(name, () => {
      number += 1;
      return `i${number}.png`;
    });
  });
}

const text = fc
  .array(fc.oneof(image, noImage, fc.constantFrom('word', '*x*', '&amp;', '<b>b</b>')), {
    minLength: 1,
    maxLength: 3,
  })
  .map(parts => parts.join(' '));

/** A tag of an image as authors write it, or with a mistake, after which it is text. */
const tag = fc
  .tuple(
    fc.constantFrom('img', 'video', 'IMG'),
    fc.array(
      fc
        .tuple(
          fc.constantFrom(' ', '\n', '  ', '\t'),
          fc.constantFrom('class', 'data-x', 'alt', ':a.b', 'a/', '/a'),
          fc.constantFrom('', '=', ' = '),
          fc.constantFrom('a', 'a/b', '/', './', 'a//b/', '?x/y', '"a/b"', "'/>'", 'a"b', '&amp;/', '`'),
        )
        .map(parts => parts.join('')),
      {maxLength: 3},
    ),
    fc.constantFrom(`src=${name}`, `src=./${name}`, `src=dir/${name}`, `src = '/${name}'`),
    fc.constantFrom(' class=a/b', ' a=/', '\n', '', ''),
    fc.constantFrom('>', ' >', ' />', ' / >'),
  )
  .map(
    ([element, attributes, source, ...rest]) => `<${element}${attributes.join('')} ${source}${rest.join('')}`,
  );

/** Tags in lines, and at their beginning. */
export const tagPages = pages(
  fc
    .array(fc.tuple(fc.constantFrom('', 'x ', '> ', '- ', '*x* `y` '), tag, fc.constantFrom('', ' y')), {
      minLength: 1,
      maxLength: 4,
    })
    .map(lines =>
      lines
        .map(([begin, ...rest]) => {
          const block = rest.join('');
          return begin === '> '
            ? block.replace(/^/gm, '> ')
            : begin === '- '
              ? indented(block, '  ', begin)
              : begin + block;
        })
        .join('\n\n'),
    ),
);

const commonLeaf = fc.oneof(
  text,
  text.map(line => `${line}  \n${line}`),
  text.map(line => `## ${line}`),
  text.map(line => `${line}\n===`),
  text.map(line => `Text.\n\n    ${line}`),
  text.map(line => `~~~~ md\n${line}\n\n~~~\n~~~~`),
  text.map(line => `\`\`\`\n${line}\n\`\`\``),
  text.map(line => `<!-- ${line} -->\n<p>${line}</p>`),
  text.map(line => `| a | b |\n|---|--:|\n| ${line} | ![b](${name}) |`),
  text.map(
    line =>
      `${line} <img src='${name}' srcset="${name} 1x, ${name} 2x"> <i style="background:url(${name})">x</i>`,
  ),
  fc.nat(1_000_000).map(label => `![a][r${label}] [r${label}]\n\n[r${label}]: <${name}>\n  "t"`),
);

/** Where a list cannot end within. */
const commonEnd = fc.oneof(
  text.map(line => `<div>\n${line}\n<img src="${name}"\nalt=x></div>`),
  text.map(line => `<!-- ${line}\n\n${line} -->\n\n${line}`),
  text.map(line => `> <img\n>   src="${name}"> ${line}`),
);

type Nesting = (inner: fc.Arbitrary<string>) => fc.Arbitrary<string>;

const usualNestings: readonly Nesting[] = [
  inner => inner.map(all => all.replace(/^/gm, '> ')),
  inner => inner.map(all => indented(all, '  ', '- ')),
  inner => inner.map(all => indented(all, '     ', '1)   ')),
  inner => inner.map(all => indented(all, '    ', '-   ')),
  inner => inner.map(all => indented(all, '  ', '* ')),
];

const indent = (to: number) => fc.nat(to).map(count => ' '.repeat(count));

/** More spaces than a marker needs, tabs beside spaces, and lists that begin with other numbers than 1. */
const difficultNestings: readonly Nesting[] = [
  inner => fc.tuple(inner, indent(3)).map(([all, more]) => indented(all, `  ${more}`, '* ')),
  inner =>
    fc
      .tuple(inner, indent(2), indent(5))
      .map(([all, before, more]) => indented(all, `${before}  ${more}`, `${before}* `)),
  inner => inner.map(all => indented(all, '\t', '-\t')),
  inner => inner.map(all => indented(all, '\t', '- ')),
  inner => inner.map(all => indented(all, ' \t', '1. ')),
  inner => inner.map(all => indented(all, '    ', '2)  ')),
  inner => inner.map(all => indented(all, '   ', '7. ')),
  inner => inner.map(all => all.replace(/^/gm, '>\t')),
  inner => inner.map(all => all.replace(/^/gm, '  > ')),
];

function pagesOf(nestings: readonly Nesting[]): fc.Arbitrary<string> {
  const body = blocks(commonLeaf, inner => fc.oneof(...nestings.map(nest => nest(inner))));
  return pages(fc.tuple(body, commonEnd).map(parts => parts.join('\n\n')));
}

/**
 * Without what markdown-it reads otherwise than commonmark.js, the reference implementation of the specification: a quote in an item
 * that is indented by more than its marker, and tabs beside spaces. Of 15,000 pages with these, the images were the same for
 * commonmark.js and micromark, and others for markdown-it in 86.
 */
export const commonPages = pagesOf(usualNestings);

/** Without footnotes, which CommonMark has not; micromark takes code after a footnote in a footnote for text. */
export const difficultPages = pagesOf([...usualNestings, ...difficultNestings]);

const mdxLeaf = fc.oneof(
  text.filter(line => !line.includes('<img')),
  text.map(line => `## ${line}`),
  text.map(line => `Text.\n\n    ${line}`),
  text.map(line => `\`\`\`mdx\n${line}\n\`\`\``),
  fc.constantFrom(
    `<img src="${name}" alt='x' />`,
    `a <img\n  src='${name}' srcSet="${name} 2x" /> b`,
    `{/* ![a](${name}) */}`,
    `{"<img src='${name}'>"} ![a](${name})`,
    `<Frame image={"${name}"} title="{" />`,
    `<video poster="${name}"><source src="${name}" /></video>`,
  ),
);

export const mdxPages = pages(
  blocks(mdxLeaf, inner =>
    fc.oneof(
      inner.map(all => `<Steps>\n\n${all}\n\n</Steps>`),
      inner.map(all => `<Frame title="a > b">\n${indented(all, '  ')}\n</Frame>`),
      inner.map(all => all.replace(/^/gm, '> ')),
      inner.map(all => indented(all, '   ', '1. ')),
      inner.map(all => indented(all, '    ', '- ')),
    ),
  ),
);

const mkdocsImage = fc
  .tuple(image, fc.constantFrom('', '{ width=300 }', ' text'))
  .map(parts => parts.join(''));
const mkdocsLeaf = fc.oneof(
  mkdocsImage.map(line => `Text ${line}`),
  mkdocsImage.map(line => `Text.\n\n    ${line}`),
  mkdocsImage.map(line => `> Quote ${line}`),
  fc
    .tuple(fc.nat(1_000_000), fc.constantFrom('\n', '\n\n'))
    .map(([label, gap]) => `![a][r${label}]${gap}[r${label}]: ${name}`),
);
const titles = fc.constantFrom(
  '!!! note',
  '!!! warning "A b"',
  '!!! note inline end',
  '!!! tip ""',
  '??? note',
  '???+ tip "A"',
  '??? "A"',
);

export const mkdocsPages = pages(
  fc
    .tuple(
      blocks(mkdocsLeaf, inner =>
        fc.oneof(
          fc
            .tuple(titles, fc.constantFrom('\n', '\n\n'), inner)
            .map(([title, gap, all]) => `${title}${gap}${indented(all, '    ')}`),
          fc
            .tuple(inner, inner)
            .map(([a, b]) => `=== "A"\n\n${indented(a, '    ')}\n\n=== "B"\n\n${indented(b, '    ')}`),
          fc.tuple(mkdocsImage, inner).map(([line, all]) => `-   Item ${line}\n\n${indented(all, '    ')}`),
          fc.tuple(mkdocsImage, inner).map(([line, all]) => `1. Item ${line}\n\n${indented(all, '    ')}`),
        ),
      ),
      fc.constantFrom(
        `\`\`\`\n![a](${name})\n\`\`\``,
        `<figure markdown>\n  ![a](${name})\n  <figcaption>c</figcaption>\n</figure>`,
        `<div>\n![a](${name})\n<img src="${name}">\n</div>`,
        `Term\n:   ![a](${name})\n\n    ![b](${name})`,
      ),
    )
    .map(([body, end]) => `${body}\n\n${end}`),
);
