import {createHash} from 'node:crypto';
import {copyFile, mkdir, readFile, writeFile} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {parse} from 'yaml';
import {action} from '../../support/action.ts';
import {connectedSandbox} from '../../support/embedded.ts';
import {example, markdown} from '../../support/examples.ts';
import {gitlabJobs} from '../../support/gitlab.ts';
import {needPrograms} from '../../support/installed.ts';
import {fixture, type Sandbox, temporaryDirectory} from '../../support/media.ts';
import {packedPackage} from '../../support/packed.ts';
import {slowTest} from '../../support/patience.ts';

const release = packedPackage();
const page = 'docs/ci.md';
const github = example(page, 'yaml', 'clip.mp4');
const documents = example(page, 'yaml', 'rewrite: check');
const gitlab = example(page, 'yaml', 'before_script');
const circleci = example(page, 'yaml', 'cimg/node');
const jenkins = example(page, 'groovy');

interface Step {
  id?: string;
  name?: string;
  run?: string;
  shell?: string;
  uses?: string;
  env?: Record<string, string>;
  with?: Record<string, string>;
}

/** A checkout with two files in `assets`, in the environment of a CI system: a service, a key for it, and a release. */
async function checkout() {
  const connected = await connectedSandbox();
  const {sandbox: box} = connected;
  const tarball = await release.tarball();
  await mkdir(join(box.directory, 'assets/more'), {recursive: true});
  await copyFile(fixture('photo.png'), join(box.directory, 'assets/a photo.png'));
  await copyFile(fixture('photo.gif'), join(box.directory, 'assets/more/b.gif'));
  await copyFile(fixture('clip.mp4'), join(box.directory, 'clip.mp4'));
  const global = join(box.directory, '.global');
  Object.assign(box.env, {
    PATH: [join(global, 'bin'), join(process.execPath, '..'), box.env['PATH']].join(delimiter),
    CI: 'true',
    MEDIA_PACKAGE: pathToFileURL(tarball).href,
    MEDIA_PACKAGE_SHA256: createHash('sha256')
      .update(await readFile(tarball))
      .digest('hex'),
    npm_config_prefix: global,
    npm_config_offline: 'true',
  });
  return connected;
}

/** Runs script lines as a CI system does; resolves to the first that failed. */
async function runLines(
  box: Sandbox,
  lines: readonly string[],
  env: Record<string, string> = {},
): Promise<string | undefined> {
  for (const line of lines) {
    const {failed, all} = await execa('bash', ['-e', '-o', 'pipefail', '-c', line], {
      cwd: box.directory,
      env: {...box.env, ...env},
      extendEnv: false,
      reject: false,
      ...slowTest,
      all: true,
    });
    if (failed) return `${line}: ${all}`;
  }
  return undefined;
}

/** The lines download the release, compare its checksum before anything of it runs, and fail where it is another. */
async function expectChecksumIsChecked(lines: readonly string[]): Promise<void> {
  const {sandbox: box} = await checkout();
  box.env['MEDIA_PACKAGE_SHA256'] = '0'.repeat(64);
  expect(await runLines(box, lines)).toMatch(/sha256sum --check: media\.tgz: FAILED/);
}

async function statusesIn(box: Sandbox): Promise<string[]> {
  const text = await readFile(join(box.directory, 'uploads.ndjson'), 'utf8');
  return text
    .split('\n')
    .filter(line => line !== '')
    .map(line => `${JSON.parse(line).file} ${JSON.parse(line).status}`);
}

// The first of these tests packs the package.
describe('the GitLab job in docs/ci.md', slowTest, () => {
  const {upload} = parse(gitlab) as {
    upload: {before_script: string[]; script: string[]; parallel: number; artifacts: {paths: string[]}};
  };

  it('its script, in each of the parallel jobs: together they upload everything once', async context => {
    needPrograms(context, ['curl']);
    const {sandbox: box, service} = await checkout();
    expect(await runLines(box, upload.before_script)).toBeUndefined();
    const seen: string[] = [];
    for (let index = 1; index <= upload.parallel; index += 1) {
      const env = {GITLAB_CI: 'true', CI_NODE_INDEX: String(index), CI_NODE_TOTAL: String(upload.parallel)};
      expect(await runLines(box, upload.script, env)).toBeUndefined();
      seen.push(...(await statusesIn(box)));
    }
    expect(seen.sort()).toEqual(['assets/a photo.png uploaded', 'assets/more/b.gif uploaded']);
    expect(await service.records()).toHaveLength(2);
    expect(upload.artifacts.paths).toEqual(['uploads.ndjson']);
  });

  it('a release with another checksum than MEDIA_PACKAGE_SHA256: fails before it is installed', async context => {
    needPrograms(context, ['curl']);
    await expectChecksumIsChecked(upload.before_script);
  });

  it('gitlab-ci-local finds the parallel jobs', async context => {
    const jobs = Array.from(
      {length: upload.parallel},
      (_, index) => `upload: [${index + 1}/${upload.parallel}]`,
    );
    expect(await gitlabJobs(context, gitlab)).toEqual({jobs, complaint: ''});
  });
});

