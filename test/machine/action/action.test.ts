import {copyFile, mkdir, readdir, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';
import {describe, expect, it} from 'vitest';
import {parse} from 'yaml';
import {action, ownRelease, runAction} from '../../support/action.ts';
import {workflowFindings} from '../../support/actionlint.ts';
import {connectedSandbox} from '../../support/embedded.ts';
import {eventually} from '../../support/eventually.ts';
import {markdown} from '../../support/examples.ts';
import {apiToken, githubApi} from '../../support/github-api.ts';
import {fixture, type Sandbox} from '../../support/media.ts';
import {slowTest} from '../../support/patience.ts';
import {archive, sha256} from '../../support/release.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** A checkout with media, a document that refers to some of it, and a service. */
async function checkout(options: Parameters<typeof connectedSandbox>[0] = {}) {
  const connected = await connectedSandbox({previews: true, ...options});
  const {sandbox: box, service, key} = connected;
  const at = (name: string) => join(box.directory, name);
  for (const directory of ['.git', 'assets/more', 'docs', 'static'])
    await mkdir(at(directory), {recursive: true});
  await copyFile(fixture('photo.png'), at('assets/a photo.png'));
  await copyFile(fixture('photo.gif'), at('assets/more/b.gif'));
  await copyFile(fixture('photo.gif'), at('static/c.gif'));
  await copyFile(fixture('clip.mp4'), at('clip.mp4'));
  await writeFile(at('docs/a.md'), '![A](../assets/a%20photo.png) ![C](/c.gif)\n');
  const release = await ownRelease();
  return {...connected, release, inputs: {'base-url': service.url, 'api-key': key, release: release.url}};
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

/** The inputs of the action in the jobs of a workflow in docs/examples. */
function usesOf(workflow: string): Record<string, string>[] {
  const {jobs}: {jobs: Record<string, {steps: {uses?: string; with?: Record<string, string>}[]}>} = parse(
    markdown(`docs/examples/github-${workflow}.yml`),
  );
  return Object.values(jobs).flatMap(({steps}) =>
    steps.filter(({uses}) => uses === './.media').map(step => step.with ?? {}),
  );
}

describe('action.yml', () => {
  it('runs a file that is there, by a Node.js of the runner, with sources of ours and modules of Node.js only', async () => {
    expect(action.runs).toEqual({using: 'node24', main: 'tools/action/main.ts'});
    const {metafile} = await build({
      ...{entryPoints: [join(root, action.runs.main)], absWorkingDir: root, write: false, metafile: true},
      ...{bundle: true, packages: 'external', platform: 'node', format: 'esm'},
    });
    const inputs = Object.entries(metafile.inputs);
    expect(inputs.map(([file]) => file).filter(file => !/^(?:src|tools)\/.*\.ts$/.test(file))).toEqual([]);
    const external = inputs.flatMap(([, {imports}]) => imports.filter(one => one.external));
    expect(external.map(({path}) => path).filter(path => !path.startsWith('node:'))).toEqual([]);
  });

  it('used in a workflow: actionlint takes its inputs', async () => {
    const steps = [
      {uses: './', with: Object.fromEntries(Object.keys(action.inputs).map(name => [name, 'x']))},
    ];
    const workflow = {on: 'push', jobs: {media: {'runs-on': 'ubuntu-latest', steps}}};
    expect(await workflowFindings(JSON.stringify(workflow))).toEqual([]);
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
    const {release} = inputs;
    const {comments, requests, pullRequest} = await githubApi();
    const job = await pullRequestEnv(box, pullRequest.apiUrl);
    const [check, write] = usesOf('documents');

    const checked = await runAction(box, {...check, release, token: apiToken}, job);
    expect(checked.exitCode).toBe(1);
    expect(checked.stderr.match(/^::error file=docs\/a\.md,line=1,col=\d+,/gm)).toHaveLength(2);
    expect(checked.stdout).toBe('docs/a.md:1:6  ../assets/a%20photo.png\ndocs/a.md:1:36  /c.gif');
    expect(checked.summary).toBe(
      '### media rewrite --check\n\nReferences to local media: 2.\n\n| document | line | reference |\n| --- | ---: | --- |\n' +
        '| docs/a.md | 1 | ../assets/a%20photo.png |\n| docs/a.md | 1 | /c.gif |\n\n',
    );
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
    // The manifest knew it.
    expect(comments.map(({body}) => body)).toEqual([expect.stringContaining('\n2 uploaded. See')]);
  });

  it('the recipe with a manifest, in workspaces that are thrown away: what it knows is not sent again', async () => {
    const {sandbox: box, service, inputs} = await checkout();
    const {comments, pullRequest} = await githubApi();
    const job = await pullRequestEnv(box, pullRequest.apiUrl);
    const at = (name: string) => join(box.directory, name);
    const [preview, upload] = usesOf('media').map(use => ({
      ...use,
      release: inputs.release,
      token: apiToken,
    }));
    const fork = {...job, MEDIA_BASE_URL: '', MEDIA_API_KEY: ''};

    const previewed = await runAction(box, preview ?? {}, fork);
    expect(previewed).toMatchObject({
      exitCode: 0,
      stdout: 'checked  assets/a photo.png\nchecked  assets/more/b.gif',
    });
    expect(comments.map(({body}) => body)).toEqual([expect.stringContaining('\n2 to upload. See')]);
    const missing = await runAction(box, {...preview, options: '--recursive', check: 'true'}, fork);
    expect({
      ...missing,
      annotations: missing.stderr.match(/^::error .*manifest_outdated::/gm)?.length,
    }).toMatchObject({
      ...{exitCode: 1, stdout: '', annotations: 2},
      summary: expect.stringMatching(
        /\| assets\/a photo\.png \| failed \| `manifest_outdated` .*\n(?:.*\n)*.*b\.gif/,
      ),
    });
    expect({stored: await service.records(), comments: comments.length}).toEqual({stored: [], comments: 1});

    const given = {...upload, 'base-url': inputs['base-url'], 'api-key': inputs['api-key']};
    const refused = await runAction(box, {...given, 'api-key': 'mk_not-the-key'}, job);
    expect(refused.exitCode).toBe(4);
    expect(refused.stderr.split('\n').length).toBeLessThanOrEqual(5 + 2);
    await expect(stat(at('media.json'))).rejects.toThrow('ENOENT');

    const first = await runAction(box, given, job);
    expect(first.exitCode).toBe(0);
    expect(first.stdout.split('\n')).toEqual([
      expect.stringMatching(/^uploaded {2}assets\/\S.* {2}http:/),
      expect.stringMatching(/^uploaded {2}assets\/\S.* {2}http:/),
    ]);
    const {body = ''} = comments[0] ?? {};
    expect(body).toContain('\n2 uploaded. See');
    const manifest = await readFile(at('media.json'));

    const second = await runAction(box, given, job);
    expect(second).toMatchObject({exitCode: 0, stdout: ''});
    expect(second.summary).not.toContain('| file |');
    expect(second.stderr.split('\n').length).toBeLessThanOrEqual(5);
    expect(second.outputs['id']?.split('\n')).toHaveLength(2);
    expect(await service.records()).toHaveLength(2);
    expect((await readFile(at('media.json'))).equals(manifest)).toBe(true);
    expect(comments.map(comment => comment.body)).toEqual([body]);

    await copyFile(fixture('photo.webp'), at('assets/more/c.webp'));
    await rm(at('assets/more/b.gif'));
    const third = await runAction(box, given, job);
    expect(third).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^uploaded {2}assets\/more\/c\.webp/),
    });
    expect(third.summary.match(/\| uploaded \|/g)).toHaveLength(1);
    expect(comments.map(comment => comment.body)).toEqual([
      expect.stringContaining('\n1 uploaded, 1 already uploaded. See'),
    ]);
    expect(await service.records()).toHaveLength(3);
    expect(third.path).toMatch(/\/runner-temp\/media-[0-9a-f]{64}\n$/);
  });

  it('cancelled while it sends, an unknown file: exit 5 for each workspace that has the manifest, and nothing is sent twice', async () => {
    const {
      sandbox: box,
      service,
      inputs,
    } = await checkout({faults: {list: ['upload:latency=10m,after=store,nth=2']}});
    const [, upload] = usesOf('media').map(use => ({
      ...use,
      ...inputs,
      token: '',
      options: '--recursive\n-c\n1',
    }));
    const isSent = eventually(async () => (await service.records()).length === 2);
    const {exitCode, stdout} = await runAction(box, upload ?? {}, {}, isSent);
    expect({exitCode, lines: stdout.split('\n').length}).toEqual({exitCode: 130, lines: 1});
    service.faults?.replace([]);
    const manifest = await readFile(join(box.directory, 'media.json'));
    await expect(stat(join(box.directory, 'media.json.journal'))).rejects.toThrow('ENOENT');

    const {sandbox: next} = await checkout();
    await writeFile(join(next.directory, 'media.json'), manifest);
    const later = await runAction(next, {...upload, 'base-url': service.url});
    expect(later).toMatchObject({
      exitCode: 5,
      stdout: '',
      stderr: expect.stringMatching(/^::error .*outcome_unknown::/m),
    });
    expect(await service.records()).toHaveLength(2);
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

  it('inputs that cannot be used: an error that says what to write, and nothing is downloaded', async () => {
    const {sandbox: box, inputs, release} = await checkout();
    const cases: [Record<string, string>, string][] = [
      [{check: 'yes'}, 'The input check is "yes".%0ASet it to true or false.'],
      [{check: 'true'}, 'The input check compares files with a manifest.%0ASet manifest, and not rewrite;'],
      [{rewrite: 'yes\n::x::'}, 'The input rewrite is "yes\\n::x::".%0ASet it to check or write.'],
      [
        {options: '--recursive\n--limit-rate 20M'},
        'The input options has "--limit-rate 20M" on one line.%0A' +
          'Write the value on the next line, below --limit-rate, or --limit-rate=20M.',
      ],
      [
        {options: '--template={url}'},
        'The input options has --template, which the action decides.%0A' +
          'Use the outputs id, url and records, or run media in a step of your own.',
      ],
      [{options: '--json'}, 'The input options has --json, which the action decides.%0A'],
      [{release: ''}, 'The input release is missing.%0AAn action from a directory'],
      ...['http://example.com', 'http://localhost:x@example.com'].map(
        (release): [Record<string, string>, string] => [
          {release},
          `The input release is "${release}".%0AUse an https:// address.`,
        ],
      ),
    ];
    for (const [given, message] of cases) {
      const {exitCode, stderr} = await runAction(box, {...inputs, files: 'docs', ...given});
      expect({exitCode, stderr}).toEqual({
        exitCode: 2,
        stderr: expect.stringMatching(/^::error title=media upload%3A usage::/),
      });
      expect(stderr).toContain(`::${message}`);
    }
    expect(release.asked).toEqual([]);
  });

  it('a name that means something everywhere: escaped once in the annotation, the summary and the comment', async () => {
    const {sandbox: box, inputs} = await checkout();
    const {comments, pullRequest} = await githubApi();
    const [good, bad] = ['a%b:c,d|e.gif', 'x%y:z|.txt'];
    await copyFile(fixture('photo.gif'), join(box.directory, good));
    await writeFile(join(box.directory, bad), 'text');
    const {stderr, summary, outputs} = await runAction(
      box,
      {...inputs, files: `${good}\n${bad}`, token: apiToken},
      await pullRequestEnv(box, pullRequest.apiUrl),
    );
    expect(stderr).toMatch(/^::error file=x%25y%3Az\|\.txt,title=media upload%3A \w+::x%25y:z\|\.txt /m);
    expect(summary).toContain('| a%b:c,d\\|e.gif | uploaded | [');
    expect(summary).toContain('| x%y:z\\|.txt | failed | `');
    expect(comments[0]?.body).toContain('<code>a&#37;b&#58;c&#44;d&#124;e&#46;gif</code>');
    expect(outputs['id']).toMatch(/^m_\w+$/);
  });

  it('a release that cannot be had, or is not what it says: an error, and nothing runs; else one download for a job', async () => {
    const {sandbox: box, inputs, release, service} = await checkout();
    const upload = {...inputs, files: 'clip.mp4'};
    const sums = release.files.get('SHA256SUMS') ?? Buffer.from('');
    const executable = release.files.get(archive) ?? Buffer.from('');
    const cases: [string, () => void, object?][] = [
      ['could not be downloaded: status 404.', () => release.files.delete(archive)],
      ['is not the file that SHA256SUMS names', () => release.files.set(archive, Buffer.from('changed'))],
      ['is not the file that SHA256SUMS names', () => release.files.set(archive, executable.subarray(0, -9))],
      [`SHA256SUMS does not name ${archive}.`, () => release.files.set('SHA256SUMS', Buffer.from(''))],
      ['The input checksum is not that of', () => {}, {checksum: '0'.repeat(64)}],
    ];
    for (const [message, breakIt, given] of cases) {
      release.files.set(archive, executable).set('SHA256SUMS', sums);
      breakIt();
      const {exitCode, stderr} = await runAction(box, {...upload, ...given});
      expect({message, exitCode}).toEqual({message, exitCode: 1});
      expect(stderr).toContain(message);
    }
    expect(await service.records()).toEqual([]);
    release.files.set(archive, executable).set('SHA256SUMS', sums);
    const temporary = join(box.directory, 'runner-temp');
    await writeFile(temporary, '');
    const {exitCode, stderr} = await runAction(box, upload);
    const path = join(temporary, `media-${sha256(executable)}`, 'media');
    expect(stderr).toBe(
      `::error title=media upload%3A local_failure::${path} could not be written: ENOTDIR.%0ACheck RUNNER_TEMP.`,
    );
    expect(exitCode).toBe(1);
    await rm(temporary);
    release.asked.length = 0;
    for (const checksum of [sha256(executable), ''])
      expect(await runAction(box, {...upload, checksum})).toMatchObject({exitCode: 0});
    expect(release.asked.filter(path => path.endsWith('.gz'))).toHaveLength(1);
    expect(await readdir(join(box.directory, 'runner-temp'))).toEqual([`media-${sha256(executable)}`]);
  });
});
