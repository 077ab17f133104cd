import {copyFile, mkdir, readFile, stat, writeFile} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {parse} from 'yaml';
import {workflowFindings} from '../support/actionlint.ts';
import {connectedSandbox} from '../support/embedded.ts';
import {example} from '../support/examples.ts';
import {apiToken, githubApi} from '../support/github-api.ts';
import {fixture, type Sandbox} from '../support/media.ts';
import {slowTest} from '../support/patience.ts';

const actionPath = fileURLToPath(new URL('../../.github/actions/upload', import.meta.url));
const actionText = await readFile(join(actionPath, 'action.yml'), 'utf8');

interface Action {
  inputs: Record<string, {required: boolean; default?: string; description: string}>;
  outputs: Record<string, {value: string}>;
  runs: {using: string; steps: {id?: string; run: string; shell: string; env?: Record<string, string>}[]};
}

const action = parse(actionText) as Action;

/** A checkout with media, a document that refers to some of it, and a service. */
async function checkout() {
  const connected = await connectedSandbox({previews: true});
  const {sandbox: box, service, key} = connected;
  const at = (name: string) => join(box.directory, name);
  for (const directory of ['.git', 'assets/more', 'docs', 'static'])
    await mkdir(at(directory), {recursive: true});
  await copyFile(fixture('photo.png'), at('assets/a photo.png'));
  await copyFile(fixture('photo.gif'), at('assets/more/b.gif'));
  await copyFile(fixture('photo.gif'), at('static/c.gif'));
  await copyFile(fixture('clip.mp4'), at('clip.mp4'));
  await writeFile(at('docs/a.md'), '![A](../assets/a%20photo.png) ![C](/c.gif)\n');
  box.env['PATH'] = [join(process.execPath, '..'), box.env['PATH']].join(delimiter);
  return {...connected, inputs: {'base-url': service.url, 'api-key': key}};
}

/** The variables of a job for pull request 7 of octocat/media. */
async function pullRequestEnv(box: Sandbox, apiUrl: string): Promise<Record<string, string>> {
  const event = join(box.directory, 'event.json');
  await writeFile(event, JSON.stringify({action: 'synchronize', pull_request: {number: 7}}));
  return {
    GITHUB_API_URL: apiUrl,
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_REPOSITORY: 'octocat/media',
    GITHUB_RUN_ID: '99',
    GITHUB_WORKFLOW: 'CI',
    GITHUB_JOB: 'upload',
    GITHUB_EVENT_PATH: event,
  };
}

/** Runs the steps as the runner does: bash with -e and pipefail, each with its own output file. */
async function runAction(box: Sandbox, inputs: Record<string, string>, job: Record<string, string> = {}) {
  const summary = join(box.directory, 'summary');
  await writeFile(summary, '');
  const outputs: Record<string, string> = {};
  let exitCode: number | undefined = 0;
  let stdout = '';
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
    await writeFile(script, step.run);
    const result = await execa('bash', ['--noprofile', '--norc', '-e', '-o', 'pipefail', script], {
      cwd: box.directory,
      env: {
        ...box.env,
        ...job,
        ...env,
        GITHUB_ACTIONS: 'true',
        GITHUB_ACTION_PATH: actionPath,
        GITHUB_OUTPUT: output,
        GITHUB_STEP_SUMMARY: summary,
      },
      extendEnv: false,
      reject: false,
    });
    exitCode = result.exitCode;
    stdout += result.stdout;
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
  return {exitCode, stdout, stderr, outputs: seen, summary: await readFile(summary, 'utf8')};
}

describe('action.yml', () => {
  it('is composite, names a shell for each script, and puts no expression into one', () => {
    expect(action.runs.using).toBe('composite');
    for (const {run, shell} of action.runs.steps) {
      expect(shell).toBe('bash');
      expect(run).not.toContain('${{');
    }
  });

  it('its steps as a job of a workflow with the same inputs: actionlint finds nothing', async () => {
    const inputs = Object.entries(action.inputs).map(([name, input]) => [name, {type: 'string', ...input}]);
    const workflow = {
      on: {workflow_call: {inputs: Object.fromEntries(inputs)}},
      jobs: {
        media: {
          'runs-on': 'ubuntu-latest',
          steps: action.runs.steps,
          outputs: Object.fromEntries(Object.entries(action.outputs).map(([name, {value}]) => [name, value])),
        },
      },
    };
    expect(await workflowFindings(JSON.stringify(workflow))).toEqual([]);
    const misspelt = JSON.stringify(workflow).replaceAll('inputs.files', 'inputs.fils');
    expect(await workflowFindings(misspelt)).toEqual([
      expect.stringContaining('property "fils" is not defined'),
    ]);
  });
});

