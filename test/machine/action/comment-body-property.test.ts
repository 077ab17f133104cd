import fc from 'fast-check';
import {micromark} from 'micromark';
import {gfm, gfmHtml} from 'micromark-extension-gfm';
import {type DefaultTreeAdapterTypes, parseFragment} from 'parse5';
import {describe, expect, it} from 'vitest';
import {printable} from '../../../src/lib/printable.ts';
import {commentBody, commentMarker} from '../../../tools/action/comment-body.ts';
import {logLine, type UploadedFile, uploadedFile} from '../../../tools/action/uploaded-file.ts';
import {anyText, holdsFor} from '../../support/property.ts';

type Node = DefaultTreeAdapterTypes.ChildNode;

const facts = {
  marker: commentMarker('CI/upload'),
  runUrl: 'https://github.com/octocat/media/actions/runs/1',
  hasFailures: false,
  hasManifest: false,
};

const photo: UploadedFile = {
  file: 'docs/photo.png',
  url: 'https://cdn.example/m_1?a=1&copy;=2',
  thumbnailUrl: 'https://cdn.example/t_1',
  size: 12_345,
  status: 'uploaded',
};

/** The text of a node, and all elements in it by name with their attributes. */
function inside(node: Node): {text: string; elements: string[]} {
  if (node.nodeName === '#text')
    return {text: (node as DefaultTreeAdapterTypes.TextNode).value, elements: []};
  const children = 'childNodes' in node ? node.childNodes.map(inside) : [];
  const attributes = 'attrs' in node ? node.attrs.map(({name, value}) => ` ${name}=${value}`) : [];
  return {
    text: children.map(({text}) => text).join(''),
    elements: [`${node.nodeName}${attributes.join('')}`, ...children.flatMap(({elements}) => elements)],
  };
}

/** The cells of the table as GitHub would show them, row by row. */
function cellsOf(body: string) {
  const html = micromark(body, {allowDangerousHtml: true, extensions: [gfm()], htmlExtensions: [gfmHtml()]});
  const find = (node: Node, name: string): Node[] =>
    node.nodeName === name
      ? [node]
      : 'childNodes' in node
        ? node.childNodes.flatMap(child => find(child, name))
        : [];
  const fragment = parseFragment(html);
  const [tables, rows] = ['table', 'tr'].map(name => fragment.childNodes.flatMap(node => find(node, name)));
  return {
    html,
    tables: tables?.length,
    rows: (rows ?? []).slice(1).map(row => find(row, 'td').map(cell => inside(cell))),
  };
}

/** Without white space that HTML does not show, and with the brackets that only this parser encodes. */
function standard({text, elements}: ReturnType<typeof inside>) {
  return {
    text: text.trim().replace(/ +/g, ' '),
    elements: elements.map(element => element.replaceAll('%5B', '[').replaceAll('%5D', ']')),
  };
}

/** What a row of this file has to be. */
function rowOf({file, url, thumbnailUrl}: UploadedFile, shownSize: string) {
  const picture = thumbnailUrl === undefined ? [] : [`img src=${thumbnailUrl} height=64 alt=`];
  const link = url === undefined || thumbnailUrl === undefined ? [] : [`a href=${url}`];
  return [
    {text: '', elements: ['td', ...link, ...picture]},
    {text: printable(file), elements: ['td', 'code']},
    {text: url ?? '', elements: ['td', ...(url === undefined ? [] : [`a href=${url}`])]},
    {text: shownSize, elements: [`td align=right`]},
  ];
}

