import {readFileSync} from 'node:fs';
import {parseObject} from './lib/json.ts';
import {packageFile} from './package-file.ts';

/** The version in package.json. */
export function packageVersion(): string {
  const text = readFileSync(packageFile('package.json'), 'utf8');
  return String(parseObject(text)?.['version']);
}
