import {copyFile, mkdir, readdir, readFile, symlink, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {systemHost} from '../../src/host.ts';
import {findDocuments} from '../../src/rewrite/documents.ts';
import {planRewrite} from '../../src/rewrite/plan.ts';
import {rewriteDocument, writeInPlace} from '../../src/rewrite/write-plan.ts';
import {fixture, temporaryDirectory} from '../support/media.ts';
import {usualScan} from './rewritten.ts';

/** A directory with these documents, and copies of the fixtures that the others name. */
async function directoryWith(files: Readonly<Record<string, string>>): Promise<string> {
  const directory = await temporaryDirectory();
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), {recursive: true});
    if (/\.(md|html)$/.test(name)) await writeFile(join(directory, name), content);
    else await copyFile(fixture(content), join(directory, name));
  }
  return directory;
}

async function planOf(directory: string, input: string, root?: string) {
  return planRewrite(findDocuments([input], directory), {
    cwd: directory,
    places: {root: root === undefined ? undefined : join(directory, root), publicDirectories: []},
    scan: usualScan,
    comparesContent: true,
  });
}

describe('planRewrite', () => {
  it('--root docs: nothing of docs-secret or docs.png, and what is in docs', async () => {
    const directory = await directoryWith({
      'docs/a.md': '![a](../docs-secret/x.png) ![b](../docs.png) ![c](x.png) ![d](/x.png)',
      'docs-secret/x.png': 'photo.png',
      'docs.png': 'photo.png',
      'docs/x.png': 'photo.png',
    });
    const {documents, files} = await planOf(directory, 'docs/a.md', 'docs');
    expect(files).toEqual(['docs/x.png']);
    expect(documents[0]?.references.map(({file, problem}) => file ?? problem?.code)).toEqual([
      'outside_root',
      'outside_root',
      'docs/x.png',
      'docs/x.png',
    ]);
  });

  it('/img/x.png that lies below another directory: missing, with the --static that finds it', async () => {
    const directory = await directoryWith({
      'site/docs/a.md': '![a](/img/x.png) ![b](/img/gone.png) ![c](img/x.png)',
      'site/my static/img/x.png': 'photo.png',
    });
    const {documents} = await planOf(directory, 'site/docs/a.md', 'site');
    expect(documents[0]?.references.map(({problem}) => [problem?.code, problem?.hint])).toEqual([
      ['file_missing', "Add this option to find it: --static 'site/my static'"],
      ['file_missing', undefined],
      ['file_missing', undefined],
    ]);
  });

  it('in an Obsidian vault: by name, in upper or lower case, the shortest path; two of one length are both named', async () => {
    const directory = await directoryWith({
      'vault/.obsidian/app.md': '',
      'vault/notes/a.md':
        '![](pic.png) ![[Pic.PNG]] ![](Near/deep%20er/x.gif#center) ![](two.png) ![[two.png]] ![[one/two.png]] ![](../gone.png)',
      'vault/files/Pic.png': 'photo.png',
      'vault/files/old/pic.png': 'photo.png',
      'vault/b/near/deep er/X.gif': 'photo.gif',
      'vault/one/two.png': 'photo.png',
      'vault/two/two.png': 'photo.png',
      'outside/gone.png': 'photo.png',
    });
    const {documents} = await planOf(directory, 'vault/notes/a.md');
    const both = 'two.png may be vault/one/two.png or vault/two/two.png.';
    expect(documents[0]?.references.map(({file, problem}) => file ?? problem?.message)).toEqual([
      'vault/files/Pic.png',
      'vault/files/Pic.png',
      'vault/b/near/deep er/X.gif',
      both,
      both,
      'vault/one/two.png',
      '../gone.png does not exist.',
    ]);
  });

  it('an Obsidian vault in a git work tree: from its top first, never by ![[ ]] outside of it; comments are none', async () => {
    const directory = await directoryWith({
      '.git/a.md': '',
      'logo.png': 'photo.png',
      'vault/.obsidian/app.md': '',
      'vault/notes/a.md':
        '![[logo.png]] ![](logo.png) ![[../../logo.png]] ![](../../logo.png) ![](/assets/logo.png) ![[/assets/logo.png]]\n' +
        '![[pic.png]] ![[PIC.png]] ![](pic.png) ![[./pic.png]] %% ![[gone.png]] %% `%%` ![](pic.png) `%%` ![](pic.png)\n\n' +
        '%%\n![[gone.png]]\n\n![](gone.png)\n%%\n\n![](pic.png)\n\n    %%\n\n100 %% ![[pic.png]]\n',
      'vault/assets/logo.png': 'photo.png',
      'vault/pic.png': 'photo.png',
      'vault/notes/pic.png': 'photo.png',
    });
    const {documents} = await planOf(directory, 'vault/notes/a.md');
    const [logo, top] = ['vault/assets/logo.png', 'vault/pic.png'];
    expect(documents[0]?.references.map(({file, problem}) => file ?? problem?.message)).toEqual([
      ...[logo, logo, '../../logo.png does not exist.', 'logo.png', logo, logo],
      ...[top, top, top, 'vault/notes/pic.png', top, top, top, top],
    ]);
  });

  it('a file that only its name finds, outside of a vault: missing in a link, found in ![[ ]]', async () => {
    const directory = await directoryWith({
      'docs/a.md': '![](x.png) ![[X.png]]',
      'docs/b/x.png': 'photo.png',
    });
    const {documents} = await planOf(directory, 'docs/a.md', 'docs');
    expect(documents[0]?.references.map(({file, problem}) => file ?? problem?.code)).toEqual([
      'file_missing',
      'docs/b/x.png',
    ]);
  });

  it('![[ ]] outside of a vault, in a directory that a link leads to: beside the document first', async () => {
    const directory = await directoryWith({
      'docs/c/a.md': '![[x.png]] ![[./x.png]] ![[b/x.png]]',
      'docs/c/x.png': 'photo.png',
      'docs/x.png': 'photo.png',
      'docs/b/x.png': 'photo.png',
    });
    await symlink(directory, join(directory, 'link'));
    const {documents} = await planOf(join(directory, 'link'), 'docs/c/a.md', 'docs');
    const found = documents[0]?.references.map(({file = ''}) => file.slice(-12));
    expect(found).toEqual(['docs/c/x.png', 'docs/c/x.png', 'docs/b/x.png']);
  });

  it('four files, three of them equal: one of these is uploaded, and its URL stands for all three', async () => {
    const directory = await directoryWith({
      'a.md': '![a](1.png) ![b](2.png) ![c](3.png) ![d](other.gif)',
      '1.png': 'photo.png',
      '2.png': 'photo.png',
      '3.png': 'photo.png',
      'other.gif': 'photo.gif',
    });
    const {files, sameAs, documents} = await planOf(directory, 'a.md');
    expect(files).toEqual(['1.png', 'other.gif']);
    const [plan] = documents;
    if (plan === undefined) throw new Error('there is no plan');
    const urls = new Map(files.map(file => [file, `https://u.example/${file}`]));
    const {after, count} = await rewriteDocument(plan, file => urls.get(sameAs.get(file) ?? file));
    expect(after.toString()).toBe(
      '![a](https://u.example/1.png) ![b](https://u.example/1.png) ![c](https://u.example/1.png) ![d](https://u.example/other.gif)',
    );
    expect(count).toBe(4);
  });
});

