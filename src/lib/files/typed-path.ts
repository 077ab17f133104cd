import {isUtf8} from 'node:buffer';
import {isAbsolute, relative, resolve, sep} from 'node:path';
import {fileURLToPath} from 'node:url';

/** A path for node:fs: a string if that is exact, otherwise bytes. */
export type FilePath = string | Buffer;

/** The absolute form of a path, not normalised: if `link` is a link, `link/../photo.png` is not `photo.png`. */
export function resolveUserPath(directory: string, path: string): string {
  if (path === '' || path.startsWith('/')) return path;
  // Windows normalises paths before it follows links, and has several roots.
  if (sep !== '/') return resolve(directory, path);
  return `${directory.endsWith('/') ? directory : `${directory}/`}${path}`;
}

/** The path that a path or a file:// URL names; throws if the URL is not that of a local file. */
export function pathOfFileUrl(text: string): string {
  return /^file:\/\//i.test(text) ? fileURLToPath(text) : text;
}

/** Whether a real path is that of a directory, or leads below it. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || isBelow(path, directory);
}

/** Whether a real path leads below a directory, itself a real path. */
export function isBelow(path: string, directory: string): boolean {
  const rest = relative(directory, path);
  return rest !== '' && rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest);
}

/** A name with one character (U+0000 to U+00FF) per byte: exact, small, and in byte order by `<`. Separator: `/`. */
export type ByteName = string;

const printableAscii = /^[ -~]*$/;

export function fromText(text: string): ByteName {
  return printableAscii.test(text) ? text : Buffer.from(text).toString('latin1');
}

/** The text of a name; bytes that are not UTF-8 become U+FFFD. */
export function toText(name: ByteName): string {
  return printableAscii.test(name) ? name : toBytes(name).toString();
}

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
