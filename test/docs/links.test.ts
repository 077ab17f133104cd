import {existsSync, statSync} from 'node:fs';
import {dirname, join, normalize} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, it} from 'vitest';
import {markdown, markdownFiles, withoutBlocks} from '../support/examples.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const files = markdownFiles();

/** The targets of links and pictures in a page. */
function targetsOf(file: string): string[] {
  const prose = withoutBlocks(markdown(file)).replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(<?([^)>\s]+)>?(?: "[^"]*")?\)/g)].map(([, target = '']) => target);
}

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(file: string): string[] {
  const seen = new Map<string, number>();
  return [...withoutBlocks(markdown(file)).matchAll(/^#+ +(.*?) *#*$/gm)].map(([, heading = '']) => {
    const anchor = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}

/** What is wrong with a link; undefined where nothing is. */
function complaint(file: string, target: string): string | undefined {
  if (/^https:\/\//.test(target)) return undefined;
  if (/^[a-z]+:|^\//.test(target)) return 'neither https nor relative';
  const [path = '', anchor] = target.split('#', 2);
  const linked = path === '' ? file : normalize(join(dirname(file), decodeURIComponent(path)));
  if (!existsSync(join(root, linked))) return 'no such file';
  if (anchor === undefined) return undefined;
  if (!statSync(join(root, linked)).isFile() || !linked.endsWith('.md'))
    return 'an anchor in what is no page';
  return anchorsOf(linked).includes(anchor) ? undefined : 'no such heading';
}

describe('the links in Markdown files', () => {
  it.each(files)('%s: lead to files and headings that exist', file => {
    const dead = targetsOf(file).map(target => ({target, why: complaint(file, target)}));
    expect(dead.filter(({why}) => why !== undefined)).toEqual([]);
  });

  it('are found: an absent file, an absent heading and an http URL are dead', () => {
    const judged = [
      'settings.md',
      'absent.md',
      'settings.md#files',
      'settings.md#absent',
      'http://x.example',
    ];
    expect(judged.map(target => complaint('docs/README.md', target))).toEqual([
      undefined,
      'no such file',
      undefined,
      'no such heading',
      'neither https nor relative',
    ]);
    expect(targetsOf('README.md').length).toBeGreaterThan(10);
  });

  it('lead from the index to every page of docs', () => {
    const pages = files.filter(file => file.startsWith('docs/') && file !== 'docs/README.md');
    const linked = targetsOf('docs/README.md').map(target => normalize(join('docs', target)));
    expect(pages.filter(page => !linked.includes(page))).toEqual([]);
    expect(pages.length).toBeGreaterThan(10);
  });
});
