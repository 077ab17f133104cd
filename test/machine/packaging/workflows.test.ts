import {createHash} from 'node:crypto';
import {cp, mkdir, readdir, readFile, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {parse} from 'yaml';
import {temporaryDirectory} from '../../support/media.ts';
import {slowTest} from '../../support/patience.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const directory = join(root, '.github/workflows');
const {scripts, version} = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));

interface Step {
  name?: string;
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
}

interface Workflow {
  on: {push: {branches?: string[]; tags?: string[]}};
  permissions: Record<string, string>;
  jobs: Record<string, {needs?: string | string[]; permissions?: Record<string, string>; steps: Step[]}>;
}

const workflows = new Map<string, Workflow>();
for (const file of await readdir(directory))
  workflows.set(file, parse(await readFile(join(directory, file), 'utf8')));

const release = workflows.get('release.yml') as Workflow;

describe('the workflows', () => {
  it.each([...workflows.keys()])(
    '%s: may read only, unless a job says more, and runs what is there',
    async file => {
      const {permissions, jobs} = workflows.get(file) as Workflow;
      expect(permissions).toEqual({});
      const granted = Object.values(jobs).filter(job => job !== release.jobs['publish']);
      for (const job of granted) expect(job.permissions).toEqual({contents: 'read'});
      const commands = Object.values(jobs).flatMap(({steps}) =>
        steps.flatMap(({run = ''}) => run.split('\n')),
      );
      const named = commands.flatMap(command => /^npm run (\S+)/.exec(command)?.[1] ?? []);
      expect(named.filter(name => !(name in scripts))).toEqual([]);
      for (const command of commands.filter(text => text.startsWith('.ci/')))
        expect((await stat(join(root, command.split(' ')[0] ?? ''))).mode & 0o111).toBe(0o111);
    },
  );
});

