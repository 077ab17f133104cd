import {copyFile, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import type {FormatName} from '../../../src/cli/output/results/formats.ts';
import {connectedSandbox} from '../../support/embedded.ts';
import {fixture} from '../../support/media.ts';
import {optionOf} from '../../support/output-formats.ts';

const photo = fixture('photo.png');

/** File names as people and attackers make them. */
const names: [string, string][] = [
  ['spaces', ' two  spaces .png'],
  ['a line break', 'first\nsecond.png'],
  ['a carriage return', 'first\rsecond.png'],
  ['a tab', 'first\tsecond.png'],
  ['quotes', `"double" 'single' \`back\`.png`],
  ['a leading dash', '--json.png'],
  ['emoji', '👩‍👩‍👧‍👦 🏖️.png'],
  ['CJK', '夏の写真-사진-照片.png'],
  ['combining accents', 'cafe\u0301.png'],
  ['a backslash and a percent sign', 'a\\b%0A%s.png'],
  ['a hyperlink sequence', 'x\u001b]8;;evil.example\u0007click\u001b]8;;\u0007.png'],
  ['a clearing sequence', '\u001b[2J\u001b[H.png'],
  ['C1 controls', 'a\u009b31mb\u0085.png'],
  ['a bidi override', 'photo\u202egnp.exe.png'],
  ['bidi isolates', '\u2066a\u2069\u200fb.png'],
  ['a byte order mark', '\ufeffa.png'],
  ['line separators', 'a\u2028b\u2029c.png'],
  ['a workflow command', '::error::a%0A.png'],
  ['HTML', '<img src=x onerror=alert(1)>.png'],
  ['a formula', '=1+1.png'],
  ['glob characters', '[a]*?{b}.png'],
];

// biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be there; line feeds end lines
const unsafe = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;

const escapes: Record<string, string> = {'\n': '\\n', '\r': '\\r', '\t': '\\t'};

/** The name as one line of a terminal, or of a CI log, may show it. */
function shown(name: string): string {
  return name
    .replace(
      /[\n\r\t]|[^\P{Cc}]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu,
      character => escapes[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
    .replace(/^::/, '\\u003a:');
}

async function uploadAll(format: FormatName) {
  const {service, sandbox} = await connectedSandbox();
  for (const [, name] of names) await copyFile(photo, join(sandbox.directory, name));
  const inputs = names.map(([, name]) => name);
  const {stdout, stderr, exitCode} = await sandbox.run(['upload', ...optionOf(format), '--', ...inputs]);
  expect(exitCode).toBe(0);
  const stored = await service.records();
  expect(stored).toHaveLength(names.length);
  const bytes = await readFile(photo);
  // To compare buffers with toEqual() takes a hundred times as long.
  for (const {path} of stored) expect(bytes.equals(await readFile(path)), path).toBe(true);
  expect(stderr).not.toMatch(unsafe);
  expect(stdout).not.toMatch(unsafe);
  return {stdout, lines: stdout.trimEnd().split('\n'), inputs};
}

describe('files with names of every kind', () => {
  it('ndjson: a line each, and the name comes back whole', async () => {
    const {lines, inputs} = await uploadAll('ndjson');
    expect(lines.map(line => JSON.parse(line).file).sort()).toEqual([...inputs].sort());
  });

  it.each(['json', 'url'] as const)('%s: a line each', async format => {
    const {lines, inputs} = await uploadAll(format);
    expect(lines).toHaveLength(inputs.length);
  });

  it('markdown: a line each, every mark-up character escaped', async () => {
    const {lines, inputs} = await uploadAll('markdown');
    const lastPart = (name: string) => name.split('\\').at(-1) ?? '';
    const texts = lines.map(line =>
      /^!\[(.*)\]\(http:[^)]*\)$/.exec(line)?.[1]?.replace(/\\([!-/:-@[-`{-~])/g, '$1'),
    );
    expect(texts.sort()).toEqual(inputs.map(name => shown(lastPart(name))).sort());
  });

  it('table: a row each, the name in its cell', async () => {
    const {lines, inputs} = await uploadAll('table');
    const cells = lines.slice(3, -1).map(line => line.split('│')[1]?.slice(1).trimEnd());
    expect(cells.sort()).toEqual(inputs.map(shown).sort());
  });
});

describe('files that do not exist, with names of every kind', () => {
  // A name that is a pattern and matches nothing is a usage error instead.
  const inputs = names.map(([, name]) => `gone ${name}`).filter(name => !/[*?[{]|[@!+]\(/.test(name));

  it.each(['table', 'json', 'ndjson'] as const)('%s: each name is fit for stderr', async format => {
    const {sandbox} = await connectedSandbox();
    // Without --verbose, words name a few of them.
    const {stdout, stderr, exitCode} = await sandbox.run([
      'upload',
      ...optionOf(format),
      '--verbose',
      ...inputs,
    ]);
    expect(exitCode).toBe(1);
    expect(stdout).not.toMatch(unsafe);
    expect(stderr).not.toMatch(unsafe);
    const lines = stderr
      .trimEnd()
      .split('\n')
      .filter(line => /^(media: |\{|\d+ uploaded)/.test(line) && (format !== 'json' || line.startsWith('{')))
      .sort();
    if (format !== 'json') {
      const expected = inputs.map(name => `media: ${shown(name)} does not exist.`);
      expect(lines).toEqual(
        [...expected, `0 uploaded, 0 skipped, ${inputs.length} failed, 0 unknown`].sort(),
      );
    } else {
      expect(lines.map(line => JSON.parse(line).error.file).sort()).toEqual([...inputs].sort());
    }
  });
});
