import {readFileSync} from 'node:fs';
import {parseObject} from './lib/json.ts';

/** Where a file of the published package lies, given its path in it. */
export function packageFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}

export function packageVersion(): string {
  const text = readFileSync(packageFile('package.json'), 'utf8');
  return String(parseObject(text)?.['version']);
}
