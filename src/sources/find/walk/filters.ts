import {type ByteName, baseName, fromTyped, parentsOf, toText} from './names.ts';
import {compilePattern} from './patterns.ts';

/** Decides which files are wanted, by paths relative to the root of the input. */
export interface Filters {
  takes(file: ByteName): boolean;
  /** Whether a directory may contain wanted files; excluded directories are not read. */
  enters(directory: ByteName): boolean;
  /** Whether a file may be wanted under one path and not under another. */
  readonly dependsOnPath: boolean;
}

interface Rule {
  matches(path: ByteName): boolean;
  /** It matches whole paths, not only the last part. */
  isPath: boolean;
  /** It ends in a slash: it matches directories and everything in them. */
  ofDirectories: boolean;
}

/**
 * Compiles the patterns of --include and --exclude. A pattern without a slash matches the last part of a path, one with a
 * slash the whole path, and one that ends in a slash a directory and everything in it. Exclusion, also of a parent
 * directory, wins over inclusion; without an include pattern everything else is wanted.
 */
export async function compileFilters(
  include: readonly string[],
  exclude: readonly string[],
): Promise<Filters> {
  const [included, excluded] = await Promise.all(
    [include, exclude].map(list => Promise.all(list.map(compileRule))),
  );
  return new RuleFilters(included ?? [], excluded ?? []);
}

async function compileRule(text: string): Promise<Rule> {
  const typed = toText(fromTyped(text));
  const pattern = typed.replace(/\/+$/, '').replace(/^\.?\/+|^\.$/, '');
  const isMatch = await compilePattern(pattern, {dot: true});
  const isPath = pattern.includes('/') || /^\.?\//.test(typed);
  return {
    matches: path => isMatch(toText(isPath ? path : baseName(path))),
    isPath,
    ofDirectories: typed.endsWith('/'),
  };
}

class RuleFilters implements Filters {
  readonly dependsOnPath: boolean;
  readonly #included: readonly Rule[];
  readonly #excluded: readonly Rule[];

  constructor(included: readonly Rule[], excluded: readonly Rule[]) {
    this.#included = included;
    this.#excluded = excluded;
    this.dependsOnPath = included.some(rule => rule.isPath || rule.ofDirectories);
  }

  takes(file: ByteName): boolean {
    if (this.#included.length === 0 && this.#excluded.length === 0) return true;
    const path = withoutClimb(file);
    const parents = [...parentsOf(path)];
    if (this.#excluded.some(rule => !rule.ofDirectories && rule.matches(path))) return false;
    if (parents.some(parent => this.#excludesDirectory(parent))) return false;
    if (this.#included.length === 0) return true;
    return this.#included.some(rule =>
      rule.ofDirectories ? parents.some(rule.matches) : rule.matches(path),
    );
  }

  enters(directory: ByteName): boolean {
    if (this.#excluded.length === 0) return true;
    const path = withoutClimb(directory);
    return (
      !this.#excludesDirectory(path) && ![...parentsOf(path)].some(parent => this.#excludesDirectory(parent))
    );
  }

  #excludesDirectory(path: ByteName): boolean {
    return this.#excluded.some(rule => rule.matches(path));
  }
}

/** Typed paths may begin with `/` or `../`, which patterns need not contain. */
function withoutClimb(path: ByteName): ByteName {
  return path.replace(/^(?:\.\.\/)*\/*/, '');
}
