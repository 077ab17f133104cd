import {existsSync} from 'node:fs';
import {readdir, realpath} from 'node:fs/promises';
import {basename, dirname, join, normalize, resolve, sep} from 'node:path';
import {MediaError} from '../errors.ts';
import {inodeOf} from '../lib/files/file-system.ts';
import {isBelow} from '../lib/files/typed-path.ts';
import {percentDecoded} from '../lib/url.ts';
import {type Reference, withoutQuery} from './scan/reference.ts';

/** Where the files of documents may be. */
export interface RewritePlaces {
  /** The directory that nothing outside of is read; by default the git work tree of each document, its Obsidian vault, its MkDocs project, or its directory. */
  root: string | undefined;
  /** Directories that `/photo.png` is looked for in before the root; their files may be read, too. */
  publicDirectories: readonly string[];
}

/** Files that tell which program a project is for, which reads Markdown or finds files in its own way. */
const projectFiles = ['.obsidian', 'mkdocs.yml', 'mkdocs.yaml'] as const;

export type ProjectFile = (typeof projectFiles)[number];

type Located = {path: string} | {candidates: string[]} | 'outside' | undefined;

/** Finds the files that references stand for. */
export class Locator {
  readonly #places: RewritePlaces;
  /** Documents of one directory often refer to the same files. */
  readonly #located = new Map<string, Promise<Located>>();
  readonly #roots = new Map<string, Promise<string>>();
  /** All files below a directory by their names in lower case, as Obsidian looks for them. */
  readonly #names = new Map<string, Promise<Map<string, string[]>>>();
  /** As much of that as is worth a hint. */
  readonly #someNames = new Map<string, Promise<Map<string, string[]>>>();
  readonly #projectFiles = new Map<string, readonly ProjectFile[]>();
  #realPublic: Promise<string[]> | undefined;

  constructor(places: RewritePlaces) {
    this.#places = places;
  }

