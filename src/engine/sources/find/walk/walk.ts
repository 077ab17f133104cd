import type {Dirent} from 'node:fs';
import type {FileSystem} from '../../../../lib/files/file-system.ts';
import {type ByteName, type FilePath, toPath} from '../../../../lib/files/typed-path.ts';
import {joinNames, parentsOf, withSlashes} from './names.ts';

/** What a walk finds; paths are relative to its root, '' for the root itself. */
export type WalkResult =
  /** A file, or a hidden entry, which is not read. `target`: where the same walk finds the target of a link. */
  | {kind: 'file' | 'hidden'; relative: ByteName; isLink: boolean; isRegular: boolean; target?: ByteName}
  /** A link to a directory that is not followed. */
  | {kind: 'unfollowed'; relative: ByteName}
  | {kind: 'unreadable'; relative: ByteName; error: unknown};

type Entry = {name: ByteName; kind: 'regular' | 'directory' | 'link' | 'other'};

/**
 * Walks the directory at an absolute path depth first, with the names of each directory in byte order. A directory is
 * read when its turn comes, and only the names of it and its parents are kept. Links to directories are not followed.
 */
export async function* walk(root: ByteName, rules: WalkRules, files: FileSystem): AsyncGenerator<WalkResult> {
  const targetOf = targetsBelow(root, rules, files);
  /** The current directory and its parents. Entries are in reverse order, so that finished names can be freed. */
  const levels: {relative: ByteName; entries: Entry[]}[] = [];
  const {takes, enters, hides} = rules;
  // Avoids reading the target of a link that is not wanted as a file or directory.
  const isWanted = ({kind}: Entry, relative: ByteName) =>
    (kind !== 'directory' && takes(relative)) || (/^directory|^link/.test(kind) && enters(relative));
  /** Begins to walk through a directory. Returns what is to be yielded: nothing, or that it cannot be read. */
  const enter = async (relative: ByteName): Promise<readonly WalkResult[]> => {
    try {
      levels.push({relative, entries: await readEntries(toPath(joinNames(root, relative)), files)});
      return [];
    } catch (error) {
      return [{kind: 'unreadable', relative, error}];
    }
  };
  /** What is to be yielded for a link: a file, or that it leads to a directory. Nothing if it is not wanted. */
  const link = async (relative: ByteName): Promise<readonly WalkResult[]> => {
    const path = joinNames(root, relative);
    // A broken link becomes a file, which fails when it is opened.
    const stats = await files.stat(toPath(path)).catch(() => undefined);
    if (stats?.isDirectory()) return enters(relative) ? [{kind: 'unfollowed', relative}] : [];
    if (!takes(relative)) return [];
    const target = await targetOf(path);
    return [{kind: 'file', relative, isLink: true, isRegular: false, ...(target && {target})}];
  };
  yield* await enter('');
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const entry = level.entries.pop();
    if (entry === undefined) {
      levels.pop();
      continue;
    }
    const relative = joinNames(level.relative, entry.name);
    if (!isWanted(entry, relative)) continue;
    if (hides(relative)) yield {kind: 'hidden', relative, isLink: false, isRegular: false};
    else if (entry.kind === 'directory') yield* await enter(relative);
    else if (entry.kind === 'link') yield* await link(relative);
    else yield {kind: 'file', relative, isLink: false, isRegular: entry.kind === 'regular'};
  }
}

/** The entries of a directory in reverse byte order, since walk() takes them from the end. */
async function readEntries(path: FilePath, files: FileSystem): Promise<Entry[]> {
  // Read in batches, as buffers that become strings of one byte per character: a directory of 200,000 names takes 20
  // MB, but 150 MB with readdir(). 'buffer' is documented for opendir(), though missing in its types.
  const directory = await files.opendir(path, {encoding: 'buffer' as BufferEncoding, bufferSize: 1024});
  const entries: Entry[] = [];
  for await (const entry of directory as AsyncIterable<unknown> as AsyncIterable<Dirent<Buffer>>)
    entries.push({name: entry.name.toString('latin1'), kind: kindOf(entry)});
  return entries.sort((one, other) => (one.name < other.name ? 1 : -1));
}

/** What an entry of a directory is, links not followed. */
function kindOf(entry: Dirent<Buffer>): Entry['kind'] {
  if (entry.isFile()) return 'regular';
  return entry.isDirectory() ? 'directory' : entry.isSymbolicLink() ? 'link' : 'other';
}

/** What a walk reads and takes; paths are relative to its root. */
export interface WalkRules {
  /** Whether a file is wanted. */
  takes(relative: ByteName): boolean;
  /** Whether a directory is read. */
  enters(relative: ByteName): boolean;
  /** Whether something that is wanted is left out as hidden. */
  hides(relative: ByteName): boolean;
}

/** Tells at which path this walk finds the target of a link, so that no file is taken twice; undefined if at none. */
function targetsBelow(root: ByteName, rules: WalkRules, files: FileSystem) {
  const {takes, enters, hides} = rules;
  let realRoot: Promise<ByteName> | undefined;
  /** Whether the walk finds a file at this path: its rules take it, enter all its parents, and hide none of them. */
  const isReached = (relative: ByteName) =>
    takes(relative) &&
    !hides(relative) &&
    [...parentsOf(relative)].every(parent => enters(parent) && !hides(parent));
  return async (link: ByteName): Promise<ByteName | undefined> => {
    try {
      realRoot ??= realPath(root, files);
      const [real, target] = await Promise.all([realRoot, realPath(link, files)]);
      const prefix = real === '/' ? '/' : `${real}/`;
      const relative = target.startsWith(prefix) ? target.slice(prefix.length) : '';
      return relative !== '' && isReached(relative) ? relative : undefined;
    } catch {
      // A broken link has no target.
      return undefined;
    }
  };
}

/** The path without links; rejects if it does not exist. */
export async function realPath(path: ByteName, files: FileSystem): Promise<ByteName> {
  return withSlashes((await files.realpath(toPath(path), 'buffer')).toString('latin1'));
}
