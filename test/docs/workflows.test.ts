import {readdirSync, readFileSync} from 'node:fs';
import {describe, expect, it} from 'vitest';
import {parse} from 'yaml';
import {workflowFindings} from '../support/actionlint.ts';
import {examplesIn, markdown, markdownFiles} from '../support/examples.ts';

const directory = new URL('../../.github/workflows/', import.meta.url);
const own = readdirSync(directory).map(
  name => [name, readFileSync(new URL(name, directory), 'utf8')] as const,
);
const copied = ['media', 'documents', 'parts'].map(name => `docs/examples/github-${name}.yml`);
const examples = copied
  .map(file => ({file, line: 1, language: 'yaml', code: markdown(file)}))
  .concat(markdownFiles().flatMap(examplesIn))
  .filter(({language, code}) => language === 'yaml' && code.includes('runs-on:'))
  .map(({file, line, code}) => [`${file}:${line}`, /^on:/m.test(code) ? code : `on: push\n${code}`] as const);

describe('actionlint', () => {
  it.each([...own, ...examples])('%s: nothing to complain of', async (_, text) => {
    expect(await workflowFindings(text)).toEqual([]);
  });

  it.each([
    ['an unknown key', 'runs-on:', 'run-on:', /unexpected key "run-on"/],
    ['an input that an action does not have', 'repository:', 'repo:', /input "repo" is not defined/],
    ['an unknown context', 'vars.MEDIA_REF', 'var.MEDIA_REF', /undefined variable "var"/],
  ])('the first example with %s: says so', async (_, found, replacement, finding) => {
    const [, text = ''] = examples[0] ?? [];
    expect((await workflowFindings(text.replaceAll(found, replacement))).join('\n')).toMatch(finding);
  });
});

describe('what workflows may do', () => {
  it.each([...own, ...examples])(
    '%s: each action is pinned by commit, with its version beside it',
    (_, text) => {
      const uses = [...text.matchAll(/uses: (.*)/g)]
        .map(([, action]) => action)
        .filter(action => action !== './.media');
      expect(uses).not.toEqual([]);
      for (const action of uses)
        expect(action).toMatch(/^[\w-]+(?:\/[\w-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    },
  );

  it.each(own)('%s: nothing, unless a job names its permissions', (_, text) => {
    const {permissions, jobs} = parse(text);
    expect(permissions).toEqual({});
    for (const job of Object.values(jobs)) expect(job).toHaveProperty('permissions');
  });
});