  /**
   * The real path of the file; `outside` if it is not below the root, candidates if an Obsidian vault has several files
   * of the name equally near to its top, and undefined if there is none.
   */
  async locate({target, context}: Pick<Reference, 'target' | 'context'>, document: string): Promise<Located> {
    const key = [dirname(document), context === 'wiki', target].join('\0');
    return once(this.#located, key, () => this.#locate(target, context, document));
  }

  /** Which of these files are in the directory of a document, or above it. */
  projectFilesOf(document: string): readonly ProjectFile[] {
    const directory = dirname(document);
    const find = () => projectFiles.filter(name => ancestorWith(name, directory) !== undefined);
    return once(this.#projectFiles, directory, find);
  }

  /** The directory below the root that would be the right `--static` for a missing `/photo.png`, if there is one. */
  async staticDirectoryFor(target: string, document: string): Promise<string | undefined> {
    const ends = spellingsOf(target).filter(spelling => spelling.startsWith('/'));
    if (ends.length === 0) return undefined;
    const root = await this.#rootOf(dirname(document));
    const names = await once(this.#someNames, root, () => namesBelow(root, 2_000));
    for (const end of ends.map(normalize)) {
      const path = names.get(basename(end).toLowerCase())?.find(each => each.endsWith(end));
      if (path !== undefined) return path.slice(0, -end.length);
    }
    return undefined;
  }

  async #locate(target: string, context: Reference['context'], document: string): Promise<Located> {
    const root = await this.#rootOf(dirname(document));
    const isWiki = context === 'wiki';
    const vault = ancestorWith('.obsidian', dirname(document));
    const spellings = isWiki ? [target] : spellingsOf(target);
    const paths = spellings.flatMap(spelling => [
      // Obsidian looks from the top of the vault first.
      ...(vault === undefined || spelling.startsWith('.') ? [] : [join(vault, spelling)]),
      ...this.#pathsOf(spelling, document, root),
      ...(vault === undefined && isWiki ? [join(root, spelling)] : []),
    ]);
    const isShown = (path: string) => !isWiki || vault === undefined || isBelow(path, vault);
    const found = await this.#firstOf(paths.filter(isShown), root);
    if (typeof found === 'object') return found;
    const searched = vault ?? (isWiki ? root : undefined);
    const named = searched === undefined ? [] : await this.#nearestNamed(spellings, searched);
    if (named.length > 1) return {candidates: named};
    return (await this.#firstOf(named, root)) ?? found;
  }

  /** The first of these files that may be read. */
  async #firstOf(paths: readonly string[], root: string): Promise<Located> {
    this.#realPublic ??= Promise.all(this.#places.publicDirectories.map(realDirectory));
    const directories = [root, ...(await this.#realPublic)];
    let isOutside = false;
    for (const path of paths) {
      const real = await realpath(path).catch(() => undefined);
      // A real path that is not UTF-8 leads nowhere.
      if (real === undefined || (await inodeOf(real, 'file')) === undefined) continue;
      if (directories.some(directory => isBelow(real, directory))) return {path: real};
      isOutside = true;
    }
    return isOutside ? 'outside' : undefined;
  }

  /** The files that end in one of these paths, in upper or lower case: those that are nearest to the top of the vault. */
  async #nearestNamed(spellings: readonly string[], vault: string): Promise<string[]> {
    const names = await once(this.#names, vault, () => namesBelow(vault));
    for (const spelling of spellings) {
      const end = `${sep}${normalize(spelling)}`.toLowerCase();
      const named = (names.get(basename(end)) ?? []).filter(path => path.toLowerCase().endsWith(end));
      const nearest = named.filter(path => path.split(sep).length === named[0]?.split(sep).length);
      if (nearest.length > 0) return nearest;
    }
    return [];
  }

  #pathsOf(spelling: string, document: string, root: string): string[] {
    // Docusaurus writes @site/ for the directory of the site.
    const fromRoot = spelling.startsWith('@site/') ? spelling.slice(5) : spelling;
    if (!fromRoot.startsWith('/')) return [resolve(dirname(document), fromRoot)];
    return [...this.#places.publicDirectories, root].map(directory => join(directory, fromRoot));
  }

  #rootOf(directory: string): Promise<string> {
    const find = () =>
      realDirectory(
        this.#places.root ??
          ['.git', ...projectFiles].map(name => ancestorWith(name, directory)).find(Boolean) ??
          directory,
      );
    return once(this.#roots, directory, find);
  }
}

/** The value of a key, which is made once. */
function once<Value>(made: Map<string, Value>, key: string, make: () => Value): Value {
  const known = made.get(key);
  if (known !== undefined) return known;
  const value = make();
  made.set(key, value);
  return value;
}

async function realDirectory(path: string): Promise<string> {
  return realpath(path).catch(cause => {
    throw new MediaError('file_missing', `The directory ${path} does not exist.`, {cause});
  });
}

/**
 * The paths that a URL without scheme and host may stand for: without query and fragment and percent-decoded, else as
 * it is written, and with backslashes as separators, as authors on Windows write them.
 */
export function spellingsOf(target: string): string[] {
  const path = withoutQuery(target);
  const plain = [percentDecoded(path), path].filter(each => each !== '');
  return [...new Set([...plain, ...plain.map(each => each.replaceAll('\\', '/'))])];
}

/** The nearest directory, from this one upwards, that has an entry of this name. `sub/..` is not below `sub`. */
function ancestorWith(name: string, directory: string): string | undefined {
  for (let at = normalize(directory); ; at = dirname(at)) {
    if (existsSync(join(at, name))) return at;
    if (dirname(at) === at) return undefined;
  }
}

/** The files below a directory, in at most so many directories, by their names in lower case: the shortest paths first, as Obsidian prefers them. */
async function namesBelow(root: string, most = Number.POSITIVE_INFINITY): Promise<Map<string, string[]>> {
  const names = new Map<string, string[]>();
  const directories = [root];
  for (const directory of directories)
    for (const entry of await readdir(directory, {withFileTypes: true}).catch(() => [])) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const path = join(directory, entry.name);
      if (!entry.isDirectory()) once(names, entry.name.toLowerCase(), (): string[] => []).push(path);
      else if (directories.length < most) directories.push(path);
    }
  return names;
}
