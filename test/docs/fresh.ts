import {readFile} from 'node:fs/promises';
import {expect, it} from 'vitest';

/** The directory of the project. */
export const root = new URL('../../', import.meta.url);

/** Tests that these files were committed as they are generated: path and text. */
export function testFresh(generated: ReadonlyMap<string, string>): void {
  it.each([...generated])(
    '%s is fresh: otherwise run "npm run completions" and commit it',
    async (path, text) => {
      const committed = await readFile(new URL(path, root), 'utf8').catch(() => 'no such file');
      // Not toBe: the difference of two such files is no help.
      expect(committed === text).toBe(true);
    },
  );
}
