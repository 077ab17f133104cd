import {readdirSync, readFileSync, rmdirSync, rmSync} from 'node:fs';
import {dirname, join} from 'node:path';

/** Removes the type files that index.d.ts does not reach, and directories that become empty. */
export function keepReachableTypes(directory) {
  const reachable = new Set();
  const visit = file => {
    if (reachable.has(file)) return;
    reachable.add(file);
    const text = readFileSync(file, 'utf8');
    // Types that the compiler inferred name their modules in place.
    for (const [, path] of text.matchAll(/\b(?:from '|import\(")(\.[^'"]+)\.ts['"]/g))
      visit(join(dirname(file), `${path}.d.ts`));
  };
  visit(join(directory, 'index.d.ts'));
  const all = readdirSync(directory, {recursive: true, withFileTypes: true}).map(entry => ({
    path: join(entry.parentPath, entry.name),
    isDirectory: entry.isDirectory(),
  }));
  for (const {path} of all) if (path.endsWith('.d.ts') && !reachable.has(path)) rmSync(path);
  // Inner directories first.
  const directories = all.filter(({isDirectory}) => isDirectory).map(({path}) => path);
  for (const path of directories.sort().reverse()) if (readdirSync(path).length === 0) rmdirSync(path);
}
