import {describe, expect, it} from 'vitest';
import {sandbox} from '../../../support/media.ts';

/** A command in `media help --json`. */
interface HelpNode {
  name: string;
  commands: HelpNode[];
}

describe('help', () => {
  it('every command --help: no empty default, no line past 100 columns, one style', async () => {
    const box = await sandbox();
    const pathsOf = ({commands: children}: HelpNode, path: string[] = []): string[][] => [
      path,
      ...children.flatMap(child => pathsOf(child, [...path, child.name])),
    ];
    const paths = pathsOf(JSON.parse((await box.run(['help', '--json'])).stdout));
    expect(paths.length).toBeGreaterThan(20);
    const texts = await Promise.all(paths.map(async words => (await box.run([...words, '--help'])).stdout));
    for (const text of texts) {
      expect(text).not.toMatch(/: \[\]|choices:|\((\w+)\)\s+\(\1\)/);
      expect(text.split('\n').filter(line => line.length > 100 && !line.startsWith('  $ '))).toEqual([]);
      const [, listed = ''] = /\nCommands:\n(.*?)\n\n/s.exec(text) ?? [];
      const entries = listed.replace(/\n {3,}/g, ' ').split('\n');
      expect(entries.filter(entry => entry !== '' && !/ {2,}[A-Z].*\.$/.test(entry))).toEqual([]);
    }
  });
});
