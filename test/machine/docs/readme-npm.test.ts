import {createHash} from 'node:crypto';
import {copyFile, readFile, writeFile} from 'node:fs/promises';
import {basename, delimiter, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {example} from '../../support/examples.ts';
import {type Sandbox, sandbox} from '../../support/media.ts';
import {packedPackage} from '../../support/packed.ts';
import {slowTest} from '../../support/patience.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const release = packedPackage();

/** Runs a block in a place, with a prefix for what npm installs and no network; resolves to what it printed. */
async function install(home: Sandbox, code: string, cwd: string): Promise<string> {
  const env = {
    ...home.env,
    npm_config_prefix: home.directory,
    npm_config_offline: 'true',
    PATH: `${join(home.directory, 'bin')}${delimiter}${home.env['PATH']}`,
  };
  const {stdout} = await execa('bash', ['-e', '-o', 'pipefail', '-c', code], {cwd, env, extendEnv: false});
  return stdout;
}

describe('every example of npm in the README', () => {
  it('runs as printed: npm run demo', slowTest, async () => {
    const {stdout, exitCode} = await execa('npm', ['run', 'demo'], {cwd: root, reject: false});
    expect(exitCode).toBe(0);
    expect(stdout).toContain('$ media upload photo.png');
    const records = stdout
      .split('\n')
      .filter(line => line.startsWith('{'))
      .map(line => JSON.parse(line));
    expect(records.map(record => record.type)).toEqual(['IMAGE', 'VIDEO']);
    expect(records[0]).toMatchObject({width: 640, height: 400, imageType: 'png'});
    expect(stdout).toMatch(
      /^The gallery: http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]+ \(this link works once\)$/m,
    );
  });

  it('runs as printed: npm install --global from the clone', slowTest, async () => {
    const home = await sandbox();
    await install(home, example('README.md', 'sh', 'npm install --global .\n'), root);
    expect(await install(home, 'media --version', home.directory)).toMatch(/^\d+\.\d+\.\d+$/m);
  });

  it(
    'runs as printed: npm install --global from a release; not with a tarball of another checksum',
    slowTest,
    async () => {
      const home = await sandbox();
      const packed = await release.tarball();
      const tarball = basename(packed);
      await copyFile(packed, join(home.directory, tarball));
      const sum = createHash('sha256')
        .update(await readFile(packed))
        .digest('hex');
      await writeFile(join(home.directory, 'SHA256SUMS'), `${sum}  ${tarball}\n${sum}  media-cli.cdx.json\n`);
      const code = example('README.md', 'sh', 'SHA256SUMS');
      expect(await install(home, code, home.directory)).toContain(`${tarball}: OK\n`);
      expect(await install(home, 'media --version', home.directory)).toMatch(/^\d+\.\d+\.\d+$/);

      await writeFile(join(home.directory, 'SHA256SUMS'), `${'0'.repeat(64)}  ${tarball}\n`);
      await expect(install(home, code, home.directory)).rejects.toThrow(`${tarball}: FAILED`);
    },
  );
});
