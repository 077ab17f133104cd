// Checks what would be published, as it is packed: publint and are-the-types-wrong have nothing to say; it holds only the
// program, its types and its texts, within 3 MiB, with every package built in but the optional ones, and none of those
// with an install script.
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const scratch = mkdtempSync(join(tmpdir(), 'media-package-'));
try {
  const {filename, files, unpackedSize} = pack();
  const tarball = join(scratch, filename);
  console.log(`${filename}: ${files.length} files, ${unpackedSize} bytes unpacked`);
  const complaints = [...complaintsAbout(files, unpackedSize), ...lintersOn(tarball)];
  for (const complaint of complaints) console.error(complaint);
  process.exitCode = complaints.length === 0 ? 0 : 1;
} finally {
  rmSync(scratch, {recursive: true, force: true});
}

function pack() {
  const {stdout} = spawnSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', scratch], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    shell: process.platform === 'win32',
  });
  return JSON.parse(stdout)[0];
}

/** The package has no CommonJS entry, as an ES module needs none since Node 20.19: `require()` takes it. */
function lintersOn(tarball) {
  return [
    ['publint', '--strict', tarball],
    ['attw', '--profile', 'esm-only', '--format', 'ascii', '--no-emoji', '--no-color', tarball],
  ].flatMap(([linter, ...parameters]) => {
    const {status} = spawnSync('npx', ['--no-install', linter, ...parameters], {
      stdio: ['ignore', 'inherit', 'inherit'],
      shell: process.platform === 'win32',
    });
    return status === 0 ? [] : [`${linter} has complaints`];
  });
}

function complaintsAbout(files, unpackedSize) {
  const largestSize = 3 * 1024 * 1024;
  const expected =
    /^(bin\/(media\.js|package\.json)|dist\/.+\.(c?js|d\.ts)|dist\/(THIRD-PARTY-LICENSES|help|version)\.txt|completions\/.+|man\/media\.1|package\.json|README\.md|LICENSE|CHANGELOG\.md)$/;
  const required = [
    'bin/media.js',
    'bin/package.json',
    'completions/_media',
    'completions/media.bash',
    'completions/media.fish',
    'completions/media.ps1',
    'dist/help.txt',
    'dist/keychain-child.js',
    'dist/main.cjs',
    'dist/version.txt',
    'dist/index.js',
    'dist/index.d.ts',
    'dist/THIRD-PARTY-LICENSES.txt',
    'man/media.1',
    'LICENSE',
    'README.md',
  ];
  const paths = files.map(({path}) => path);
  const {dependencies = {}} = JSON.parse(readFileSync('package.json', 'utf8'));
  const {packages} = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const scripted = Object.entries(packages).filter(([, entry]) => entry.hasInstallScript && !entry.dev);
  const addressed = Object.values(packages).filter(entry => entry.resolved !== undefined);
  return [
    ...paths.filter(path => !expected.test(path)).map(path => `not to be published: ${path}`),
    ...required.filter(path => !paths.includes(path)).map(path => `missing: ${path}`),
    ...Object.keys(dependencies).map(name => `not built in: ${name}`),
    ...(unpackedSize > largestSize ? [`larger than ${largestSize} bytes`] : []),
    ...scripted.map(([name]) => `runs an install script: ${name}`),
    ...addressed.map(() => 'the lock file names a download address'),
  ];
}
