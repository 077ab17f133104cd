import {copyFile, mkdir, readdir, readFile, rm, symlink, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {findDocuments} from '../../src/documents/documents.ts';
import {planRewrite, withoutProblems} from '../../src/documents/plan.ts';
import {rewriteDocument, writeInPlace} from '../../src/documents/write-plan.ts';
import {systemHost} from '../../src/host.ts';
import {hintOf} from '../support/hints.ts';
import {fixture, temporaryDirectory} from '../support/media.ts';
import {canListOpenFiles, openFiles} from '../support/open-files.ts';
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

async function planOf(directory: string, input: string, root?: string, ...publicDirectories: string[]) {
  return planRewrite(findDocuments([input], directory), {
    cwd: directory,
    places: {
      root: root === undefined ? undefined : join(directory, root),
      publicDirectories: publicDirectories.map(one => join(directory, one)),
    },
    scan: usualScan,
    comparesContent: true,
  });
}

describe('planRewrite', () => {
  it('a directory that is removed while its documents are found: each fails, and the others are read', async () => {
    const directory = await directoryWith({'docs/a.md': 'a', 'docs/b.md': 'b', 'c.md': 'c'});
    async function* documents() {
      for await (const document of findDocuments(['docs', 'c.md'], directory)) {
        yield document;
        await rm(join(directory, 'docs'), {recursive: true, force: true});
      }
    }
    const places = {root: undefined, publicDirectories: []};
    const options = {cwd: directory, places, scan: usualScan, comparesContent: true};
    const plan = await planRewrite(documents(), options);
    expect(plan.failed.map(({name, error}) => [name, error.code])).toEqual([
      ['docs/b.md', 'file_unreadable'],
    ]);
    expect(plan.documents.map(({name}) => name)).toEqual(['docs/a.md', 'c.md']);
  });

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

  it('a document above the directory that it is named from: not of the project in that directory', async () => {
    const directory = await directoryWith({
      'a.md': '!!! note\n\n    ![a](x.png)\n\n![b](x.png)',
      'x.png': 'photo.png',
    });
    await mkdir(join(directory, 'site/.git'), {recursive: true});
    await writeFile(join(directory, 'site/mkdocs.yml'), '');
    const {documents} = await planOf(join(directory, 'site'), '../a.md');
    expect(documents[0]).toMatchObject({
      projectFiles: [],
      references: [{line: 5, file: join(directory, 'x.png')}],
    });
  });

  it('--static, a link that leads out of the root: looked in first, and its files may be read', async () => {
    const directory = await directoryWith({
      'docs/a.md': '![](/x.png) ![](/y.png) ![](../files/x.png) ![](../photo.png) <embed src="/x.png?v=1#a">',
      'docs/x.png': 'photo.png',
      'docs/y.png': 'photo.png',
      'files/x.png': 'photo.png',
      'photo.png': 'photo.png',
    });
    await symlink('files', join(directory, 'static'));
    const {documents} = await planOf(directory, 'docs/a.md', 'docs', 'static');
    expect(documents[0]?.references.map(({file, problem}) => file ?? problem?.code)).toEqual([
      'files/x.png',
      'docs/y.png',
      'files/x.png',
      'outside_root',
      'files/x.png',
    ]);
  });

  it('one name in two directories, and a name with a percent sign beside the decoded one: each its own file', async () => {
    const directory = await directoryWith({
      'docs/a/a.md': '![](x.png) ![](y%20z.png)',
      'docs/a/x.png': 'photo.png',
      'docs/a/y z.png': 'photo.png',
      'docs/a/y%20z.png': 'photo.png',
      'docs/b/b.md': '![](x.png) ![](y%20z.png)',
      'docs/b/x.png': 'photo.png',
      'docs/b/y%20z.png': 'photo.png',
    });
    const {documents} = await planOf(directory, 'docs', 'docs');
    expect(documents.map(({references}) => references.map(({file}) => file))).toEqual([
      ['docs/a/x.png', 'docs/a/y z.png'],
      ['docs/b/x.png', 'docs/b/y%20z.png'],
    ]);
  });

  it('a directory of documents: not those of packages, nor what links to a directory or to nothing', async () => {
    const directory = await directoryWith({
      'docs/a.md': 'Text.',
      'docs/node_modules/b.md': 'Text.',
      'docs/.c.md': 'Text.',
      'd.md': 'Text.',
    });
    for (const [name, target] of [
      ['e.md', '../d.md'],
      ['f.md', 'node_modules'],
      ['g.md', 'gone'],
    ] as const)
      await symlink(target, join(directory, 'docs', name));
    const {documents, failed} = await planOf(directory, 'docs');
    expect([documents.map(({name}) => name), failed]).toEqual([['docs/a.md', 'docs/e.md'], []]);
  });

  it('a directory that cannot be read, as if its name is not UTF-8: it fails, the documents beside it do not', async () => {
    const directory = await directoryWith({'docs/a.md': 'Text.'});
    await mkdir(Buffer.concat([Buffer.from(join(directory, 'docs/n')), Buffer.from([0xe9])]));
    const {documents, failed} = await planOf(directory, 'docs');
    expect(documents.map(({name}) => name)).toEqual(['docs/a.md']);
    expect(failed).toMatchObject([{name: 'docs/n\ufffd', error: {code: 'file_unreadable'}}]);
  });

  it('a link to a directory whose name is not UTF-8: what is in it is missing, other documents are read', async () => {
    const directory = await directoryWith({
      'a.md': '![a](link/x.png)',
      'b.md': '![b](x.png)',
      'x.png': 'photo.png',
    });
    const target = Buffer.concat([Buffer.from(join(directory, 'n')), Buffer.from([0xe9])]);
    await mkdir(target);
    await writeFile(Buffer.concat([target, Buffer.from('/x.png')]), await readFile(fixture('photo.png')));
    await symlink(target, join(directory, 'link'));
    const plans = (await Promise.all(['a.md', 'b.md'].map(name => planOf(directory, name)))).flatMap(
      ({documents}) => documents,
    );
    expect(plans.map(({references: [found]}) => found?.file ?? found?.problem?.code)).toEqual([
      'file_missing',
      'x.png',
    ]);
  });

  it.skipIf(!canListOpenFiles)('documents and files that were read or written: none stays open', async () => {
    const directory = await directoryWith({
      'a.md': '![a](1.png) ![b](2.png) ![c](gone.png)',
      '1.png': 'photo.png',
      '2.png': 'photo.png',
    });
    const {files, documents} = await planOf(directory, 'a.md');
    expect(files).toEqual(['1.png']);
    for (const plan of documents) {
      const rewritten = await rewriteDocument(plan, () => 'https://u.example/x');
      await writeInPlace(plan, rewritten, systemHost());
    }
    expect(await openFiles(directory)).toEqual([]);
  });

  it('/img/x.png that lies below another directory: missing, with the --static that finds it', async () => {
    const directory = await directoryWith({
      'site/docs/a.md': '![a](/img/x.png) ![b](/img/gone.png) ![c](img/x.png)',
      'site/my static/img/x.png': 'photo.png',
    });
    const {documents} = await planOf(directory, 'site/docs/a.md', 'site');
    expect(documents[0]?.references.map(({problem}) => [problem?.code, hintOf(problem)])).toEqual([
      ['file_missing', "Add this option to find it: --static 'site/my static'"],
      ['file_missing', undefined],
      ['file_missing', undefined],
    ]);
  });

  it('/img/x.png, and more than 2,000 directories: those nearest to the root are searched for that --static', async () => {
    const directory = await directoryWith({
      'a.md': '![a](/x.png) ![b](/deep/y.png)',
      'static/x.png': 'photo.png',
      'site/static/deep/y.png': 'photo.png',
    });
    await mkdir(join(directory, 'many'));
    for (let number = 0; number < 2_000; number += 1) await mkdir(join(directory, `many/${number}`));
    const {documents} = await planOf(directory, 'a.md');
    expect(documents[0]?.references.map(({problem}) => hintOf(problem))).toEqual([
      'Add this option to find it: --static static',
      undefined,
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
      // Where no file is looked for.
      'docs/node_modules/x.png': 'photo.png',
      'docs/.b/x.png': 'photo.png',
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

  it('two files of one length: both are uploaded', async () => {
    const directory = await directoryWith({'a.md': '![a](1.png) ![b](2.png)', '1.png': 'photo.png'});
    const bytes = await readFile(fixture('photo.png'));
    bytes[bytes.length - 1] = 0;
    await writeFile(join(directory, '2.png'), bytes);
    const {files, sameAs} = await planOf(directory, 'a.md');
    expect([files, sameAs.size]).toEqual([['1.png', '2.png'], 0]);
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

describe('withoutProblems', () => {
  it('a file that is uploaded in the name of one that only another document names: stays', async () => {
    const directory = await directoryWith({
      'a.md': '![a](1.png) ![b](gone.png) ![c](other.gif)',
      'b.md': '![a](2.png)',
      '1.png': 'photo.png',
      '2.png': 'photo.png',
      'other.gif': 'photo.gif',
    });
    const whole = await planOf(directory, '.');
    expect(whole.files).toEqual(['1.png', 'other.gif']);
    const {documents, files} = withoutProblems(whole);
    expect([documents.map(({name}) => name), files]).toEqual([['b.md'], ['1.png']]);
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

  it('while what replaces it is written: not overwritten', async () => {
    const {plan, path, directory} = await planned();
    const rewritten = await rewriteDocument(plan, () => 'https://u.example/x');
    const host = systemHost();
    const open: typeof host.files.open = async (...parameters) => {
      const file = await host.files.open(...parameters);
      await writeFile(path, 'Saved.\n');
      return file;
    };
    const slow = {...host, files: {...host.files, open}};
    await expect(writeInPlace(plan, rewritten, slow)).rejects.toMatchObject(changed);
    expect(await readFile(path, 'utf8')).toBe('Saved.\n');
    expect(await readdir(directory)).toEqual(['a.md', 'x.png']);
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
