import {appendFile, copyFile, mkdir, readFile, rename, rm, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {sandboxFor} from '../../../engine/service/program.ts';
import {fixture} from '../../../support/media.ts';
import {scriptedServer} from '../../../support/scripted-server.ts';

/** What may take the place of a file behind our back: at its path, or at that of its directory. */
const swaps: Record<string, (at: (name: string) => string) => Promise<void>> = {
  'a link to a file outside the root': async at => {
    await rm(at('site/img/b.gif'));
    await symlink(at('secret/b.gif'), at('site/img/b.gif'));
  },
  'a link to another directory in place of its own': async at => {
    await rename(at('site/img'), at('site/old'));
    await symlink(at('secret'), at('site/img'));
  },
  'a link to its own directory': async at => {
    await rename(at('site/img'), at('moved'));
    await symlink(at('moved'), at('site/img'));
  },
  'another file': async at => {
    await copyFile(at('secret/b.gif'), at('site/img/c.gif'));
    await rename(at('site/img/c.gif'), at('site/img/b.gif'));
  },
};

test.each(Object.entries(swaps))(
  'in the place of a file that was checked, by the time of its upload, %s: not sent, its document stays',
  async (_name, swap) => {
    let swapped: Promise<void> | undefined;
    const sent: Buffer[] = [];
    const {url} = await scriptedServer(async connection => {
      const {body} = await connection.request();
      swapped ??= swap(at);
      await swapped;
      sent.push(body);
      connection.answer(200, '{"id":"m_1","fileUrl":"https://cdn.test/a.png"}');
    });
    const box = await sandboxFor(url);
    const at = (name: string) => join(box.directory, name);
    for (const name of ['site/img', 'secret']) await mkdir(at(name), {recursive: true});
    for (const [name, content] of [
      ['site/a.png', 'photo.png'],
      ['site/img/b.gif', 'photo.gif'],
      ['secret/b.gif', 'photo.gif'],
    ] as const)
      await copyFile(fixture(content), at(name));
    await appendFile(at('secret/b.gif'), 'secret');
    await writeFile(at('site/a.md'), '![a](a.png)\n');
    await writeFile(at('site/b.md'), '![b](img/b.gif)\n');
    const {stderr, exitCode} = await box.run(['rewrite', '--write', '--root', 'site', '-c', '1', 'site']);
    expect(stderr).toMatch(/^media: site\/img\/b\.gif is no longer the file that was checked\.$/m);
    expect(exitCode).toBe(3);
    expect(sent.filter(body => body.length > 0)).toEqual([await readFile(fixture('photo.png'))]);
    expect(await readFile(at('site/b.md'), 'utf8')).toBe('![b](img/b.gif)\n');
    expect(await readFile(at('site/a.md'), 'utf8')).toBe('![a](https://cdn.test/a.png)\n');
  },
);
