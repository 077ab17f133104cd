import {createHash} from 'node:crypto';
import {existsSync} from 'node:fs';
import {chmod, copyFile, mkdir, readFile, rm, writeFile} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {parse} from 'yaml';
import {action} from '../../support/action.ts';
import {connectedSandbox} from '../../support/embedded.ts';
import {eventually} from '../../support/eventually.ts';
import {example, markdown} from '../../support/examples.ts';
import {gitlabJobs} from '../../support/gitlab.ts';
import {needPrograms} from '../../support/installed.ts';
import {fixture, mediaInShell} from '../../support/media.ts';
import {packedPackage} from '../../support/packed.ts';
import {slowTest} from '../../support/patience.ts';

const release = packedPackage();
const script = 'docs/examples/media.sh';
const gitlab = example('docs/ci.md', 'yaml', 'media.sh');

interface Step {
  id?: string;
  name?: string;
  if?: string;
  run?: string;
  uses?: string;
  with?: Record<string, string | boolean>;
}

/** How a job ended, and what it printed. */
interface Job {
  exitCode: number | undefined;
  log: string[];
}

/**
 * A repository with two pictures in `assets` and the script, a service, and a key for it. Each job gets a clone of its own, which is
 * thrown away with its end, as on a runner.
 */
async function repository() {
  const {sandbox: box, service} = await connectedSandbox({faults: {list: []}});
  const at = (...names: string[]) => join(box.directory, ...names);
  const env: Record<string, string> = {
    ...box.env,
    ...{PATH: `${at('bin')}${delimiter}${process.env['PATH']}`, CI: 'true', MEDIA_IDEMPOTENCY_KEYS: '0'},
    ...{GIT_CONFIG_GLOBAL: at('gitconfig'), GIT_CONFIG_NOSYSTEM: '1'},
  };
  const git = async (cwd: string, ...parameters: string[]) =>
    (await execa('git', parameters, {cwd, env, extendEnv: false})).stdout;
  await mkdir(at('bin'));
  await writeFile(at('bin/media'), `#!/bin/sh\nexec ${mediaInShell} "$@"\n`, {mode: 0o755});
  await writeFile(at('gitconfig'), '[user]\nname = A\nemail = a@localhost\n[init]\ndefaultBranch = main\n');
  await git(box.directory, 'init', '--quiet', '--bare', 'origin.git');
  let clones = 0;
  const clone = async () => {
    clones += 1;
    await git(
      box.directory,
      'clone',
      '--quiet',
      '--depth',
      '1',
      `file://${at('origin.git')}`,
      `clone-${clones}`,
    );
    return at(`clone-${clones}`);
  };
  /** What a person pushes to `main`. */
  const push = async (change: (directory: string) => Promise<unknown>) => {
    const directory = await clone();
    await change(directory);
    await git(directory, 'add', '.');
    await git(directory, 'commit', '--quiet', '--message', 'Change assets');
    await git(directory, 'push', '--quiet', 'origin', 'HEAD:main');
  };
  await push(async directory => {
    await mkdir(join(directory, 'assets/more'), {recursive: true});
    await mkdir(join(directory, '.ci'));
    await copyFile(fixture('photo.png'), join(directory, 'assets/a photo.png'));
    await copyFile(fixture('photo.gif'), join(directory, 'assets/more/b.gif'));
    await writeFile(join(directory, '.ci/media.sh'), markdown(script));
    await writeFile(join(directory, '.gitignore'), '*.journal*\n');
  });
  const start = (directory: string, command: string, changed: Record<string, string> = {}) =>
    execa('sh', ['-c', command], {
      ...{cwd: directory, env: {...env, ...changed}, extendEnv: false, reject: false, all: true},
      ...{detached: true, ...slowTest},
    });
  /** Runs a job on the newest commit; `journal`: the one that the last job left. */
  const job = async (command: string, changed?: Record<string, string>, journal?: Buffer): Promise<Job> => {
    const directory = await clone();
    if (journal !== undefined) await writeFile(join(directory, 'media.json.journal'), journal);
    const {exitCode, all} = await start(directory, command, changed);
    await rm(directory, {recursive: true});
    return {exitCode, log: all.split('\n').filter(line => line !== '')};
  };
  const manifest = async (): Promise<
    {files: Record<string, {url: string}>; unknown?: object} | undefined
  > => {
    const text = await git(at('origin.git'), 'show', 'main:media.json').catch(() => undefined);
    return text === undefined ? undefined : JSON.parse(text);
  };
  const commits = async () =>
    (await git(at('origin.git'), 'log', '--format=%s', '--name-only', 'main')).split('\n').filter(Boolean);
  const stored = async () => (await service.records()).length;
  return {env, at, service, clone, push, start, job, manifest, commits, stored, git};
}

