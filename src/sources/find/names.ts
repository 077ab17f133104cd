import {isUtf8} from 'node:buffer';
import {sep} from 'node:path';
import {type FilePath, typedPath} from '../../lib/typed-path.ts';

/**
 * A name or path as the file system keeps it, one character (U+0000 to U+00FF) for each of its bytes: no name is lost,
 * `<` is byte order on every machine, and a long list of names takes little memory. Its separator is always `/`.
 */
export type ByteName = string;

const printableAscii = /^[ -~]*$/;

/** The bytes of a text. */
export function fromText(text: string): ByteName {
  return printableAscii.test(text) ? text : Buffer.from(text).toString('latin1');
}

/** The bytes of a path that a person or the system wrote: on Windows `\` separates too. */
export function fromTyped(path: string): ByteName {
  return withSlashes(fromText(path));
}

/** A name with its system's separators replaced by `/`. */
export function withSlashes(name: ByteName): ByteName {
  return sep === '/' ? name : name.replaceAll(sep, '/');
}

/** The text of a name; what is not UTF-8 becomes U+FFFD. */
export function toText(name: ByteName): string {
  return printableAscii.test(name) ? name : toBytes(name).toString();
}

/** The bytes of a name. */
export function toBytes(name: ByteName): Buffer {
  return Buffer.from(name, 'latin1');
}

/** Whether a name is UTF-8, so that its text says all of it. */
export function isText(name: ByteName): boolean {
  return printableAscii.test(name) || isUtf8(toBytes(name));
}

/** The same path as node:fs takes it. */
export function toPath(name: ByteName): FilePath {
  return isText(name) ? toText(name) : toBytes(name);
}

/** A path as the system takes it, `..` and all: links may make it lead elsewhere than it seems to. */
export function resolveName(cwd: string, name: ByteName): ByteName {
  if (sep !== '/' && isText(name)) return fromTyped(typedPath(cwd, toText(name)));
  return typedPath(fromText(cwd), name);
}

const isPlain = /^\/?(?!\.?(?:\/|$))[^/]+(?:\/(?!\.?(?:\/|$))[^/]+)*$/;

/** A path without `.` and `//`; `.` for the working directory. `..` stays: what it leads to is for the system to tell. */
export function normalizeName(name: ByteName): ByteName {
  if (isPlain.test(name)) return name;
  const parts = name.split('/').filter(part => part !== '' && part !== '.');
  const plain = `${name.startsWith('/') ? '/' : ''}${parts.join('/')}`;
  return plain === '' ? '.' : plain;
}

/** A path below a directory as it was named: `.` and a closing slash do not show. */
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

/** The directories that a relative path leads through, from the top; not the path itself. */
export function* parentsOf(relative: ByteName): Generator<ByteName> {
  for (let end = relative.indexOf('/'); end !== -1; end = relative.indexOf('/', end + 1)) {
    if (end > 0) yield relative.slice(0, end);
  }
}
