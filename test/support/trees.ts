import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {Readable} from 'node:stream';
import {afterTest} from './after-test.ts';

/** A new directory for one test, removed after it, with these files; a name that ends in `/` is a directory. */
export async function makeTree(...names: string[]): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'media-tree-'));
  afterTest(() => rm(root, {recursive: true, force: true}));
  for (const name of names) await addFile(root, name);
  return root;
}

/** Adds a file whose content is its name, and its parent directories. */
export async function addFile(root: string, name: string): Promise<void> {
  const path = join(root, name);
  await mkdir(name.endsWith('/') ? path : dirname(path), {recursive: true});
  if (!name.endsWith('/')) await writeFile(path, name);
}

/** A path in a directory whose last part is given as bytes, one per character. */
export function bytePath(root: string, latin1: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(latin1, 'latin1')]);
}

/** Runs an action without root's permissions, since root can read everything. */
export async function asOrdinaryUser<Result>(action: () => Promise<Result>): Promise<Result> {
  if (process.geteuid?.() !== 0) return action();
  process.seteuid?.(65534);
  try {
    return await action();
  } finally {
    process.seteuid?.(0);
  }
}

/** Everything that an iteration yields. */
export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** A standard input with this content. */
export function stdinOf(content: string | Uint8Array): Readable {
  return Readable.from([Buffer.from(content as string)], {objectMode: false});
}
