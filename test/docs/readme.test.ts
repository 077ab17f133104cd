import {createHash} from 'node:crypto';
import {copyFile, readFile, writeFile} from 'node:fs/promises';
import {basename, delimiter, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {examplesIn, markdown} from '../support/examples.ts';
import {type Sandbox, sandbox} from '../support/media.ts';
import {packedPackage} from '../support/packed.ts';
import {slowTest} from '../support/patience.ts';
import {onTerminal} from '../support/terminal.ts';
import {newcomersMachine, typeIn} from './newcomer.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const blocks = examplesIn('README.md').map(({code}) => code);
const release = packedPackage();
const login = 'media login --base-url https://api.example.com\n';

/** The only block that holds this text. */
function block(text: string): string {
  const found = blocks.filter(candidate => candidate.includes(text));
  expect(found).toHaveLength(1);
  return found[0] ?? '';
}

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

describe('the README', () => {
  it('can be read in five minutes: at most 160 lines', () => {
    expect(markdown('README.md').split('\n').length).toBeLessThanOrEqual(160);
  });

  it('begins with how to install, upload, try and test it, on a screen and a half', () => {
    const [install, upload, ...next] = blocks;
    expect(install).toBe('npm install --global .\n');
    expect(upload).toMatch(/^media upload photo\.png .*\n.* \| jq -r \.fileUrl\n$/);
    expect(next.slice(0, 2)).toEqual(['npm run demo\n', 'npm test\n']);
    expect(markdown('README.md').split('npm test')[0]?.split('\n').length).toBeLessThanOrEqual(36);
  });
});

describe('every example in the README', () => {
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
    await install(home, block('npm install --global .\n'), root);
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
      const code = block('SHA256SUMS');
      expect(await install(home, code, home.directory)).toContain(`${tarball}: OK\n`);
      expect(await install(home, 'media --version', home.directory)).toMatch(/^\d+\.\d+\.\d+$/);

      await writeFile(join(home.directory, 'SHA256SUMS'), `${'0'.repeat(64)}  ${tarball}\n`);
      await expect(install(home, code, home.directory)).rejects.toThrow(`${tarball}: FAILED`);
    },
  );

  it('runs as printed: all others, one after the other, the login on a terminal', slowTest, async () => {
    const machine = await newcomersMachine();
    const others = blocks.filter(code => !/^(npm|sha256sum) /.test(code));
    expect(others).toContain(login);
    expect(others.join('')).toContain('| jq -r .id');
    for (const code of others) {
      if (code === login) {
        await logIn(machine);
        continue;
      }
      const printed = await typeIn(machine, code);
      if (code.includes('.fileUrl')) expect(printed).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\S+$/m);
      if (code.includes('| jq -r .id')) expect(printed).toMatch(/^m_[A-Za-z0-9_-]+$/m);
    }
  });
});

/** Types the command, and the key when it is asked for. */
async function logIn(machine: Sandbox): Promise<void> {
  const [, ...parameters] = login.trim().split(' ');
  const terminal = onTerminal(machine, parameters);
  await terminal.shows('API key');
  terminal.write(`${machine.env['KEY']}\r`);
  expect({...(await terminal.end), output: terminal.output()}).toMatchObject({exitCode: 0});
}
