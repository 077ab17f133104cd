import {mkdir, rename} from 'node:fs/promises';
import {execa} from 'execa';
import {describe, expect, test} from 'vitest';
import {mediaInShell} from '../../../support/media.ts';
import {machine} from '../machine.ts';

describe('the modes', () => {
  test('--check with options that find and change media: a hint with them, which uploads', async () => {
    const {at, sandbox, rewrite, text, urls} = await machine({"it's.md": '![a](/photo.png) [b](clip.mp4)\n'});
    await mkdir(at('my static'));
    await rename(at('photo.png'), at('my static/photo.png'));
    const given = ['--links', '--static', 'my static', '--geotags', 'strip'];
    const {stderr} = await rewrite('--check', '--ci', ...given, "it's.md");
    const [, command = 'false'] = /%0ATo upload it, run: (.*)/.exec(stderr) ?? [];
    expect(command).toBe("media rewrite --write --links --static 'my static' --geotags strip 'it'\\''s.md'");
    const media = `media() { ${mediaInShell} "$@"; }\n`;
    await execa('bash', ['-c', `${media}${command}`], {cwd: at('.'), env: sandbox.env, extendEnv: false});
    const url = await urls();
    expect(await text("it's.md")).toBe(`![a](${url('photo.png')}) [b](${url('clip.mp4')})\n`);
  });
});
