import {existsSync} from 'node:fs';
import {readdir, realpath} from 'node:fs/promises';
import {basename, dirname, join, normalize, resolve, sep} from 'node:path';
import {MediaError} from '../errors.ts';
import {inodeOf, systemFiles} from '../lib/files/file-system.ts';
import {isBelow} from '../lib/files/typed-path.ts';
import {memoize} from '../lib/object.ts';
import {decodePercent} from '../lib/url.ts';
import {withoutQuery} from './scan/reference.ts';

/** Where the files of documents may be. */
export interface RewritePlaces {
  /** The root: nothing outside it is read. By default a document's git work tree, vault, project or directory. */
  root: string | undefined;
  /** Directories that `/photo.png` is looked for in before the root; their files may be read, too. */
  publicDirectories: readonly string[];
}

/** Files that tell which program a project is for, which reads Markdown or finds files in its own way. */
const projectFiles = ['.obsidian', 'mkdocs.yml', 'mkdocs.yaml'] as const;

export type ProjectFile = (typeof projectFiles)[number];

type LocateResult = {path: string} | {candidates: string[]} | 'outside' | undefined;

/** Finds the files that references name. */
export class Locator {
  readonly locate = memoize(this.#locate.bind(this));
  readonly #places: RewritePlaces;
  readonly #publicPaths = memoize(() => Promise.all(this.#places.publicDirectories.map(realDirectory)));
  /** The real path of the root of documents in a directory. */
  readonly #rootOf = memoize((directory: string) => {
    const project = ['.git', ...projectFiles].map(name => ancestorWith(name, directory)).find(Boolean);
    return realDirectory(this.#places.root ?? project ?? directory);
  });
  readonly #namesBelow = memoize(namesBelow);
  /** Which of these files are in a directory, or above it. */
  readonly projectFilesOf = memoize((directory: string): readonly ProjectFile[] =>
    projectFiles.filter(name => ancestorWith(name, directory) !== undefined),
  );

  constructor(places: RewritePlaces) {
    this.#places = places;
  }

  /** The directory below the root that would be the right `--static` for a missing `/photo.png`, if there is one. */
  async staticDirectoryFor(target: string, directory: string): Promise<string | undefined> {
    const suffixes = spellingsOf(target).filter(spelling => spelling.startsWith('/'));
    if (suffixes.length === 0) return undefined;
    // More directories would take too long for a hint.
    const filesByName = await this.#namesBelow(await this.#rootOf(directory), 2_000);
    for (const suffix of suffixes.map(normalize)) {
      const path = filesByName(basename(suffix).toLowerCase()).find(each => each.endsWith(suffix));
      if (path !== undefined) return path.slice(0, -suffix.length);
    }
    return undefined;
  }

  /**
   * The real path of the file that a document in this directory refers to; `outside` if it is not below the root,
   * candidates if an Obsidian vault has several files of the name equally near to its top, and undefined if there is
   * none. `isWiki`: whether the reference is Obsidian's `![[target]]`, which may name a file in any directory.
   */
  async #locate(target: string, isWiki: boolean, directory: string): Promise<LocateResult> {
    const root = await this.#rootOf(directory);
    const vault = ancestorWith('.obsidian', directory);
    const spellings = isWiki ? [target] : spellingsOf(target);
    const paths = spellings.flatMap(spelling => [
      // Obsidian looks from the top of the vault first.
      ...(vault === undefined || spelling.startsWith('.') ? [] : [join(vault, spelling)]),
      ...this.#pathsOf(spelling, directory, root),
      ...(vault === undefined && isWiki ? [join(root, spelling)] : []),
    ]);
    // Obsidian embeds files of its vault only.
    const canEmbed = (path: string) => !isWiki || vault === undefined || isBelow(path, vault);
    const exact = await this.#firstOf(paths.filter(canEmbed), root);
    if (typeof exact === 'object') return exact;
    // Without a file at that very place, Obsidian takes one whose path ends in the target.
    const top = vault ?? (isWiki ? root : undefined);
    const nearest = top === undefined ? [] : await this.#nearestFiles(spellings, top);
    if (nearest.length > 1) return {candidates: nearest};
    return (await this.#firstOf(nearest, root)) ?? exact;
  }

  /** The first file below the root or a public directory, by its real path; `outside` if only others exist. */
  async #firstOf(paths: readonly string[], root: string): Promise<LocateResult> {
    const directories = [root, ...(await this.#publicPaths())];
    let isOutside = false;
    for (const path of paths) {
      const real = await realpath(path).catch(() => undefined);
      // A real path that is not UTF-8 leads nowhere.
      if (real === undefined || (await inodeOf(real, 'file', systemFiles)) === undefined) continue;
      if (directories.some(directory => isBelow(real, directory))) return {path: real};
      isOutside = true;
    }
    return isOutside ? 'outside' : undefined;
  }

  /** The files whose path ends in one of these spellings, in any case: those nearest to the top of the vault. */
  async #nearestFiles(spellings: readonly string[], vault: string): Promise<string[]> {
    const namesakes = await this.#namesBelow(vault, Number.POSITIVE_INFINITY);
    for (const spelling of spellings) {
      const suffix = `${sep}${normalize(spelling)}`.toLowerCase();
      const matches = namesakes(basename(suffix)).filter(path => path.toLowerCase().endsWith(suffix));
      // They are in the order of their depth.
      const nearest = matches.filter(path => path.split(sep).length === matches[0]?.split(sep).length);
      if (nearest.length > 0) return nearest;
    }
    return [];
  }

  /** Where a path may lead: from the document or, after `/` or `@site/`, from each public directory and the root. */
  #pathsOf(spelling: string, directory: string, root: string): string[] {
    // Docusaurus writes @site/ for the directory of the site.
    const fromRoot = spelling.startsWith('@site/') ? spelling.slice(5) : spelling;
    if (!fromRoot.startsWith('/')) return [resolve(directory, fromRoot)];
    return [...this.#places.publicDirectories, root].map(top => join(top, fromRoot));
  }
}

/** Rejects with `file_missing` for a missing directory, which fails each document that needs it. */
async function realDirectory(path: string): Promise<string> {
  return realpath(path).catch(cause => {
    throw new MediaError('file_missing', `The directory ${path} does not exist.`, {cause});
  });
}

/** The paths that a URL without scheme and host may mean: decoded, as written, and with backslashes as separators. */
export function spellingsOf(target: string): string[] {
  const path = withoutQuery(target);
  const plain = [decodePercent(path), path].filter(each => each !== '');
  return [...new Set([...plain, ...plain.map(each => each.replaceAll('\\', '/'))])];
}

/** The nearest directory, from this one upwards, that has an entry of this name. `sub/..` is not below `sub`. */
function ancestorWith(name: string, directory: string): string | undefined {
  for (let at = normalize(directory); ; at = dirname(at)) {
    if (existsSync(join(at, name))) return at;
    if (dirname(at) === at) return undefined;
  }
}

/** Returns a function from lower-case names to files, those nearest to `root` first; reads up to `most` directories. */
async function namesBelow(root: string, most: number): Promise<(name: string) => readonly string[]> {
  // An empty list for a name that it does not know.
  const filesByName = memoize((_name): string[] => []);
  // Grows in the loop, level by level.
  const directories = [root];
  for (const directory of directories)
    for (const entry of await readdir(directory, {withFileTypes: true}).catch(() => [])) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const path = join(directory, entry.name);
      if (!entry.isDirectory()) filesByName(entry.name.toLowerCase()).push(path);
      else if (directories.length < most) directories.push(path);
    }
  return filesByName;
}
