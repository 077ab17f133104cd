import {readdir, readFile, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {markdown, markdownFiles} from '../../support/examples.ts';
import {needPrograms} from '../../support/installed.ts';
import {temporaryDirectory} from '../../support/media.ts';
import {slowTest} from '../../support/patience.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const pictures = join(root, '.github/pictures');

/** The texts of a picture with their places; of media IDs, which no two runs share, only that they are there. */
async function textsOf(file: string): Promise<string[]> {
  const svg = await readFile(file, 'utf8');
  const texts = [...svg.matchAll(/<text x="(\d+)" y="(\d+)"[^>]*>([^<]*)<\/text>/g)];
  return texts.map(([, x, y, text = '']) => `${x},${y} ${text.replace(/m_[0-9a-z]{29}/g, 'm_ID')}`);
}

describe('the pictures in README and docs', () => {
  it('show what the program prints; npm run pictures draws them anew', slowTest, async () => {
    const drawn = await temporaryDirectory();
    await execa(process.execPath, ['test/machine/docs/pictures.js', drawn], {cwd: root});
    const names = await readdir(drawn);
    expect(names.sort()).toEqual(['batch.svg', 'upload.svg']);
    for (const name of names)
      expect({name, texts: await textsOf(join(pictures, name))}).toEqual({
        name,
        texts: await textsOf(join(drawn, name)),
      });
    expect((await textsOf(join(pictures, 'upload.svg'))).join('\n')).toMatch(
      /\$ media upload photo\.png.*m_ID/s,
    );
  });

  it(
    'of the pages: npm run pictures photographs them anew, in less than 60 kB each',
    slowTest,
    async context => {
      needPrograms(context, ['chromium']);
      const drawn = await temporaryDirectory();
      await execa(process.execPath, ['test/machine/docs/screenshots.js', drawn], {cwd: root});
      const names = (await readdir(pictures)).filter(name => name.endsWith('.png'));
      expect((await readdir(drawn)).sort()).toEqual(names.sort());
      for (const path of names.flatMap(name => [join(drawn, name), join(pictures, name)])) {
        const {size} = await stat(path);
        expect({path, isSmall: size > 5_000 && size < 60_000}).toEqual({path, isSmall: true});
      }
    },
  );

  it('are all shown, each with a description, one of them in the README', async () => {
    const picture = /!\[[^\]]{20,}\]\([./]*\.github\/pictures\/([\w-]+\.(?:svg|png))\)/g;
    const shown = markdownFiles().map(file => ({
      file,
      names: [...markdown(file).matchAll(picture)].map(([, name]) => name),
    }));
    expect(shown.flatMap(({names}) => names).sort()).toEqual((await readdir(pictures)).sort());
    expect(shown.find(({file}) => file === 'README.md')?.names).toEqual(['upload.svg']);
  });
});
