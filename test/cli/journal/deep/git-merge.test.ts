import {appendFile, copyFile, mkdir, readFile, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {connectedSandbox} from '../../../support/embedded.ts';
import {fixture, mediaInShell} from '../../../support/media.ts';
import {slowTest} from '../../../support/patience.ts';

/** A repository with 30 pictures, which are uploaded and known to the manifest. */
async function repository() {
  const {sandbox, service} = await connectedSandbox();
  const path = (name: string) => join(sandbox.directory, name);
  const git = async (...words: string[]) =>
    execa('git', words, {
      ...{cwd: sandbox.directory, reject: false, extendEnv: false},
      env: {
        ...sandbox.env,
        ...{GIT_CONFIG_GLOBAL: '/dev/null', GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@example.com'},
        ...{GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@example.com'},
      },
    });
  const upload = () => sandbox.run(['upload', '-r', 'assets', '--manifest', 'media.json']);
  const picture = async (name: string, text = name) => {
    await copyFile(fixture('photo.png'), path(`assets/${name}.png`));
    await appendFile(path(`assets/${name}.png`), text);
  };
  /** Uploads changed pictures on a new branch of main. */
  const branch = async (name: string, change: () => Promise<void>) => {
    await git('checkout', '-q', '-b', name, 'main');
    await change();
    expect((await upload()).exitCode).toBe(0);
    await git('add', 'assets', 'media.json');
    expect((await git('commit', '-qm', name)).exitCode).toBe(0);
  };
  await mkdir(path('assets'));
  await git('init', '-q', '-b', 'main');
  await writeFile(path('.gitattributes'), 'media.json text eol=lf\n');
  await writeFile(path('.gitignore'), '*.journal*\n');
  for (let number = 10; number < 40; number += 1) await picture(`p${number}`);
  expect((await upload()).exitCode).toBe(0);
  await git('add', '.gitattributes', '.gitignore', 'assets', 'media.json');
  await git('commit', '-qm', 'first');
  const manifest = () => readFile(path('media.json'), 'utf8');
  const keys = async () => Object.keys(JSON.parse(await manifest()).files);
  /** The run after a merge: sends nothing, and leaves the file. */
  const expectComplete = async (added: string[]) => {
    const [before, stored] = [await manifest(), (await service.records()).length];
    expect(await keys()).toEqual(expect.arrayContaining(added.map(name => `assets/${name}.png`)));
    expect((await upload()).exitCode).toBe(0);
    expect(await manifest()).toBe(before);
    expect(await service.records()).toHaveLength(stored);
  };
  /** Executes the command that a message prints, as it is printed. */
  const obey = (stderr: string) => {
    const command = /media journal merge.*$/m.exec(stderr)?.[0] ?? '';
    return execa(command.replace(/^media/, mediaInShell), {
      ...{shell: true, cwd: sandbox.directory, env: sandbox.env, extendEnv: false, reject: false},
    });
  };
  return {sandbox, git, upload, picture, branch, manifest, keys, expectComplete, obey, path};
}

/** Neighbours, which git cannot merge: both are added after p19. */
async function conflictOf(repo: Awaited<ReturnType<typeof repository>>) {
  await repo.branch('one', () => repo.picture('p191'));
  await repo.branch('other', () => repo.picture('p192'));
  return repo.git('merge', '-q', 'one');
}

describe('git merge of two branches that have uploaded', slowTest, () => {
  it('far apart: merges by itself, and the next run sends nothing', async () => {
    const repo = await repository();
    await repo.branch('one', () => repo.picture('p101'));
    await repo.branch('other', () => repo.picture('p391'));
    expect(await repo.git('merge', '-q', '--no-edit', 'one')).toMatchObject({exitCode: 0, stderr: ''});
    await repo.expectComplete(['p101', 'p391']);
  });

  it.each([
    ['without an ancestor', [], '\n'],
    ['with the ancestor', ['merge.conflictStyle', 'zdiff3'], '\n'],
    ['with CRLF', [], '\r\n'],
  ])('neighbours, %s: the command of the message joins both sides', async (_what, config, lineBreak) => {
    const repo = await repository();
    if (config.length > 0) await repo.git('config', ...config);
    expect((await conflictOf(repo)).exitCode).toBe(1);
    const conflict = (await repo.manifest()).replaceAll('\n', lineBreak);
    await writeFile(repo.path('media.json'), conflict);
    const {exitCode, stdout, stderr} = await repo.upload();
    const line = conflict.split('\n').findIndex(text => text.startsWith('<<<<<<<')) + 1;
    expect({exitCode, stdout, stderr}).toEqual({
      ...{exitCode: 1, stdout: ''},
      stderr: expect.stringContaining(
        `The manifest media.json could not be used: line ${line} is a conflict marker of git.`,
      ),
    });
    expect(await repo.manifest()).toBe(conflict);
    expect(await repo.obey(stderr)).toMatchObject({exitCode: 0});
    await repo.expectComplete(['p191', 'p192']);
    await repo.git('add', 'media.json');
    expect(await repo.git('commit', '-qm', 'merge')).toMatchObject({exitCode: 0});
  });

  it.each(['itself', 'a link to it'])(
    'both have changed one picture: the one that is checked out is kept, once the picture is chosen; %s is merged',
    async what => {
      const repo = await repository();
      await repo.branch('one', () => repo.picture('p20', 'one'));
      await repo.branch('other', () => repo.picture('p20', 'other'));
      expect((await repo.git('merge', '-q', 'one')).exitCode).toBe(1);
      await repo.git('checkout', '-q', '--theirs', 'assets/p20.png');
      const {stderr} = await repo.upload();
      if (what === 'itself') expect(await repo.obey(stderr)).toMatchObject({exitCode: 0});
      else {
        await mkdir(repo.path('links'));
        await symlink('../media.json', repo.path('links/media.json'));
        const merge = ['journal', 'merge', 'links/media.json'];
        expect(await repo.sandbox.run(merge)).toMatchObject({exitCode: 0});
      }
      await repo.expectComplete(['p20']);
    },
  );

  it('with `text eol=lf`, a checkout with CRLF elsewhere has the same bytes', async () => {
    const repo = await repository();
    await repo.git('config', 'core.autocrlf', 'true');
    const before = await repo.manifest();
    await repo.git('rm', '-q', '--cached', 'media.json');
    await repo.git('reset', '-q', '--hard');
    expect(await repo.manifest()).toBe(before);
    await repo.expectComplete([]);
    expect((await repo.git('status', '--porcelain', 'media.json')).stdout).toBe('');
  });
});
