import {readFileSync} from 'node:fs';
import {packageFile} from './package-file.ts';

/** The version in package.json. */
export function packageVersion(): string {
  const text = readFileSync(packageFile('package.json'), 'utf8');
  return (JSON.parse(text) as {version: string}).version;
}
