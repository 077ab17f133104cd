import fc from 'fast-check';
import {load} from 'js-yaml';
import {parse} from 'smol-toml';
import {expect} from 'vitest';
import {Document, isScalar, visit} from 'yaml';
import {applyEdits} from '../../../src/documents/document-text.ts';
import type {DocumentKind} from '../../../src/documents/scan/reference.ts';
import {replacementOf} from '../../../src/documents/write-plan.ts';
import {holdsFor} from '../../support/property.ts';
import {scanned} from '../rewritten.ts';

type Value = string | number | boolean | Value[] | {[key: string]: Value};

/** Files that exist, with their URLs. */
const files = new Map([
  ['a.png', 'https://u.example/a'],
  ['my dir/b.jpg', 'https://u.example/w_300,h_{2}/[x]?a=1&b=*'],
  ["it's é😀.webp", 'https://u.example/%C3%A9;!@$~+=a:'],
  ['c,d "x".mp4', 'https://u.example/,'],
  ['[e]\\#.svg', 'https://u.example/#c:'],
]);
const keys = ['image', 'images', 'src'];

const file = fc.constantFrom(...files.keys());
const text = fc.constantFrom(
  'Title',
  'a: b',
  'image: x.png',
  '# no',
  '',
  '- a',
  'true',
  '{{ x }}',
  'a\nb\n',
  'é "q"',
);
const scalar = fc.oneof(file, file, text, fc.constantFrom(1, true, -2.5));
const key = fc.constantFrom(...keys, 'title', 'my key', 'a.b', 'é"', '1');
const {value} = fc.letrec<{value: Value}>(tie => ({
  value: fc.oneof(
    {depthSize: 'small'},
    scalar,
    fc.array(tie('value'), {maxLength: 3}),
    fc.dictionary(key, tie('value'), {maxKeys: 3, noNullPrototype: true}),
  ),
}));
const map = fc.dictionary(key, value, {minKeys: 1, maxKeys: 4, noNullPrototype: true});
/** How values are written, one after the other. */
const styles = fc.array(fc.nat(29), {minLength: 11, maxLength: 11});
const kind = fc.constantFrom<DocumentKind>('markdown', 'mdx', 'mkdocs', 'html');
const ending = fc.constantFrom('\n', '\r\n');
const mark = fc.constantFrom('', '\ufeff');

function chooser(numbers: readonly number[]) {
  let count = 0;
  return <Choice>(...choices: Choice[]): Choice => {
    count += 1;
    return choices[(numbers[count % numbers.length] ?? 0) % choices.length] as Choice;
  };
}

function yamlOf(data: Value, numbers: readonly number[]): string {
  const choose = chooser(numbers);
  const document = new Document(data);
  visit(document, {
    Collection(_key, node) {
      node.flow = choose(false, false, true);
      if (choose(false, true)) node.comment = ' image: x.png';
    },
    Scalar(position, node) {
      if (typeof node.value !== 'string' || position === 'key') return;
      node.type = choose('PLAIN', 'PLAIN', 'QUOTE_DOUBLE', 'QUOTE_SINGLE', 'BLOCK_LITERAL', 'BLOCK_FOLDED');
      if (choose(false, false, true)) node.comment = ' c';
      if (choose(false, false, false, true)) node.tag = 'tag:yaml.org,2002:str';
    },
    Pair(_key, {key: name}) {
      if (isScalar(name)) name.type = choose('PLAIN', 'QUOTE_DOUBLE', 'QUOTE_SINGLE');
    },
  });
  return document.toString({indent: choose(2, 4), lineWidth: choose(0, 60)});
}

