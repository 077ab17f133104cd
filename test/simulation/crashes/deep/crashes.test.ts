import {readFile} from 'node:fs/promises';
import {expect, test} from 'vitest';
import {slowTest} from '../../../support/patience.ts';
import {directoryStories} from '../directories.ts';
import {tryStory} from '../trial.ts';
import {uploadStories} from '../uploads.ts';

/** The rest is tried by test/experiments/torture/crashes. */
const most = 12;

async function documented(name: string): Promise<number> {
  const text = await readFile(new URL('../../../README.md', import.meta.url), 'utf8');
  const row = text.split('\n').find(line => line.startsWith(`| ${name} |`));
  return Number(/\| ([\d,]+) \|$/.exec(row ?? '')?.[1]?.replaceAll(',', ''));
}

test.each([...uploadStories, ...directoryStories])('power cuts during $name', slowTest, async story => {
  const {states, changes, broken} = await tryStory(story, most);
  expect(broken).toEqual([]);
  // The figure of the documentation is a round one.
  const told = await documented(story.name);
  const facts = `test/README.md says ${told}; the changes were\n${changes.join('\n')}`;
  expect(states, facts).toBeGreaterThanOrEqual(told);
  expect(states, facts).toBeLessThan(1.5 * told);
});
