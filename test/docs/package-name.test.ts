import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, it} from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const itself = 'test/docs/package-name.test.ts';

const {names, owned} = JSON.parse(readFileSync(join(root, '.github/names.json'), 'utf8'));
const name = names.package.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
/** The account that somebody may take. */
const [account] = names.package.replace('@', '').split('/');

/**
 * What would run a stranger's code, once somebody registers the package's name in a registry or takes an account of that
 * name: an install or a run by the bare name, and an action under an account that we do not have. Example domains belong to nobody.
 */
const dangerous = [
  new RegExp(
    String.raw`\b(?:npm|pnpm|yarn|bun)\s+(?:install|i|add|ci|exec|x|dlx|create|update)\b[^\n;|&'"\`]*(?<![\w./@-])${name}(?![\w./-])`,
  ),
  new RegExp(String.raw`\b(?:npx|pnpx|bunx)\s+[^\n;|&'"\`]*(?<![\w./@-])${name}(?![\w./-])`),
  new RegExp(String.raw`\buses:\s*['"]?${account}\/`),
  new RegExp(
    String.raw`\b(?:brew|winget|scoop|choco|snap|apt|apt-get|apk|dnf|pip|pipx)\s+(?:install|add)\b[^\n;|&'"\`]*(?<![\w./-])(?:media|${name})(?![\w./-])`,
  ),
  new RegExp(
    String.raw`\b(?:docker|podman)\s+(?:run|pull)\b[^\n;|&'"\`]*(?<![\w.-])(?:[\w.-]+\/)*(?:media|${name})(?![\w./-])`,
  ),
];

function dangersIn(text: string): string[] {
  return text.split('\n').filter(line => dangerous.some(pattern => pattern.test(line)));
}

const texts = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
})
  .toString()
  .split('\0')
  .filter(file => file !== '' && file !== itself && !/^test\/fixtures\/./.test(file));

it('no text installs or runs the package by its bare name, or uses an action of an account "media-cli"', () => {
  expect(owned.package).toBe(false);
  expect(texts.length).toBeGreaterThan(300);
  const found = texts.flatMap(file =>
    dangersIn(readFileSync(join(root, file), 'utf8')).map(line => `${file}: ${line}`),
  );
  expect(found).toEqual([]);
});

it.each([
  'npm install --global media-cli',
  'npm i media-cli@1',
  "sh 'npm install --global --prefix .media media-cli'",
  'npx media-cli upload',
  'npx --yes media-cli@latest',
  'npm exec -- media-cli',
  '      uses: media-cli/media-cli@v1',
  'brew install media',
  'sudo apt-get install -y media-cli',
  'docker run --rm ghcr.io/media/media upload',
  'podman pull media-cli:latest',
])('%s: found', line => {
  expect(dangersIn(line)).toEqual([line]);
});

it.each([
  'npm install --global .',
  'npm install --global ./media-cli-0.1.0.tgz',
  'npm install --global "$MEDIA_PACKAGE"',
  'npm publish ./media-cli-*.tgz',
  "import {uploadAll} from 'media-cli';",
  'uses: ./.media',
  'apt-get install libmedia',
  'docker build -t registry.example.com/media .',
])('%s: harmless', line => {
  expect(dangersIn(line)).toEqual([]);
});
