import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {expandInputs} from '../../../../src/engine/sources/find/expand.ts';
import {isRepeatable, survey} from '../../../../src/engine/sources/find/survey.ts';
import {systemFiles} from '../../../../src/lib/files/file-system.ts';
import {addFile, makeTree, stdinOf} from '../../../support/trees.ts';

const endless = new AbortController().signal;

function sourcesOf(cwd: string, ...inputs: string[]) {
  const context = {cwd, files: systemFiles, stdin: () => stdinOf('never read'), temporaryDirectory: cwd};
  return expandInputs({inputs, recursive: true}, context);
}

describe('survey', () => {
  it('a tree of 600 pictures, one that is missing, standard input: each once, what has no size as 0, what may be left out not', async () => {
    const root = await makeTree();
    for (let index = 0; index < 600; index += 1) await addFile(root, `d/${100 + index}.png`);
    for (const name of ['d/.hidden.png', 'd/notes.txt', 'd/source.ts']) await addFile(root, name);
    const sizes: number[] = [];
    const isComplete = await survey(
      sourcesOf(root, 'd', 'gone.png', '-'),
      bytes => sizes.push(bytes),
      endless,
    );
    expect(isComplete).toBe(true);
    expect(sizes).toHaveLength(602);
    // A file holds its name.
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(600 * 'd/100.png'.length);
  });

  it('stopped: incomplete', async () => {
    const root = await makeTree('a', 'b');
    expect(await survey(sourcesOf(root, 'a', 'b'), () => {}, AbortSignal.abort())).toBe(false);
  });
});

describe('isRepeatable', () => {
  it.each([
    ['no list', {inputs: ['a']}, true],
    ['a list in a file', {inputs: [], filesFrom: ['list']}, true],
    ['a list on standard input', {inputs: [], filesFrom: ['-']}, false],
    ['a list in a device', {inputs: [], filesFrom: ['/dev/null']}, false],
    ['a list that is missing', {inputs: [], filesFrom: ['gone']}, false],
  ])('%s', async (_name, request, expected) => {
    const root = await makeTree();
    await writeFile(join(root, 'list'), 'a\n');
    expect(await isRepeatable(request, {cwd: root, files: systemFiles})).toBe(expected);
  });
});
