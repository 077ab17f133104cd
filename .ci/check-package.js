// Checks the package that would be published: only the program, its types and its documentation, within 3.5 MiB, with
// every package except the optional ones bundled, and no install scripts. `npm run package-check` then runs other tools
// that check its entries and types.
import {spawnSync} from 'node:child_process';
import {readFileSync} from 'node:fs';

const {stdout} = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
  encoding: 'utf8',
  shell: process.platform === 'win32',
});
const [{files, unpackedSize}] = JSON.parse(stdout);
const largestSize = 3.5 * 1024 * 1024;
const expected =
  /^(bin\/((media|media-url|load|flags)\.js|package\.json)|dist\/.+\.(c?js|d\.ts)|dist\/assets\/(page\.css|icon\.svg)|dist\/(THIRD-PARTY-LICENSES|help|version)\.txt|completions\/.+|man\/(media\.1|help\.json|[a-z-]+\.txt)|docs\/(faults|agents)\.md|docs\/schemas\/[a-z-]+\.json|package\.json|README\.md|LICENSE|CHANGELOG\.md)$/;
const strangers = files.map(({path}) => path).filter(path => !expected.test(path));
const missing = [
  'bin/load.js',
  'bin/media.js',
  'bin/media-url.js',
  'bin/package.json',
  'dist/main.cjs',
  'dist/media-program.cjs',
  'dist/assets/page.css',
  'dist/assets/page.js',
  'dist/help.txt',
  'dist/version.txt',
  'dist/keychain-child.cjs',
  'dist/index.js',
  'dist/index.d.ts',
  'dist/THIRD-PARTY-LICENSES.txt',
  'completions/_media',
  'completions/media.bash',
  'completions/media.fish',
  'completions/media.ps1',
  'docs/agents.md',
  'docs/faults.md',
  'docs/schemas/upload.json',
  'man/help.json',
  'man/media.1',
  'man/exit-codes.txt',
  'LICENSE',
  'README.md',
].filter(path => !files.some(file => file.path === path));
const {dependencies = {}} = JSON.parse(readFileSync('package.json', 'utf8'));
const {packages} = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const scripted = Object.entries(packages).filter(([, entry]) => entry.hasInstallScript && !entry.dev);
const addressed = Object.values(packages).filter(entry => entry.resolved !== undefined);

console.log(`${files.length} files, ${unpackedSize} bytes unpacked`);
const complaints = [
  ...strangers.map(path => `not to be published: ${path}`),
  ...missing.map(path => `missing: ${path}`),
  ...Object.keys(dependencies).map(name => `not built in: ${name}`),
  ...(unpackedSize > largestSize ? [`larger than ${largestSize} bytes`] : []),
  ...scripted.map(([name]) => `runs an install script: ${name}`),
  ...addressed.map(() => 'the lock file names a download address'),
];
for (const complaint of complaints) console.error(complaint);
process.exitCode = complaints.length === 0 ? 0 : 1;
