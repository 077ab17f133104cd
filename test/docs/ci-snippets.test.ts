import {createHash} from 'node:crypto';
import {copyFile, mkdir, readFile, stat, writeFile} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {parse} from 'yaml';
import {connectedSandbox} from '../support/embedded.ts';
import {example, markdown} from '../support/examples.ts';
import {needPrograms} from '../support/installed.ts';
import {fixture, type Sandbox, temporaryDirectory} from '../support/media.ts';
import {packedPackage} from '../support/packed.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const release = packedPackage();
const page = 'docs/ci.md';
const github = example(page, 'yaml', '.github/actions/upload');
const gitlab = example(page, 'yaml', 'before_script');
const circleci = example(page, 'yaml', 'cimg/node');
const jenkins = example(page, 'groovy');
const actionPath = join(root, '.github/actions/upload');
const actionText = await readFile(join(actionPath, 'action.yml'), 'utf8');

interface Step {
  id?: string;
  name?: string;
  run?: string;
  shell?: string;
  uses?: string;
  env?: Record<string, string>;
  with?: Record<string, string>;
}

interface Action {
  inputs: Record<string, {required: boolean; default?: string}>;
  outputs: Record<string, {value: string}>;
  runs: {using: string; steps: Step[]};
}

const action = parse(actionText) as Action;

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
      timeout: 60_000,
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

describe('the GitLab job in docs/ci.md', () => {
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

  it('gitlab-ci-local takes it', async context => {
    needPrograms(context, ['gitlab-ci-local']);
    const directory = await temporaryDirectory();
    await execa('git', ['init', '--quiet'], {cwd: directory});
    await writeFile(join(directory, '.gitlab-ci.yml'), gitlab);
    const {stdout} = await execa('gitlab-ci-local', ['--list'], {cwd: directory});
    expect(stdout).toContain('upload');
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
  });

  it('Groovy parses it (the rules of declarative pipelines only a Jenkins server checks)', {
    timeout: 60_000,
  }, async context => {
    needPrograms(context, ['groovy']);
    const file = join(await temporaryDirectory(), 'Jenkinsfile');
    await writeFile(file, jenkins);
    const check = 'new GroovyShell().parse(new File(args[0]))';
    await execa('groovy', ['-e', check, file]);
    await writeFile(file, jenkins.replace(/\}\s*$/, ''));
    await expect(execa('groovy', ['-e', check, file])).rejects.toThrow();
  });
});

describe('the GitHub workflow in docs/ci.md', () => {
  const {jobs} = parse(github) as {jobs: Record<string, {steps: Step[]}>};
  const steps = jobs['upload']?.steps ?? [];

  it('uses the action with inputs and outputs that it has', () => {
    const use = steps.find(step => step.uses?.includes('/.github/actions/upload'));
    expect(use?.id).toBe('media');
    const given = Object.keys(use?.with ?? {});
    expect(given.filter(name => action.inputs[name] === undefined)).toEqual([]);
    const required = Object.keys(action.inputs).filter(name => action.inputs[name]?.required);
    expect(required.filter(name => !given.includes(name))).toEqual([]);
    const used = [...github.matchAll(/steps\.media\.outputs\.(\w+)/g)].map(match => match[1] ?? '');
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter(name => action.outputs[name] === undefined)).toEqual([]);
  });

  it('takes the action from the repository and the commit that the reader names, by way of a checkout', () => {
    const source = steps.find(step => step.with?.['repository'] !== undefined);
    expect(source?.with).toEqual({
      repository: `\${{ vars.MEDIA_REPOSITORY }}`,
      ref: `\${{ vars.MEDIA_REF }}`,
      path: '.media',
    });
    expect(steps.flatMap(({uses}) => uses ?? [])).toEqual([
      'actions/checkout@v4',
      'actions/checkout@v4',
      './.media/.github/actions/upload',
    ]);
  });

  it('stands beside tables of all inputs and outputs that the action has', () => {
    const rows = [...markdown(page).matchAll(/^\| `([a-z-]+)` \|/gm)].map(match => match[1]);
    expect(rows).toEqual([...Object.keys(action.inputs), ...Object.keys(action.outputs)]);
  });

  it('no script of it holds an expression', () => {
    expect(steps.filter(step => step.run?.includes('${{'))).toEqual([]);
  });

  it('actionlint takes it', async context => {
    needPrograms(context, ['actionlint']);
    const {stdout, exitCode} = await execa('actionlint', ['-'], {
      input: `on: push\n${github}`,
      reject: false,
    });
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 0});
  });
});