/** The lines by which CircleCI and Jenkins install `media` below the checkout, and the line that uploads. */
const installBelow = [
  'curl --fail --silent --show-error --location --output media.tgz "$MEDIA_PACKAGE"',
  'echo "$MEDIA_PACKAGE_SHA256  media.tgz" | sha256sum --check',
  'npm install --global --prefix .media ./media.tgz',
  '.media/bin/media upload -r assets --ndjson > uploads.ndjson',
];

describe('the CircleCI configuration in docs/ci.md', () => {
  const config = parse(circleci) as {
    version: number;
    jobs: Record<
      string,
      {docker: {image: string}[]; steps: (string | {run?: string; store_artifacts?: {path: string}})[]}
    >;
    workflows: Record<string, {jobs: string[]}>;
  };

  it('version 2.1, and every job of the workflow is there with an image and steps', () => {
    expect(config.version).toBe(2.1);
    for (const name of config.workflows['upload']?.jobs ?? ['none']) {
      expect(config.jobs[name]?.docker[0]?.image).toMatch(/^cimg\/node:\d+\.\d+$/);
      expect(config.jobs[name]?.steps[0]).toBe('checkout');
    }
  });

  it('its run steps: upload everything', async context => {
    needPrograms(context, ['curl']);
    const {sandbox: box, service} = await checkout();
    const steps = config.jobs['upload']?.steps ?? [];
    const lines = steps.flatMap(step =>
      typeof step === 'object' && step.run !== undefined ? [step.run] : [],
    );
    expect(lines).toEqual(installBelow);
    expect(await runLines(box, lines)).toBeUndefined();
    expect((await statusesIn(box)).length).toBe(2);
    expect(await service.records()).toHaveLength(2);
    expect(steps.at(-1)).toEqual({store_artifacts: {path: 'uploads.ndjson'}});
  });
});

describe('the Jenkinsfile in docs/ci.md', () => {
  const lines = [...jenkins.matchAll(/^ +sh '([^']+)'$/gm)].map(match => match[1] ?? '');

  it('its sh steps are those that are run for CircleCI', () => {
    expect(lines).toEqual(installBelow);
  });

  it('the sections of a declarative pipeline, and the key from a credential', () => {
    expect(jenkins).toMatch(/^pipeline \{\n/);
    expect([...jenkins.matchAll(/^ {2}(\w+) \{/gm)].map(match => match[1])).toEqual([
      'agent',
      'environment',
      'stages',
      'post',
    ]);
    expect(jenkins).toContain("MEDIA_API_KEY = credentials('media-api-key')");
    expect(jenkins).toContain("npm_config_cache = '.npm'");
  });

  it(
    'Groovy parses it (the rules of declarative pipelines only a Jenkins server checks)',
    slowTest,
    async context => {
      needPrograms(context, ['groovy']);
      const file = join(await temporaryDirectory(), 'Jenkinsfile');
      await writeFile(file, jenkins);
      const check = 'new GroovyShell().parse(new File(args[0]))';
      await execa('groovy', ['-e', check, file]);
      await writeFile(file, jenkins.replace(/\}\s*$/, ''));
      await expect(execa('groovy', ['-e', check, file])).rejects.toThrow();
    },
  );
});

describe.each([
  ['the GitHub workflow', github, 'upload'],
  ['the GitHub workflow for documents', documents, 'documents'],
])('%s in docs/ci.md', (_, text, name) => {
  const {jobs} = parse(text) as {jobs: Record<string, {steps: Step[]}>};
  const steps = jobs[name]?.steps ?? [];
  const uses = steps.filter(step => step.uses === './.media');

  it('uses the action with inputs and outputs that it has', () => {
    expect(uses.length).toBeGreaterThan(0);
    const required = Object.keys(action.inputs).filter(input => action.inputs[input]?.required);
    for (const use of uses) {
      const given = Object.keys(use.with ?? {});
      expect(given.filter(input => action.inputs[input] === undefined)).toEqual([]);
      expect(required.filter(input => !given.includes(input))).toEqual([]);
    }
    const used = [...text.matchAll(/steps\.media\.outputs\.(\w+)/g)].map(match => match[1] ?? '');
    expect(used.filter(output => action.outputs[output] === undefined)).toEqual([]);
  });

  it('takes the action from the repository and the commit that the reader names, by way of a checkout', () => {
    const source = steps.find(step => step.with?.['repository'] !== undefined);
    expect(source?.with).toEqual({
      repository: `\${{ vars.MEDIA_REPOSITORY }}`,
      ref: `\${{ vars.MEDIA_REF }}`,
      path: '.media',
    });
    expect(steps.indexOf(source ?? {})).toBeLessThan(steps.indexOf(uses[0] ?? {}));
  });

  it('no script of it holds an expression', () => {
    expect(steps.filter(step => step.run?.includes('${{'))).toEqual([]);
  });
});

describe('the tables of the action in docs/ci.md', () => {
  it('have all inputs and outputs that it has', () => {
    const rows = [...markdown(page).matchAll(/^\| `([a-z-]+)` \|/gm)].map(match => match[1]);
    expect(rows).toEqual([...Object.keys(action.inputs), ...Object.keys(action.outputs)]);
  });
});