describe('the release workflow', () => {
  it('starts by a version tag and publishes last, with provenance, in a job that runs nothing of ours', () => {
    expect(release.on).toEqual({push: {tags: ['v*']}});
    const {build, publish} = release.jobs;
    expect(build?.steps.flatMap(({run}) => run ?? [])).toEqual(
      expect.arrayContaining(['npm ci', 'RELEASE=1 .ci/run', 'npm run smoke']),
    );
    expect(publish?.needs).toEqual(['arm64', 'windows']);
    expect(publish?.permissions).toEqual({
      contents: 'write',
      'id-token': 'write',
      attestations: 'write',
    });
    expect(publish?.steps.flatMap(({uses, run}) => uses ?? run ?? [])).toEqual([
      expect.stringMatching(/^actions\/setup-node@[0-9a-f]{40}$/),
      expect.stringMatching(/^actions\/download-artifact@[0-9a-f]{40}$/),
      'sha256sum --check --strict SHA256SUMS',
      expect.stringMatching(/^actions\/attest-build-provenance@[0-9a-f]{40}$/),
      expect.stringMatching(
        /^gh release create .*--draft --verify-tag .*\.\/\*\n.*download.*\nsha256sum --check/s,
      ),
      'npm publish --provenance --access public ./media-cli-*.tgz',
      'gh release edit "$GITHUB_REF_NAME" --draft=false',
    ]);
  });

  it('starts the images as the docs say, each on its own platform, and writes their checksums before all is attested', async () => {
    const lines = (job: string) =>
      release.jobs[job]?.steps.map(({name, run, uses}) => run ?? uses ?? name ?? '');
    const before = ['build', 'arm64'].map(job => lines(job)?.join('\n'));
    expect(before[0]).toMatch(
      /npm run executables.*\.ci\/image\.sh x64 release\/.*SHA256SUMS.*upload-artifact/s,
    );
    expect(before[1]).toMatch(/npm run smoke.*\.ci\/image\.sh arm64 release\/.*SHA256SUMS.*upload-artifact/s);
    expect(release.jobs['arm64']).toMatchObject({needs: 'macos', 'runs-on': expect.stringMatching(/-arm$/)});
    const script = await readFile(join(root, '.ci/image.sh'), 'utf8');
    expect(script).toMatch(/--target executable .*--read-only .*upload.*docker save/s);
    expect(release.jobs['publish']?.steps.map(step => step.with?.['subject-path'])).toContain('./*');
  });

  it('builds all executables, and starts those for macOS and Windows there; the sum of the signed one holds', async () => {
    const {build, macos, windows, arm64} = release.jobs;
    const lines = (job: typeof build) => job?.steps.map(({run, uses}) => run ?? uses).join('\n');
    expect(lines(build)).toMatch(/npm run executables -- all\n/);
    expect(lines(macos)).toMatch(/codesign .*media --version\n.*media upload.*upload-artifact/s);
    expect(lines(windows)).toMatch(/media\.exe --version\n.*media\.exe upload/);
    for (const job of [macos, windows]) expect(job?.needs).toBe('build');

    const work = await temporaryDirectory();
    const names = ['media-darwin-arm64.gz', 'media-image-linux-arm64.tar.gz', 'media-linux-arm64.gz'];
    for (const name of names) await writeFile(join(work, name), 'unsigned');
    await execa('sh', ['-c', 'sha256sum -- media-[dl]* > SHA256SUMS'], {cwd: work});
    await writeFile(join(work, 'media-darwin-arm64.gz'), 'signed');
    const step = arm64?.steps.find(({name}) => name?.startsWith('Checksums'))?.run ?? '';
    await execa('bash', ['-e', '-c', step], {cwd: work});
    const check = await execa('sha256sum', ['--check', '--strict', 'SHA256SUMS'], {cwd: work});
    expect(check.stdout.split('\n').sort()).toEqual(names.map(name => `${name}: OK`));
  });

  it('checks that the tag names the version', async () => {
    const check =
      release.jobs['build']?.steps.find(({name}) => name === 'The tag names the version')?.run ?? '';
    const statuses = [];
    for (const tag of [`v${version}`, 'v999.0.0']) {
      const env = {GITHUB_REF_NAME: tag};
      statuses.push((await execa('bash', ['-e', '-c', check], {cwd: root, env, reject: false})).exitCode);
    }
    expect(statuses).toEqual([0, 1]);
  });

  it(
    'makes the tarball, an SBOM of all that it is built from, and checksums that hold',
    slowTest,
    async () => {
      const work = await temporaryDirectory();
      const files = [
        'package.json',
        'package-lock.json',
        'README.md',
        'LICENSE',
        'CHANGELOG.md',
        'install.sh',
        'bin',
        'dist',
      ];
      for (const file of files) await cp(join(root, file), join(work, file), {recursive: true});
      const step =
        release.jobs['build']?.steps.find(({name}) => name === 'Tarball, installer, SBOM and checksums')
          ?.run ?? '';
      const env = {
        ...{GITHUB_SERVER_URL: 'https://github.example', GITHUB_REPOSITORY: 'someone/media'},
        GITHUB_REF_NAME: `v${version}`,
      };
      await execa('bash', ['-e', '-o', 'pipefail', '-c', step], {cwd: work, env});
      const made = join(work, 'release');
      const tarball = `media-cli-${version}.tgz`;
      expect((await readdir(made)).sort()).toEqual(
        ['SHA256SUMS', 'install.sh', tarball, 'media-cli.cdx.json'].sort(),
      );

      const sums = await readFile(join(made, 'SHA256SUMS'), 'utf8');
      const digest = createHash('sha256')
        .update(await readFile(join(made, tarball)))
        .digest('hex');
      expect(sums).toContain(`${digest}  ${tarball}\n`);
      const check = release.jobs['publish']?.steps.find(({run}) => run?.startsWith('sha256sum'))?.run ?? '';
      await execa('bash', ['-e', '-c', check], {cwd: made});

      const installer = await readFile(join(made, 'install.sh'), 'utf8');
      expect(installer).toContain(
        `\nrelease=\${MEDIA_RELEASE-https://github.example/someone/media/releases/download/v${version}}\n`,
      );

      const sbom = JSON.parse(await readFile(join(made, 'media-cli.cdx.json'), 'utf8'));
      const {packages} = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'));
      expect(sbom.bomFormat).toBe('CycloneDX');
      const built = ['commander', 'undici', 'mime-types'].map(
        name => `pkg:npm/${name}@${packages[`node_modules/${name}`].version}`,
      );
      expect(sbom.components.map(({purl}: {purl: string}) => purl)).toEqual(expect.arrayContaining(built));

      await mkdir(join(work, 'unpacked'));
      await execa('tar', ['-xzf', join(made, tarball), '-C', join(work, 'unpacked')]);
      const published = JSON.parse(await readFile(join(work, 'unpacked/package/package.json'), 'utf8'));
      expect(published.repository).toEqual({
        type: 'git',
        url: 'git+https://github.example/someone/media.git',
      });
    },
  );
});