describe('the action .github/actions/upload', () => {
  /** Runs the steps as the runner does: bash with -e and pipefail, each with its own output file. */
  async function runAction(box: Sandbox, inputs: Record<string, string>) {
    const summary = join(box.directory, 'summary');
    await writeFile(summary, '');
    const outputs: Record<string, string> = {};
    let exitCode: number | undefined = 0;
    let stderr = '';
    for (const [index, step] of action.runs.steps.entries()) {
      const output = join(box.directory, `output-${index}`);
      await writeFile(output, '');
      const env = Object.fromEntries(
        Object.entries(step.env ?? {}).map(([name, value]) => [
          name,
          value.replace(
            /\$\{\{ inputs\.([\w-]+) \}\}/g,
            (_, input) => inputs[input] ?? action.inputs[input]?.default ?? '',
          ),
        ]),
      );
      const script = join(box.directory, `step-${index}.sh`);
      await writeFile(script, step.run ?? '');
      const result = await execa('bash', ['--noprofile', '--norc', '-e', '-o', 'pipefail', script], {
        cwd: box.directory,
        env: {
          ...box.env,
          ...env,
          GITHUB_ACTIONS: 'true',
          GITHUB_ACTION_PATH: actionPath,
          GITHUB_OUTPUT: output,
          GITHUB_STEP_SUMMARY: summary,
        },
        extendEnv: false,
        reject: false,
        timeout: 60_000,
      });
      exitCode = result.exitCode;
      stderr += result.stderr;
      for (const [, name = '', , value = ''] of (await readFile(output, 'utf8')).matchAll(
        /^(\w+)<<(ghadelimiter_\S+)\n(.*?)\n?\2$/gms,
      ))
        outputs[`${step.id}.${name}`] = value;
      if (exitCode !== 0) break;
    }
    const seen = Object.fromEntries(
      Object.entries(action.outputs).map(([name, {value}]) => [
        name,
        outputs[/^\$\{\{ steps\.(\w+)\.outputs\.(\w+) \}\}$/.exec(value)?.slice(1).join('.') ?? ''],
      ]),
    );
    return {exitCode, stderr, outputs: seen, summary: await readFile(summary, 'utf8')};
  }

  it('is composite, names a shell for each script, and puts no expression into one', () => {
    expect(action.runs.using).toBe('composite');
    for (const {run, shell} of action.runs.steps) {
      expect(shell).toBe('bash');
      expect(run).not.toContain('${{');
    }
  });

  it('patterns, names with spaces and options: uploaded; id, url, records and the summary come out', {
    timeout: 120_000,
  }, async () => {
    const {sandbox: box, service, key} = await checkout();
    const {exitCode, stderr, outputs, summary} = await runAction(box, {
      files: 'assets\nclip.mp4\n',
      'base-url': service.url,
      'api-key': key,
      options: '--recursive\n--exclude\n*.gif\n',
    });
    expect({exitCode, stderr}).toMatchObject({exitCode: 0});
    const records = (await service.records()).map(({record}) => record);
    expect(JSON.parse(outputs['records'] ?? '')).toHaveLength(2);
    expect(new Set(outputs['id']?.split('\n'))).toEqual(new Set(records.map(({id}) => id)));
    expect(new Set(outputs['url']?.split('\n'))).toEqual(new Set(records.map(({fileUrl}) => fileUrl)));
    expect(summary).toContain('| assets/a photo.png | uploaded |');
  });

  it('names that a shell would run, or take for options: names all the same', {
    timeout: 120_000,
  }, async () => {
    const {sandbox: box, service, key} = await checkout();
    const {exitCode, outputs, stderr} = await runAction(box, {
      files: '$(touch pwned).png\n--help\n"; touch pwned; "\nclip.mp4',
      'base-url': service.url,
      'api-key': key,
    });
    expect(exitCode).toBe(3);
    expect(stderr.match(/^::error /gm)).toHaveLength(3);
    expect(outputs['id']).toBe((await service.records())[0]?.record.id);
    await expect(stat(join(box.directory, 'pwned'))).rejects.toThrow('ENOENT');
  });
});