function tomlOf(data: {[key: string]: Value}, numbers: readonly number[]): string {
  const choose = chooser(numbers);
  const keyOf = (name: string) => (/^\w+$/.test(name) ? choose(name, `"${name}"`) : JSON.stringify(name));
  const textOf = (one: string) => {
    const basic = JSON.stringify(one);
    if (one.includes('\n')) return choose(basic, `"""\n${one.replaceAll('"', '\\"')}"""`, `'''${one}'''`);
    const long = choose(`"""${basic.slice(1, -1)}"""`, `'''\n${one}'''`, basic.replace('a', '\\u0061'));
    return choose(basic, one.includes("'") ? long : `'${one}'`, long);
  };
  const inline = (one: Value): string => {
    if (Array.isArray(one)) {
      const [before, after] = choose(['', ''], [' ', ' '], ['\n  # image = "x.png"\n  ', ', # c\n']);
      return one.length === 0 ? '[]' : `[${before}${one.map(inline).join(`,${before}`)}${after}]`;
    }
    if (typeof one === 'string') return textOf(one);
    return typeof one === 'object'
      ? `{${Object.entries(one)
          .map(([name, each]) => `${keyOf(name)} = ${inline(each)}`)
          .join(', ')}}`
      : String(one);
  };
  const entry = (name: string, one: Value) =>
    `${name}${choose(' = ', '=')}${inline(one)}${choose('', ' # c')}\n`;
  const tables: string[] = [];
  let top = '';
  for (const [name, one] of Object.entries(data)) {
    const isMap = typeof one === 'object' && !Array.isArray(one);
    if (!isMap || choose(false, true, true)) top += entry(keyOf(name), one);
    else if (choose(true, false) || Object.keys(one).length === 0)
      tables.push(
        `[${keyOf(name)}]\n${Object.entries(one)
          .map(([each, it]) => entry(`  ${keyOf(each)}`, it))
          .join('')}`,
      );
    else for (const [each, it] of Object.entries(one)) top += entry(`${keyOf(name)} . ${keyOf(each)}`, it);
  }
  return top + tables.join('\n');
}

/** What a parser must find afterwards. */
function expected(data: unknown, isNamed = false): unknown {
  if (typeof data === 'string') return (isNamed ? files.get(data) : undefined) ?? data;
  if (Array.isArray(data)) return data.map(each => expected(each, isNamed));
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(
    Object.entries(data).map(([name, each]) => [name, expected(each, isNamed || keys.includes(name))]),
  );
}

/** Checks one document, given what stands before and after its front matter; the parser knows nothing of the program's. */
async function check(
  dialect: DocumentKind,
  [before, matter, after]: [string, string, string],
  read: (text: string) => unknown,
): Promise<void> {
  const document = before + matter + after;
  const found = await scanned(dialect, document, {frontMatter: keys});
  const edits = found.flatMap(reference => {
    const url = files.get(reference.target);
    expect(document.slice(reference.start, reference.end)).toBe(reference.source);
    return url === undefined ? [] : [{...reference, text: replacementOf(reference, url)}];
  });
  const result = applyEdits(document, edits);
  expect([result.startsWith(before), result.endsWith(after)]).toEqual([true, true]);
  const rewritten = result.slice(before.length, result.length - after.length);
  expect([result, read(rewritten)]).toEqual([result, expected(read(matter))]);
}

holdsFor(
  'YAML in all its styles, as another parser reads it: only the files of the keys become URLs',
  [kind, mark, ending, map, styles],
  (dialect, start, newline, data, numbers) => {
    const [before, matter, after] = [`${start}---\n`, yamlOf(data, numbers), '---\n\nText\n'].map(part =>
      part.replaceAll('\n', newline),
    );
    return check(dialect, [before ?? '', matter ?? '', after ?? ''], load);
  },
);

holdsFor(
  'TOML in all its styles, as another parser reads it: only the files of the keys become URLs',
  [kind, mark, ending, map, styles],
  (dialect, start, newline, data, numbers) => {
    const [before, matter, after] = [`${start}+++\n`, tomlOf(data, numbers), '+++\n\nText\n'].map(part =>
      part.replaceAll('\n', newline),
    );
    return check(dialect, [before ?? '', matter ?? '', after ?? ''], parse);
  },
);
