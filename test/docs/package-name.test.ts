import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, it} from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const itself = 'test/docs/package-name.test.ts';

/**
 * What would run a stranger's code, once somebody registers `media-cli` in the npm registry or takes an account of that
 * name: an install or a run by the bare name, and an action under an account that we do not have.
 */
const dangerous = [
  /\b(?:npm|pnpm|yarn|bun)\s+(?:install|i|add|ci|exec|x|dlx|create|update)\b[^\n;|&'"`]*(?<![\w./@-])media-cli(?![\w./-])/,
  /\b(?:npx|pnpx|bunx)\s+[^\n;|&'"`]*(?<![\w./@-])media-cli(?![\w./-])/,
  /\buses:\s*['"]?media-cli\//,
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
  '      uses: media-cli/media-cli/.github/actions/upload@v1',
])('%s: found', line => {
  expect(dangersIn(line)).toEqual([line]);
});

it.each([
  'npm install --global .',
  'npm install --global ./media-cli-0.1.0.tgz',
  'npm install --global "$MEDIA_PACKAGE"',
  'npm publish ./media-cli-*.tgz',
  "import {uploadAll} from 'media-cli';",
  'uses: ./.media/.github/actions/upload',
])('%s: harmless', line => {
  expect(dangersIn(line)).toEqual([]);
});
