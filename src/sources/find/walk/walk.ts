import type {Dirent} from 'node:fs';
import {opendir, realpath, stat} from 'node:fs/promises';
import {type ByteName, type FilePath, toPath} from '../../../lib/files/typed-path.ts';
import {joinNames, parentsOf, resolveName, withSlashes} from './names.ts';

/** What a walk finds; paths are relative to its root, '' for the root itself. */
export type Found =
  /**
   * Anything but a directory: regular files, links to them, broken links, FIFOs, devices. `target` is where the walk finds
   * the target of a link by itself.
   */
  | {kind: 'file'; relative: ByteName; isLink: boolean; isRegular: boolean; target?: ByteName}
  /** A hidden file or directory, which is not read. */
  | {kind: 'hidden'; relative: ByteName}
  /** A link to a directory that is not followed. */
  | {kind: 'unfollowed'; relative: ByteName}
  | {kind: 'unreadable'; relative: ByteName; error: unknown};

interface Entry {
  name: ByteName;
  kind: 'regular' | 'directory' | 'link' | 'other';
}

/** A directory that is being walked. */
interface Level {
  relative: ByteName;
  /** In reverse order, so that finished names can be freed. */
  entries: Entry[];
}

/**
 * Walks a directory depth first, with the names of each directory in byte order. A directory is read when its turn comes, and
 * only the names of the current directory and its parents are kept. Only directories are opened. Links to directories
 * are found, but not followed.
 */
export function walk(root: ByteName, cwd: string, rules: WalkRules): AsyncGenerator<Found> {
  return new Walk(resolveName(cwd, root), rules).found();
}

class Walk {
  readonly #root: ByteName;
  readonly #rules: WalkRules;
  readonly #places: Places;
  readonly #levels: Level[] = [];

  constructor(root: ByteName, rules: WalkRules) {
    this.#root = root;
    this.#rules = rules;
    this.#places = new Places(root, rules);
  }

  async *found(): AsyncGenerator<Found> {
    yield* await this.#enter('');
    for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1)) {
      const entry = level.entries.pop();
      if (entry === undefined) {
        this.#levels.pop();
        continue;
      }
      const relative = joinNames(level.relative, entry.name);
      if (!this.#isWanted(entry, relative)) continue;
      if (this.#rules.hides(relative)) yield {kind: 'hidden', relative};
      else if (entry.kind === 'directory') yield* await this.#enter(relative);
      else if (entry.kind === 'link') yield* await this.#link(relative);
      else yield {kind: 'file', relative, isLink: false, isRegular: entry.kind === 'regular'};
    }
  }

  /** Avoids reading the target of a link that is not wanted as a file or directory. */
  #isWanted({kind}: Entry, relative: ByteName): boolean {
    const {takes, enters} = this.#rules;
    return (kind !== 'directory' && takes(relative)) || (/^directory|^link/.test(kind) && enters(relative));
  }

  async #link(relative: ByteName): Promise<readonly Found[]> {
    const {takes, enters} = this.#rules;
    const path = joinNames(this.#root, relative);
    if (await isDirectory(path)) return enters(relative) ? [{kind: 'unfollowed', relative}] : [];
    if (!takes(relative)) return [];
    const target = await this.#places.ofFile(path);
    return [{kind: 'file', relative, isLink: true, isRegular: false, ...(target && {target})}];
  }

  /** Enters a directory; returns a finding if it cannot be read. */
  async #enter(relative: ByteName): Promise<readonly Found[]> {
    try {
      const entries = await readEntries(toPath(joinNames(this.#root, relative)));
      this.#levels.push({relative, entries});
      return [];
    } catch (error) {
      return [{kind: 'unreadable', relative, error}];
    }
  }
}

/** False for a broken link, which fails when it is opened. */
async function isDirectory(link: ByteName): Promise<boolean> {
  return stat(toPath(link)).then(
    stats => stats.isDirectory(),
    () => false,
  );
}

async function readEntries(path: FilePath): Promise<Entry[]> {
  // Read in batches, as buffers that become strings of one byte per character: a directory of 200,000 names takes 20 MB,
  // but 150 MB with readdir(). 'buffer' is documented for opendir(), though missing in its types.
  const directory = await opendir(path, {encoding: 'buffer' as BufferEncoding, bufferSize: 1024});
  const entries: Entry[] = [];
  for await (const entry of directory as AsyncIterable<unknown> as AsyncIterable<Dirent<Buffer>>) {
    entries.push({name: entry.name.toString('latin1'), kind: kindOf(entry)});
  }
  return entries.sort((one, other) => (one.name < other.name ? 1 : -1));
}

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

/** Finds the targets of links within a walk, so that no file is taken twice. */
export class Places {
  readonly #root: ByteName;
  readonly #rules: WalkRules;
  #realRoot: Promise<ByteName> | undefined;

  constructor(root: ByteName, rules: WalkRules) {
    this.#root = root;
    this.#rules = rules;
  }

  /** The path, relative to the root, where the walk finds the target of a link by itself, if it does. */
  async ofFile(link: ByteName): Promise<ByteName | undefined> {
    const relative = await this.#below(link);
    return relative !== undefined && relative !== '' && this.#rules.takes(relative) && this.#leadsTo(relative)
      ? relative
      : undefined;
  }

  #leadsTo(relative: ByteName): boolean {
    const {enters, hides} = this.#rules;
    return !hides(relative) && [...parentsOf(relative)].every(parent => enters(parent) && !hides(parent));
  }

  /** The target of a link, relative to the root, if it is below it. */
  async #below(link: ByteName): Promise<ByteName | undefined> {
    try {
      this.#realRoot ??= realPath(this.#root);
      const [root, target] = await Promise.all([this.#realRoot, realPath(link)]);
      if (target === root) return '';
      const prefix = root === '/' ? '/' : `${root}/`;
      return target.startsWith(prefix) ? target.slice(prefix.length) : undefined;
    } catch {
      // A broken link has no target.
      return undefined;
    }
  }
}

/** The path without links; rejects if it does not exist. */
export async function realPath(path: ByteName): Promise<ByteName> {
  return withSlashes((await realpath(toPath(path), 'buffer')).toString('latin1'));
}
