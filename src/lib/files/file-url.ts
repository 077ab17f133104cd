import {fileURLToPath} from 'node:url';

/** The path that a path or a file:// URL stands for; throws if the URL is not that of a local file. */
export function pathOfFileUrl(text: string): string {
  return /^file:\/\//i.test(text) ? fileURLToPath(text) : text;
}