const upload = 'sh .ci/media.sh upload main';
const pushed = 'Update media.json [skip ci]';
const quiet = 5;

describe('docs/examples/media.sh, in a clone that is thrown away after each job', slowTest, () => {
  it('installs the release that two variables pin; another checksum: fails before it is installed', async context => {
    needPrograms(context, ['curl']);
    const {env, job, stored, at} = await repository();
    const tarball = await release.tarball();
    await rm(at('bin/media'));
    env['PATH'] = [join(process.execPath, '..'), process.env['PATH']].join(delimiter);
    const variables = {
      MEDIA_PACKAGE: pathToFileURL(tarball).href,
      MEDIA_PACKAGE_SHA256: createHash('sha256')
        .update(await readFile(tarball))
        .digest('hex'),
      npm_config_offline: 'true',
    };
    for (const command of [upload, 'sh .ci/media.sh check', 'sh .ci/media.sh preview']) {
      const refused = await job(command, {...variables, MEDIA_PACKAGE_SHA256: '0'.repeat(64)});
      expect(refused).toEqual({exitCode: 1, log: expect.arrayContaining(['media.tgz: FAILED'])});
      expect(refused.log.join()).not.toContain('media.json');
    }
    expect(await stored()).toBe(0);
    const {exitCode, log} = await job(upload, variables);
    expect({exitCode, stored: await stored()}).toEqual({exitCode: 0, stored: 2});
    expect(log.length).toBeLessThanOrEqual(quiet + 2);
  });

  it('twice: the second sends nothing, pushes nothing; a changed file: it alone is sent, and its line is another', async () => {
    const {job, push, manifest, commits, stored, git, at} = await repository();
    const first = await job(upload);
    expect(first).toEqual({exitCode: 0, log: expect.any(Array)});
    expect(first.log.length).toBeLessThanOrEqual(quiet + 2);
    expect(Object.keys((await manifest())?.files ?? {})).toEqual(['assets/a photo.png', 'assets/more/b.gif']);
    expect((await commits()).slice(0, 2)).toEqual([pushed, 'media.json']);

    const before = await commits();
    const second = await job(upload);
    expect({...second, stored: await stored(), commits: await commits()}).toEqual({
      ...{exitCode: 0, log: expect.any(Array), stored: 2, commits: before},
    });
    expect(second.log.length).toBeLessThanOrEqual(quiet);

    await push(directory => copyFile(fixture('photo.webp'), join(directory, 'assets/more/b.gif')));
    expect(await job('sh .ci/media.sh check')).toMatchObject({exitCode: 1});
    expect(await job(upload)).toMatchObject({exitCode: 0});
    expect(await stored()).toBe(3);
    expect(await git(at('origin.git'), 'show', '--format=', '--numstat', 'main')).toBe('1\t1\tmedia.json');
    expect(await job('sh .ci/media.sh check')).toMatchObject({exitCode: 0});
    const all = await commits();
    expect(all.filter(line => line === pushed)).toHaveLength(2);

    // A job in a workspace that is kept, with changes of its own that it has pushed.
    await push(directory => copyFile(fixture('photo.jpg'), join(directory, 'assets/c.jpg')));
    expect(await job(`${upload} && sh .ci/media.sh push main && ${upload}`)).toMatchObject({exitCode: 0});
    expect(await stored()).toBe(4);
    expect((await commits()).filter(line => line === pushed)).toHaveLength(3);
  });

  it('a fork, without a key: says what will be uploaded; people upload: the check names each file', async () => {
    const {job, stored} = await repository();
    const fork = {MEDIA_API_KEY: '', MEDIA_BASE_URL: ''};
    const preview = await job('sh .ci/media.sh preview', fork);
    expect(preview).toEqual({exitCode: 0, log: expect.any(Array)});
    expect(preview.log.length).toBeLessThanOrEqual(quiet);
    const check = await job('sh .ci/media.sh check', fork);
    expect(check.exitCode).toBe(1);
    for (const name of ['assets/a photo.png', 'assets/more/b.gif'])
      expect(check.log.join('\n')).toContain(name);
    expect(check.log.length).toBeLessThanOrEqual(quiet + 2);
    expect(await stored()).toBe(0);
  });

  it('a bad key: exit 4, in a few lines, and nothing is pushed', async () => {
    const {job, manifest} = await repository();
    const {exitCode, log} = await job(upload, {MEDIA_API_KEY: 'mk_not-the-key'});
    expect({exitCode, manifest: await manifest()}).toEqual({exitCode: 4, manifest: undefined});
    expect(log.length).toBeLessThanOrEqual(quiet);
  });

  it('a file that fails: exit 3, and the others are in the manifest that is pushed', async () => {
    const {job, push, manifest, stored} = await repository();
    await push(directory => writeFile(join(directory, 'assets/c.png'), '<html></html>'));
    expect(await job(upload)).toMatchObject({exitCode: 3});
    expect(Object.keys((await manifest())?.files ?? {})).toHaveLength(2);
    expect(await job(upload)).toMatchObject({exitCode: 3});
    expect(await stored()).toBe(2);
  });

  it('an unknown file: exit 5, and no later job sends it until a person has settled it', async () => {
    const {job, push, manifest, stored, service, start} = await repository();
    service.faults?.replace(['upload:reset,after=store,nth=1']);
    expect(await job(upload)).toMatchObject({exitCode: 5});
    expect(Object.keys((await manifest())?.unknown ?? {})).toHaveLength(1);
    expect(await job(upload)).toMatchObject({exitCode: 5});
    expect(await stored()).toBe(2);
    const [unknown = ''] = Object.keys((await manifest())?.unknown ?? {});
    const known = Object.values((await manifest())?.files ?? {}).map(({url}) => url);
    const record = (await service.records()).find(
      ({record: {fileUrl}}) => !known.includes(String(fileUrl)),
    )?.record;
    await push(directory =>
      start(directory, `media journal resolve media.json '${unknown}' --uploaded ${record?.id}`),
    );
    expect(await job(upload)).toMatchObject({exitCode: 0});
    expect({stored: await stored(), files: Object.keys((await manifest())?.files ?? {}).length}).toEqual({
      ...{stored: 2, files: 2},
    });
  });

  it('others push at the same time: both manifests are joined, also after a push that was refused', async () => {
    const {push, clone, start, manifest, at} = await repository();
    const directory = await clone();
    const {exitCode} = await start(directory, 'media upload -r assets/more --manifest media.json');
    expect(exitCode).toBe(0);
    await push(other => start(other, 'media upload "assets/a photo.png" --manifest media.json'));
    const refusing = `#!/bin/sh\n[ -e refused ] && exit\n: > refused\nexit 1\n`;
    await writeFile(at('origin.git/hooks/pre-receive'), refusing);
    await chmod(at('origin.git/hooks/pre-receive'), 0o755);
    expect(await start(directory, 'sh .ci/media.sh push main')).toMatchObject({exitCode: 0});
    expect(Object.keys((await manifest())?.files ?? {})).toHaveLength(2);
  });

  it.each([
    ['SIGTERM', false],
    ['SIGKILL', true],
  ] as const)(
    'cancelled by %s while it sends: what may be stored is not sent again',
    async (signal, isKept) => {
      const {clone, start, job, push, stored, service, manifest} = await repository();
      service.faults?.replace(['upload:latency=10m,after=head,nth=2']);
      const directory = await clone();
      const cancelled = start(
        directory,
        `sed -i 's/upload -r/upload -c 1 -r/' .ci/media.sh; git commit --quiet -am x; ${upload}`,
      );
      await eventually(async () => (await stored()) === 1 && service.faults?.counts()[0]?.matched === 2);
      process.kill(-(cancelled.pid ?? 0), signal);
      await cancelled;
      service.faults?.replace([]);
      const journal = await readFile(join(directory, 'media.json.journal')).catch(() => undefined);
      expect(journal !== undefined && journal.length > 0).toBe(isKept);
      await rm(directory, {recursive: true});
      expect((await manifest()) === undefined).toBe(isKept);
      const {pid} = JSON.parse(/(?<="process":)\{.*?\}/.exec(String(journal))?.[0] ?? '{"pid":0}');
      // Init takes notice of its end a little later.
      await eventually(() => pid === 0 || !existsSync(`/proc/${pid}`));
      expect(await job(upload, {}, journal)).toMatchObject({exitCode: 5});
      expect(await stored()).toBe(1);
      await push(person => start(person, 'media journal resolve media.json --all --resend'));
      expect(await job(upload)).toMatchObject({exitCode: 0});
      expect({stored: await stored(), files: Object.keys((await manifest())?.files ?? {}).length}).toEqual({
        ...{stored: 2, files: 2},
      });
    },
  );

  it('a journal that a cache brings back after a job that ended well: it is empty', async () => {
    const {clone, start} = await repository();
    const directory = await clone();
    expect(await start(directory, upload)).toMatchObject({exitCode: 0});
    expect(await start(directory, 'sh .ci/media.sh push main')).toMatchObject({exitCode: 0});
    const journal = await readFile(join(directory, 'media.json.journal'));
    expect(journal.length).toBe(0);
  });
});

