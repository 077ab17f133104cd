import {sep} from 'node:path';
import {type ByteName, fromText, isText, resolveUserPath, toText} from '../../../../lib/files/typed-path.ts';

/** Converts a typed path to its bytes; on Windows `\` is a separator too. */
export function fromPath(path: string): ByteName {
  return withSlashes(fromText(path));
}

/** A name with its system's separators replaced by `/`. */
export function withSlashes(name: ByteName): ByteName {
  return sep === '/' ? name : name.replaceAll(sep, '/');
}

/** An absolute path for the system, with `..` kept: with links, it may not lead where it seems to. */
export function resolveName(cwd: string, name: ByteName): ByteName {
  if (sep !== '/' && isText(name)) return fromPath(resolveUserPath(cwd, toText(name)));
  return resolveUserPath(fromText(cwd), name);
}

const isPlain = /^\/?(?!\.?(?:\/|$))[^/]+(?:\/(?!\.?(?:\/|$))[^/]+)*$/;

/** A path without `.` and `//`; `.` for the working directory. `..` stays, since its target depends on links. */
export function normalizeName(name: ByteName): ByteName {
  if (isPlain.test(name)) return name;
  const parts = name.split('/').filter(part => part !== '' && part !== '.');
  const plain = `${name.startsWith('/') ? '/' : ''}${parts.join('/')}`;
  return plain === '' ? '.' : plain;
}

/** Joins a directory as named and a path below it, without `.` and trailing slashes. */
export function joinNames(directory: ByteName, relative: ByteName): ByteName {
  if (relative === '') return directory;
  const base = directory.endsWith('/') ? directory.replace(/\/+$/, '') : directory;
  if (base === '') return directory === '' ? relative : `/${relative}`;
  return base === '.' ? relative : `${base}/${relative}`;
}

/** Whether the last part of a path begins with a dot, which hides it. */
export function isHiddenName(name: ByteName): boolean {
  return name.charCodeAt(name.lastIndexOf('/') + 1) === 0x2e;
}

/** The parent directories of a relative path, from the top. */
export function* parentsOf(relative: ByteName): Generator<ByteName> {
  for (let end = relative.indexOf('/'); end !== -1; end = relative.indexOf('/', end + 1))
    if (end > 0) yield relative.slice(0, end);
}
