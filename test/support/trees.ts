import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {Readable} from 'node:stream';
import {onTestFinished} from 'vitest';

/** A directory of its own for one test, removed after it, with these files in it; a name that ends in `/` is a directory. */
export async function makeTree(...names: string[]): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'media-tree-'));
  onTestFinished(() => rm(root, {recursive: true, force: true}));
  for (const name of names) await addFile(root, name);
  return root;
}

/** Adds a file whose content is its name, and the directories that lead to it. */
export async function addFile(root: string, name: string): Promise<void> {
  const path = join(root, name);
  await mkdir(name.endsWith('/') ? path : dirname(path), {recursive: true});
  if (!name.endsWith('/')) await writeFile(path, name);
}

/** A path in a directory, its last part given by bytes, a character each. */
export function bytePath(root: string, latin1: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(latin1, 'latin1')]);
}

/** Runs an action without the rights of root, who may read everything. */
export async function asOrdinaryUser<Result>(action: () => Promise<Result>): Promise<Result> {
  if (process.geteuid?.() !== 0) return action();
  process.seteuid?.(65534);
  try {
    return await action();
  } finally {
    process.seteuid?.(0);
  }
}

/** All that an iteration yields. */
export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** A standard input that holds this. */
export function stdinOf(content: string | Uint8Array): Readable {
  return Readable.from([Buffer.from(content as string)], {objectMode: false});
}