describe('the comment', () => {
  it('two files: the marker first, what was uploaded, and a table with pictures and links', () => {
    const other = {
      ...photo,
      ...{file: 'b.mp4', status: 'skipped' as const, thumbnailUrl: undefined, size: undefined},
    };
    const body = commentBody([photo, other], facts);
    expect(body.split('\n').slice(0, 4)).toEqual([
      facts.marker,
      '### Uploaded media',
      '',
      '1 uploaded, 1 already uploaded. See [the run](https://github.com/octocat/media/actions/runs/1).',
    ]);
    const {rows, tables} = cellsOf(body);
    expect({rows, tables}).toEqual({rows: [rowOf(photo, '12.1 KiB'), rowOf(other, '')], tables: 1});
  });

  it('a manifest: what it knows is counted, and not in the table; a dry run: what it would upload', () => {
    const known = {...photo, status: 'skipped' as const};
    const body = commentBody([known, photo, known], {...facts, hasManifest: true});
    expect(body).toContain('\n1 uploaded, 2 already uploaded. See ');
    expect(cellsOf(body).rows).toHaveLength(1);
    const checked = {...photo, status: 'checked' as const};
    expect(commentBody([checked, checked, known], {...facts, hasManifest: true})).toContain(
      '\n2 to upload, 1 already uploaded. See ',
    );
  });

  it('some failed, and the page of the run is not known: it says so', () => {
    expect(commentBody([photo], {...facts, runUrl: undefined, hasFailures: true})).toContain(
      '\n1 uploaded. Some files could not be uploaded. See the run.\n',
    );
  });

  it.each([
    'a|b.png',
    'two\nlines | x |\n| --- |',
    '`code`.png',
    '<script>alert(1)</script>.png',
    '<!-- .png',
    '--> @octocat #1 octocat/media#1 GH-1 :tada: 0123456789abcdef0123456789abcdef01234567',
    '![x](https://tracker.example/p.png)',
    'www.attacker.example/a.png',
    'https://attacker.example a@b.example',
    '&lt;b&gt; &#64;octocat $x$ $$y$$ ~~z~~ **w** _v_',
    '\\|\\`\\<b>.png',
    '::error::x ##[error]x',
    '\u001b[31m\u202egnp.exe\r',
    ' space .png ',
    '写真 \u{1f600}.png',
  ])('the name %j: one cell of a single row, as code, and nothing else', file => {
    const body = commentBody([photo, {...photo, file}, photo], facts);
    const {rows, tables} = cellsOf(body);
    expect(tables).toBe(1);
    expect(rows[1]).toEqual(rowOf({...photo, file}, '12.1 KiB'));
    expect(rows).toHaveLength(3);
    expect(body).not.toMatch(/@|^(?!\|).*(::|##\[)/m);
  });

  const anyUrl = fc.oneof(
    fc
      .string({unit: fc.constantFrom(...'ab|`"\'<>()[]*_~ &;#:@\\\n')})
      .map(text => `https://c.example/${text}`),
    fc.webUrl({withQueryParameters: true, withFragments: true}),
    fc.constantFrom('javascript:alert(1)', 'data:text/html,x', '', '/x', 'https://c.example/?a&copy;&lt=1'),
  );
  holdsFor(
    'any line of media: the table has a row for it, whose text and attributes are those of the record',
    [anyText, anyUrl, anyUrl],
    (file, url, thumbnailUrl) => {
      const line = JSON.stringify({file, status: 'uploaded', size: 1, url, thumbnailUrl});
      const read = uploadedFile(line);
      if (read === undefined) throw new Error(line);
      const {rows, tables} = cellsOf(commentBody([read, photo], facts));
      expect(tables).toBe(1);
      const [row, last, ...more] = rows;
      expect(more).toEqual([]);
      expect(last).toEqual(rowOf(photo, '12.1 KiB'));
      expect((row ?? []).map(standard)).toEqual(rowOf(read, '1 B').map(standard));
      for (const element of (row ?? []).flatMap(({elements}) => elements))
        expect(element).toMatch(/^(td|code|a href=https?:|img src=https?:)/);
    },
    50,
  );

  it.each([
    ['5,000 files', 5000, 'x'.repeat(40)],
    ['300 files with long names of 3 bytes a character', 300, '写'.repeat(250)],
  ])('%s: as many as GitHub takes, and how many are missing', (_, count, name) => {
    const files = Array.from({length: count}, (__, index) => ({...photo, file: `${index}${name}`}));
    const body = commentBody(files, facts);
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(65_536);
    expect(Buffer.byteLength(body)).toBeGreaterThan(60_000);
    const {rows} = cellsOf(body);
    expect(body).toMatch(
      new RegExp(`\\n\\n${rows.length} of ${count} files are shown here: a comment has no room for more\\.$`),
    );
  });

  it('a file whose URL alone is longer than a comment: not shown', () => {
    const url = `https://c.example/${'x'.repeat(70_000)}`;
    expect(commentBody([{...photo, url}], facts)).toMatch(/\n0 of 1 files are shown here/);
  });
});

describe('what counts as uploaded', () => {
  it.each([
    ['not JSON', 'Uploading...'],
    ['a file that failed', '{"file":"a.png","status":"failed","size":1}'],
    ['no name', '{"status":"uploaded"}'],
  ])('%s: nothing', (_, line) => {
    expect(uploadedFile(line)).toBeUndefined();
  });

  it('a record with URLs that are no web URLs: a file without', () => {
    const line =
      '{"file":"a.png","status":"skipped","size":null,"url":"javascript:x","thumbnailUrl":{"a":1}}';
    const nothing = {url: undefined, thumbnailUrl: undefined, size: undefined};
    expect(uploadedFile(line)).toEqual({file: 'a.png', status: 'skipped', ...nothing});
  });

  it('a line of --ndjson: the thumbnail of its record; the log has a line unless it was uploaded before', () => {
    const line =
      '{"file":"a\\nb.png","status":"uploaded","url":"https://a.example/1","record":{"thumbnailUrl":"https://a.example/2"}}';
    const file = uploadedFile(line);
    expect(file).toMatchObject({url: 'https://a.example/1', thumbnailUrl: 'https://a.example/2'});
    expect(file && logLine(file)).toBe('uploaded  a\\nb.png  https://a.example/1');
    expect(file && logLine({...file, status: 'skipped'})).toBeUndefined();
  });
});
