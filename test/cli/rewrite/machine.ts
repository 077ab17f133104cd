import {copyFile, mkdir, readFile, stat, writeFile} from 'node:fs/promises';
import {extname, join} from 'node:path';
import {expect} from 'vitest';
import {type DocumentTree, documentAfter, writeTree} from '../../support/document-trees.ts';
import {connectedSandbox} from '../../support/embedded.ts';
import {fixture} from '../../support/media.ts';

const types: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  mp4: 'video/mp4',
};

/** A machine with these documents and a photo and a video beside them. */
export async function machine(documents: Readonly<Record<string, string | Uint8Array>> = {}) {
  const connected = await connectedSandbox();
  const {sandbox, service} = connected;
  sandbox.env['GITHUB_ACTIONS'] = 'true';
  await mkdir(join(sandbox.directory, 'work'));
  const at = (name: string) => join(sandbox.directory, 'work', name);
  for (const name of ['photo.png', 'clip.mp4', 'page-named.png']) await copyFile(fixture(name), at(name));
  for (const [name, text] of Object.entries(documents)) await writeFile(at(name), text);
  const rewrite = (...parameters: string[]) => sandbox.run(['rewrite', ...parameters], {cwd: at('.')});
  const urls = async () => {
    const records = await service.records();
    return (name: string) =>
      records.find(({contentType}) => contentType === types[extname(name).slice(1)])?.record
        .fileUrl as string;
  };
  const text = (name: string) => readFile(at(name), 'utf8');
  return {...connected, at, rewrite, urls, text, stored: async () => (await service.records()).length};
}

/** Expects that every reference in such a tree is replaced, and that a second run has nothing to do. */
export async function expectRewritten(tree: DocumentTree): Promise<void> {
  const {at, rewrite, urls, stored} = await machine();
  const directory = at('site');
  await writeTree(directory, tree);
  const parameters = tree.parameters.map(word =>
    word.startsWith('-') || word === 'image' ? word : join(directory, word),
  );
  const run = await rewrite('--write', ...parameters);
  expect(run.stderr).not.toMatch(/^media:/m);
  expect(run.exitCode).toBe(0);
  const urlOf = await urls();
  const documents = Object.entries(tree.documents);
  for (const [path, text] of documents)
    expect(await readFile(join(directory, path), 'utf8')).toBe(documentAfter(text, urlOf));
  const count = await stored();
  const times = () =>
    Promise.all(documents.map(async ([path]) => (await stat(join(directory, path), {bigint: true})).ctimeNs));
  const before = await times();
  expect(await rewrite('--write', ...parameters)).toMatchObject({stdout: '', exitCode: 0});
  expect(await times()).toEqual(before);
  expect(await stored()).toBe(count);
}
