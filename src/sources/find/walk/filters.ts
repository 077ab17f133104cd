import {type ByteName, baseName, fromTyped, parentsOf, toText} from './names.ts';
import {compilePattern} from './patterns.ts';

/** Decides which files are wanted, by paths relative to the root of the input. */
export interface Filters {
  takes(file: ByteName): boolean;
  /** Whether a directory may contain wanted files; excluded directories are not read. */
  enters(directory: ByteName): boolean;
}

interface Rule {
  matches(path: ByteName): boolean;
  /** It ends in a slash: it matches directories and everything in them. */
  ofDirectories: boolean;
}

/**
 * Compiles the patterns of --exclude. A pattern without a slash matches the last part of a path, one with a slash the whole
 * path, and one that ends in a slash a directory; with a directory, everything in it is excluded.
 */
export async function compileFilters(exclude: readonly string[]): Promise<Filters> {
  return new RuleFilters(await Promise.all(exclude.map(compileRule)));
}

async function compileRule(text: string): Promise<Rule> {
  const typed = toText(fromTyped(text));
  const pattern = typed.replace(/\/+$/, '').replace(/^\.?\/+|^\.$/, '');
  const isMatch = await compilePattern(pattern, {dot: true});
  const isPath = pattern.includes('/') || /^\.?\//.test(typed);
  return {
    matches: path => isMatch(toText(isPath ? path : baseName(path))),
    ofDirectories: typed.endsWith('/'),
  };
}

class RuleFilters implements Filters {
  readonly #excluded: readonly Rule[];

  constructor(excluded: readonly Rule[]) {
    this.#excluded = excluded;
  }

  takes(file: ByteName): boolean {
    if (this.#excluded.length === 0) return true;
    const path = withoutClimb(file);
    const isExcluded = this.#excluded.some(rule => !rule.ofDirectories && rule.matches(path));
    return !isExcluded && !this.#excludesParent(path);
  }

  enters(directory: ByteName): boolean {
    if (this.#excluded.length === 0) return true;
    const path = withoutClimb(directory);
    return !this.#excludesDirectory(path) && !this.#excludesParent(path);
  }

  #excludesParent(path: ByteName): boolean {
    return [...parentsOf(path)].some(parent => this.#excludesDirectory(parent));
  }

  #excludesDirectory(path: ByteName): boolean {
    return this.#excluded.some(rule => rule.matches(path));
  }
}

/** Typed paths may begin with `/` or `../`, which patterns need not contain. */
function withoutClimb(path: ByteName): ByteName {
  return path.replace(/^(?:\.\.\/)*\/*/, '');
}
