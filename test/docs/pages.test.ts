import {describe, expect, it} from 'vitest';
import {examplesIn, markdown, markdownFiles, withoutBlocks} from '../support/examples.ts';
import {needPrograms} from '../support/installed.ts';
import {slowTest} from '../support/patience.ts';
import {newcomersMachine, settledMachine, settledMachineWithNames, typeIn} from './newcomer.ts';

const files = markdownFiles();
const pages = files.filter(file => file.startsWith('docs/'));

/**
 * The blocks that other tests run: test/action, test/machines, test/docs/ci-snippets.test.ts, test/docs/serve-recipes.test.ts,
 * test/torture/serve-fixtures.test.ts, test/packaging/install-script.test.ts, test/packaging/library.test.ts, test/cli/watch.test.ts,
 * test/docs/vscode-tasks.test.ts, test/docs/preparing-recipes.test.ts.
 */
const runElsewhere: Record<string, readonly string[]> = {
  'docs/sharding.md': ['bash', 'bash', 'yaml', 'yaml'],
  'docs/ci.md': ['yaml', 'yaml', 'yaml', 'yaml', 'groovy'],
  'docs/install.md': ['bash', 'bash', 'bash'],
  'docs/verify.md': ['bash'],
  'docs/library.md': ['js', 'mjs', 'js', 'cjs'],
  'docs/serve-in-ci.md': ['yaml', 'yaml', 'yaml', 'js', 'js', 'python', 'go'],
  'docs/publishing.md': ['ini'],
  'docs/publishing-recipes.md': ['json', 'bash', 'bash', 'bash', 'bash', 'bash'],
};

describe('every example in a Markdown file', () => {
  it.each(files)('%s: a block of shell that is run here, or one that another test runs', file => {
    const isRun = file === 'README.md' || pages.includes(file);
    // A block by mere indentation has no language.
    if (isRun) expect(withoutBlocks(markdown(file))).not.toMatch(/^\n {4}\S/m);
    const others = examplesIn(file).filter(({language}) => !(isRun && language === 'sh'));
    expect(others.map(({language}) => language)).toEqual(runElsewhere[file] ?? []);
  });

  it.for(pages.filter(page => examplesIn(page).some(({language}) => language === 'sh')))(
    '%s: runs as printed, in a directory with a photo, a video and "assets", once there is a key',
    slowTest,
    async (page, context) => {
      const blocks = examplesIn(page).filter(({language}) => language === 'sh');
      if (blocks.some(({code}) => code.includes('curl '))) needPrograms(context, ['curl']);
      const has = (text: string) => blocks.some(({code}) => code.includes(text));
      const settled = has('example.com') ? settledMachineWithNames : settledMachine;
      const machine = await (has('media login') ? newcomersMachine : settled)();
      for (const {code} of blocks) await typeIn(machine, code);
    },
  );
});
