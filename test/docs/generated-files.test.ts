import {readdir} from 'node:fs/promises';
import {describe, expect, it} from 'vitest';
import {programFiles} from '../../tools/program-files.ts';
import {root, testFresh} from './fresh.ts';

const generated = await programFiles(root);

describe('what is generated from the code', () => {
  testFresh(generated);

  it('nothing else lies beside it', async () => {
    const lying = await Promise.all(
      ['completions', 'man'].map(async folder =>
        (await readdir(new URL(folder, root))).map(name => `${folder}/${name}`),
      ),
    );
    expect(lying.flat().sort()).toEqual([...generated.keys()].sort());
  });
});
