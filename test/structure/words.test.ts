import {readdirSync, readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {describe, expect, it} from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(`${root}${file}`, 'utf8');
const filesIn = (directory: string, ending: string) =>
  readdirSync(`${root}${directory}`, {recursive: true, encoding: 'utf8'})
    .filter(file => file.endsWith(ending))
    .map(file => `${directory}/${file}`);

const sources = ['src', 'tools'].flatMap(directory => filesIn(directory, '.ts'));
const pages = ['README.md', 'CHANGELOG.md', ...filesIn('docs', '.md'), 'action.yml'];

/** The words of the first column of the table in CONTRIBUTING. */
const rows = [...read('.github/CONTRIBUTING.md').matchAll(/^\| (`[^|]*`) \| [^`|]+ \|$/gm)];
const words = rows.flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word));
const unwanted = new RegExp(`\\b(?:${words.join('|')})\\b`, 'i');

const codeOfMarkdown = /^ *```.*?^ *```$|`[^`\n]*`/gms;
const tokens = /\/\/[^\n]*|\/\*.*?\*\/|'(?:[^'\\\n]|\\.)*'|"[^"\n]*"|`(?:[^`\\]|\\.)*`/gs;

/** The texts of several words in a source file, without the code in them. */
function textsIn(source: string): string[] {
  return [...source.matchAll(tokens)]
    .map(([token]) => token)
    .filter(token => /^['"`].* /s.test(token))
    .map(token => token.replace(/\$\{[^{}]*\}/g, 'X'));
}

describe('words that the table in CONTRIBUTING replaces', () => {
  it('are in the table', () => expect(words).toContain('answered'));

  it.each([
    ['messages and help', sources, textsIn],
    ['pages', pages, (page: string) => page.replace(codeOfMarkdown, '').split('\n')],
  ] as const)('are not in %s', (_what, files, textsOf) => {
    const found = files.flatMap(file =>
      textsOf(read(file))
        .filter(text => unwanted.test(text))
        .map(text => `${file}: ${text}`),
    );
    expect(found).toEqual([]);
  });
});

/** What `pattern` finds in the source: a text in quotes, which is its second group. */
function literals(pattern: RegExp): string[] {
  return sources.flatMap(file => [...read(file).matchAll(pattern)].map(([, , text = '']) => text));
}

describe('messages end in one style', () => {
  const message = /new MediaError\(\s*'\w+',\s*(['`])((?:(?!\1)[^\\]|\\.)*)\1[,)]/g;
  const hint = /hint: (['`])((?:(?!\1)[^\\]|\\.)*)\1/g;
  const paste = /: (?:media |--|rm |unset |chmod |openssl |[A-Z_]+=|X=)/;

  it('a message with a full stop', () => {
    const all = literals(message);
    expect(all.length).toBeGreaterThan(100);
    expect(all.filter(text => !/[.}]$/.test(text))).toEqual([]);
  });

  it('a hint with a full stop, or with what can be pasted', () => {
    const all = literals(hint).map(text => text.replace(/\$\{[^{}]*\}/g, 'X'));
    expect(all.length).toBeGreaterThan(80);
    const last = (text: string) => text.split(/(?<=\.) /).at(-1) ?? '';
    expect(all.filter(text => text.endsWith('.') && paste.test(last(text)))).toEqual([]);
    expect(all.filter(text => !/[.X]$/.test(text) && !/(?:: |such as |like )\S/.test(last(text)))).toEqual(
      [],
    );
  });
});

describe('comments in src', () => {
  const isComment = /^ *(?:\/\/|\/\*|\*)/;

  it('have no line over 120 columns', () => {
    const found = filesIn('src', '.ts')
      .flatMap(file =>
        read(file)
          .split('\n')
          .map((line, index) => ({line, place: `${file}:${index + 1}`})),
      )
      .filter(({line}) => isComment.test(line) && line.length > 120);
    expect(found).toEqual([]);
  });
});
