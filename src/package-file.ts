import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {basename} from 'node:path';
import {getAsset, isSea} from 'node:sea';
import {fileURLToPath} from 'node:url';

/** Whether this program is a single executable, which contains Node and the files of the package. */
export const isExecutable = isSea();

/** Where a file of the published package lies, given its path in it; a single executable has none. */
function packageFile(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url));
}

/** The text of a file of the published package, given its path in it. */
export function packageText(path: string): string {
  return isExecutable ? getAsset(path, 'utf8') : readFileSync(packageFile(path), 'utf8');
}

export function packageVersion(): string {
  const {version}: {version: string} = JSON.parse(packageText('package.json'));
  return version;
}

/** The command line that starts `media-url`, given the path of Node or of the single executable. */
export function mediaUrlCommand(nodePath: string): string[] {
  if (!isExecutable) return [nodePath, packageFile('bin/media-url.js')];
  // A copy or a link of the executable `media` may be called `media-url`.
  return /^media-url(\.exe)?$/i.test(basename(nodePath)) ? [nodePath] : [nodePath, 'media-url'];
}

/** The parameters that start one of our own child processes, by its name in bin/load.js; it needs an IPC channel. */
export function childParameters(name: string): string[] {
  return [...(isExecutable ? [] : [packageFile('bin/media.js')]), '__child', name];
}

/** The source of a thread that runs `name`.cjs of dist, with the files that it loads. */
export function threadSource(name: string): string {
  const directory = JSON.stringify(isExecutable ? '' : packageFile('bin'));
  // What it requires is one of Node's modules or a part of dist: never a package from the working directory.
  return `((__dirname, require) => {${packageText('bin/load.js')}
    module.exports.load('${name}.cjs');
  })(${directory}, globalThis.process.getBuiltinModule);`;
}

/** Where a package that is installed beside this one starts; throws if there is none, as for a single executable. */
export function besidePackage(name: string): string {
  if (isExecutable) throw new Error('Nothing is installed beside a single executable.');
  return createRequire(packageFile('package.json')).resolve(name);
}