describe('a document that an editor saves', () => {
  const before = '![a](x.png)\n';

  async function planned() {
    const directory = await directoryWith({'a.md': before, 'x.png': 'photo.png'});
    const [plan] = (await planOf(directory, 'a.md')).documents;
    if (plan === undefined) throw new Error('there is no plan');
    return {plan, directory, path: join(directory, 'a.md')};
  }
  const changed = {code: 'document_changed', message: expect.stringContaining('a.md changed')};

  it.each([
    ['with more text', `${before}More.\n`],
    ['with as many bytes', before.replace('a', 'b')],
    ['empty', ''],
  ])('during the upload, %s: not overwritten', async (_, saved) => {
    const {plan, path} = await planned();
    await writeFile(path, saved);
    await expect(rewriteDocument(plan, () => 'https://u.example/x')).rejects.toMatchObject(changed);
    expect(await readFile(path, 'utf8')).toBe(saved);
  });

  it.each([
    ['with more text', `${before}More.\n`],
    ['with as many bytes', before.replace('a', 'b')],
    ['empty', ''],
  ])('between reading and writing, %s: not overwritten, nothing is left beside it', async (_, saved) => {
    const {plan, path, directory} = await planned();
    const rewritten = await rewriteDocument(plan, () => 'https://u.example/x');
    await writeFile(path, saved);
    await expect(writeInPlace(plan, rewritten, systemHost())).rejects.toMatchObject(changed);
    expect(await readFile(path, 'utf8')).toBe(saved);
    expect(await readdir(directory)).toEqual(['a.md', 'x.png']);
  });
});
