import {isUtf8} from 'node:buffer';
import {sep} from 'node:path';
import {type FilePath, typedPath} from '../../../lib/files/typed-path.ts';

/**
 * A name or path as a string with one character (U+0000 to U+00FF) per byte: every name can be represented, `<` compares bytes,
 * and long lists of names take little memory. The separator is always `/`.
 */
export type ByteName = string;

const printableAscii = /^[ -~]*$/;

/** Converts a text to its bytes. */
export function fromText(text: string): ByteName {
  return printableAscii.test(text) ? text : Buffer.from(text).toString('latin1');
}

/** Converts a typed path to its bytes; on Windows `\` is a separator too. */
export function fromTyped(path: string): ByteName {
  return withSlashes(fromText(path));
}

/** A name with its system's separators replaced by `/`. */
export function withSlashes(name: ByteName): ByteName {
  return sep === '/' ? name : name.replaceAll(sep, '/');
}

/** The text of a name; bytes that are not UTF-8 become U+FFFD. */
export function toText(name: ByteName): string {
  return printableAscii.test(name) ? name : toBytes(name).toString();
}

/** The bytes of a name. */
export function toBytes(name: ByteName): Buffer {
  return Buffer.from(name, 'latin1');
}

/** Whether a name is valid UTF-8. */
export function isText(name: ByteName): boolean {
  return printableAscii.test(name) || isUtf8(toBytes(name));
}

/** Converts a path for node:fs. */
export function toPath(name: ByteName): FilePath {
  return isText(name) ? toText(name) : toBytes(name);
}

/** An absolute path for the system, with `..` kept: with links, it may not lead where it seems to. */
export function resolveName(cwd: string, name: ByteName): ByteName {
  if (sep !== '/' && isText(name)) return fromTyped(typedPath(cwd, toText(name)));
  return typedPath(fromText(cwd), name);
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
  const trimmed = directory.endsWith('/') ? directory.replace(/\/+$/, '') : directory;
  if (trimmed === '') return directory === '' ? relative : `/${relative}`;
  return trimmed === '.' ? relative : `${trimmed}/${relative}`;
}

/** The last part of a path. */
export function baseName(name: ByteName): ByteName {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** Whether the last part of a path begins with a dot, which hides it. */
export function isHiddenName(name: ByteName): boolean {
  return name.charCodeAt(name.lastIndexOf('/') + 1) === 0x2e;
}

/** The parent directories of a relative path, from the top. */
export function* parentsOf(relative: ByteName): Generator<ByteName> {
  for (let end = relative.indexOf('/'); end !== -1; end = relative.indexOf('/', end + 1)) {
    if (end > 0) yield relative.slice(0, end);
  }
}