describe('the action', slowTest, () => {
  it('patterns, names with spaces and options: uploaded; id, url, records and the summary come out', async () => {
    const {sandbox: box, service, inputs} = await checkout();
    const {exitCode, stderr, outputs, summary} = await runAction(box, {
      ...inputs,
      files: 'assets\nclip.mp4\n',
      options: '--recursive\n--exclude\n*.gif\n',
    });
    expect({exitCode, stderr}).toMatchObject({exitCode: 0});
    const records = (await service.records()).map(({record}) => record);
    expect(JSON.parse(outputs['records'] ?? '')).toHaveLength(2);
    expect(new Set(outputs['id']?.split('\n'))).toEqual(new Set(records.map(({id}) => id)));
    expect(new Set(outputs['url']?.split('\n'))).toEqual(new Set(records.map(({fileUrl}) => fileUrl)));
    expect(summary).toContain('| assets/a photo.png | uploaded |');
  });

  it('names that a shell would run, or take for options: names all the same, and the rest is commented on', async () => {
    const {sandbox: box, service, inputs} = await checkout();
    const {comments, pullRequest} = await githubApi();
    const {exitCode, outputs, stderr} = await runAction(
      box,
      {...inputs, files: '$(touch pwned).png\n--help\n"; touch pwned; "\nclip.mp4', token: apiToken},
      await pullRequestEnv(box, pullRequest.apiUrl),
    );
    expect(exitCode).toBe(3);
    expect(stderr.match(/^::error /gm)).toHaveLength(3);
    const [stored] = await service.records();
    expect(outputs['id']).toBe(stored?.record.id);
    await expect(stat(join(box.directory, 'pwned'))).rejects.toThrow('ENOENT');
    expect(comments.map(({body}) => body)).toEqual([
      expect.stringContaining('\n1 uploaded. Some files could not be uploaded. See [the run]'),
    ]);
    expect(comments[0]?.body).toContain('| <code>clip&#46;mp4</code> |');
  });

  it('the recipe for documents: the check fails without a comment; then they are written, twice: one comment', async () => {
    const {sandbox: box, service, inputs} = await checkout();
    const {comments, requests, pullRequest} = await githubApi();
    const job = await pullRequestEnv(box, pullRequest.apiUrl);
    const recipe: {jobs: {documents: {steps: {uses?: string; with?: Record<string, string>}[]}}} = parse(
      example('docs/ci.md', 'yaml', 'rewrite: check'),
    );
    const [check, write] = recipe.jobs.documents.steps
      .filter(({uses}) => uses?.endsWith('/upload'))
      .map(step => step.with ?? {});

    const checked = await runAction(box, {...check, token: apiToken}, job);
    expect(checked.exitCode).toBe(1);
    expect(checked.stderr.match(/^::error file=docs\/a\.md,line=1,col=\d+,/gm)).toHaveLength(2);
    expect(requests).toEqual([]);

    const written = {...write, ...inputs, token: apiToken};
    const {exitCode, outputs, summary} = await runAction(box, written, job);
    expect(exitCode).toBe(0);
    const records = (await service.records()).map(({record}) => record);
    expect(outputs['id']?.split('\n').sort()).toEqual(records.map(({id}) => id).sort());
    expect(summary.match(/\| uploaded \|/g)).toHaveLength(2);
    const document = join(box.directory, 'docs/a.md');
    const text = await readFile(document, 'utf8');
    for (const {fileUrl, thumbnailUrl} of records) {
      expect(text).toContain(`](${fileUrl})`);
      expect(comments[0]?.body).toContain(
        `<a href="${fileUrl}"><img src="${thumbnailUrl}" height="64" alt=""></a>`,
      );
    }
    expect(comments[0]?.body).toMatch(
      /^<!-- media [0-9a-f]{64} -->\n### Uploaded media\n\n2 uploaded\. See \[the run\]\(https:\/\/github\.com\/octocat\/media\/actions\/runs\/99\)\.\n/,
    );

    await writeFile(document, '![C](/c.gif)\n');
    expect(await runAction(box, written, job)).toMatchObject({exitCode: 0});
    expect(await service.records()).toHaveLength(2);
    expect(comments.map(({body}) => body)).toEqual([
      expect.stringContaining('\n0 uploaded, 1 already uploaded. See'),
    ]);
  });

  it('a token that may only read: a warning, and the upload has succeeded; outside a pull request: no comment', async () => {
    const {sandbox: box, service, inputs} = await checkout();
    const {comments, requests, pullRequest} = await githubApi(request =>
      request.startsWith('POST') ? 403 : undefined,
    );
    const job = await pullRequestEnv(box, pullRequest.apiUrl);
    const upload = {...inputs, files: 'clip.mp4', token: apiToken};
    const {exitCode, stdout, stderr} = await runAction(box, upload, job);
    expect({exitCode, comments}).toEqual({exitCode: 0, comments: []});
    expect(await service.records()).toHaveLength(1);
    expect(stderr).toMatch(
      /^::warning title=media::The comment was not written: GitHub refused the token \(status 403\)\..*pull-requests: write/m,
    );
    expect(stdout + stderr).not.toContain(apiToken);

    const {length} = requests;
    await writeFile(join(box.directory, 'event.json'), '{"ref":"refs/heads/main"}');
    expect(await runAction(box, upload, job)).toMatchObject({
      exitCode: 0,
      stderr: expect.not.stringContaining('warning'),
    });
    expect(requests).toHaveLength(length);
  });

  it('rewrite: something else: an error with the two values that there are', async () => {
    const {sandbox: box, inputs} = await checkout();
    const {exitCode, stderr} = await runAction(box, {...inputs, files: 'docs', rewrite: 'yes\n::x::'});
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(
      /^::error title=media upload%3A usage::The input rewrite is "yes\\n::x::"\.%0ASet it to check or write\.$/m,
    );
  });
});