it('the GitLab jobs in docs/ci.md: gitlab-ci-local takes them', async context => {
  expect(await gitlabJobs(context, gitlab)).toEqual({jobs: expect.any(Array), complaint: ''});
});

describe.each(['media', 'documents'])('docs/examples/github-%s.yml', name => {
  const text = markdown(`docs/examples/github-${name}.yml`);
  const {jobs} = parse(text) as {
    jobs: Record<string, {steps: Step[]; permissions: object; concurrency?: string}>;
  };
  const all = Object.values(jobs);

  it('uses the action with inputs and outputs that it has', () => {
    const uses = all.flatMap(({steps}) => steps.filter(step => step.uses === './.media'));
    expect(uses).toHaveLength(2);
    const required = Object.keys(action.inputs).filter(input => action.inputs[input]?.required);
    for (const use of uses) {
      const given = Object.keys(use.with ?? {});
      expect(given.filter(input => action.inputs[input] === undefined)).toEqual([]);
      expect(required.filter(input => !given.includes(input))).toEqual([]);
    }
  });

  it('takes the action from the repository and the commit that the reader names, by way of a checkout', () => {
    for (const {steps} of all) {
      const source = steps.find(step => step.with?.['repository'] !== undefined);
      expect(source?.with).toEqual({
        repository: `\${{ vars.MEDIA_REPOSITORY }}`,
        ref: `\${{ vars.MEDIA_REF }}`,
        path: '.media',
      });
      expect(steps.indexOf(source ?? {})).toBeLessThan(steps.findIndex(({uses}) => uses === './.media'));
    }
  });

  it('only the job that pushes may write; it runs one at a time, on the newest commit, and pushes always', () => {
    for (const {permissions, concurrency, steps} of all) {
      const pushes = steps.filter(({run}) => run === 'sh .ci/media.sh push main');
      expect(permissions).toEqual({contents: pushes.length === 1 ? 'write' : 'read'});
      expect(concurrency).toBe(pushes.length === 1 ? 'media' : undefined);
      if (pushes.length === 0) continue;
      expect(pushes[0]?.if).toBe('always()');
      expect(steps[0]?.with).toEqual({ref: 'main'});
    }
  });

  it('no script of it holds an expression, and no job for pull requests a secret', () => {
    expect(all.flatMap(({steps}) => steps).filter(step => step.run?.includes('${{'))).toEqual([]);
    expect(JSON.stringify(jobs['check'])).not.toContain('secrets');
  });
});
