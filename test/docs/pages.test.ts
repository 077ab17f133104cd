import {describe, expect, it} from 'vitest';
import {exitStatusOf} from '../../src/errors.ts';
import {examplesIn, markdown, markdownFiles} from '../support/examples.ts';
import {settledMachine, type} from './newcomer.ts';

const files = markdownFiles();
const pages = files.filter(file => file.startsWith('docs/'));

/** The blocks that other tests run: test/machines, test/docs/ci-snippets.test.ts, test/packaging/library.test.ts. */
const runElsewhere: Record<string, readonly string[]> = {
  'docs/sharding.md': ['bash', 'bash', 'yaml', 'yaml'],
  'docs/ci.md': ['yaml', 'yaml', 'yaml', 'groovy'],
  'docs/library.md': ['js'],
};

describe('every example in a Markdown file', () => {
  it.each(files)('%s: a block of shell that is run here, or one that another test runs', file => {
    const isRun = file === 'README.md' || pages.includes(file);
    const others = examplesIn(file).filter(({language}) => !(isRun && language === 'sh'));
    expect(others.map(({language}) => language)).toEqual(runElsewhere[file] ?? []);
  });

  it.each(pages.filter(page => examplesIn(page).some(({language}) => language === 'sh')))(
    '%s: runs as printed, after media login, in a directory with a photo, a video and "assets"',
    {timeout: 120_000},
    async page => {
      const machine = await settledMachine();
      for (const {language, code} of examplesIn(page)) if (language === 'sh') await type(machine, code);
    },
  );
});

describe('the table of error codes', () => {
  it('lists every code with its exit status', () => {
    const rows = [...markdown('docs/errors.md').matchAll(/^\| `([a-z_]+)` \| (\d) \|/gm)].map(match => [
      match[1],
      Number(match[2]),
    ]);
    expect(Object.fromEntries(rows)).toEqual(exitStatusOf);
  });
});
