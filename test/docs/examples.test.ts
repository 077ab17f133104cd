import {describe, expect, it} from 'vitest';
import {examplesIn, markdown, markdownFiles, withoutBlocks} from '../support/examples.ts';

const files = markdownFiles();

/**
 * The blocks that other tests run: test/machine/action, test/machine/clusters, test/machine/docs/ci-snippets.test.ts, test/machine/docs/serve-recipes.test.ts,
 * test/machine/packaging/install-script.test.ts, test/machine/packaging/library.test.ts, test/cli/watch/watch.test.ts,
 * test/machine/docs/vscode-tasks.test.ts, test/machine/docs/preparing-recipes.test.ts, test/machine/docs/manifest-page.test.ts.
 */
const runElsewhere: Record<string, readonly string[]> = {
  // The tree of the source.
  '.github/CONTRIBUTING.md': [''],
  'docs/sharding.md': ['bash', 'bash'],
  'docs/ci.md': ['yaml'],
  'docs/install.md': ['bash', 'bash'],
  'docs/verify.md': ['bash'],
  'docs/library.md': ['js', 'mjs', 'js'],
  'docs/manifest.md': ['json', 'js', 'js', 'go-html-template', 'js'],
  'docs/serve-in-ci.md': ['yaml', 'yaml'],
  'docs/publishing.md': ['ini'],
  'docs/publishing-recipes.md': ['json', 'bash', 'bash', 'bash'],
};

describe('every example in a Markdown file', () => {
  it.each(files)(
    '%s: a block of shell that the tests of the README or of the pages run, or one that another test runs',
    file => {
      const isRun = file === 'README.md' || file.startsWith('docs/');
      // A block by mere indentation has no language.
      if (isRun) expect(withoutBlocks(markdown(file))).not.toMatch(/^\n {4}\S/m);
      const others = examplesIn(file).filter(({language}) => !(isRun && language === 'sh'));
      expect(others.map(({language}) => language)).toEqual(runElsewhere[file] ?? []);
    },
  );
});
