import {copyFile, mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {rootCertificates} from 'node:tls';
import {pathToFileURL} from 'node:url';
import {describe, expect, it} from 'vitest';
import {connectedSandbox, embeddedService} from '../../../support/embedded.ts';
import {fixture, Sandbox, sandbox} from '../../../support/media.ts';
import {commandIn, paste, secret} from '../paste.ts';

const photo = fixture('photo.png');

describe('a command line that was meant as an upload', () => {
  it('the file URL of a name with a blank: its path, which uploads', async () => {
    const {service, sandbox: box} = await connectedSandbox();
    const path = join(box.directory, 'my photo.png');
    await copyFile(photo, path);
    const {stderr, exitCode} = await box.run(['upload', pathToFileURL(path).href]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('Use the path of the file instead of its URL: ');
    expect(await paste(box, `media upload --format url ${commandIn(stderr)}`)).toMatchObject({exitCode: 0});
    expect(await service.records()).toHaveLength(1);
  });

  it('a directory, with --profile and --base-url: -r for that profile and service', async () => {
    const {service, key, sandbox: box} = await connectedSandbox();
    await mkdir(join(box.directory, 'my photos'));
    await copyFile(photo, join(box.directory, 'my photos', 'a.png'));
    const {MEDIA_API_KEY, MEDIA_BASE_URL, ...env} = box.env;
    const login = ['login', '--key-stdin', '--profile', 'ci', '--base-url', service.url];
    expect(await box.run(login, {env, input: `${key}\n`, stdin: 'pipe'})).toMatchObject({exitCode: 0});
    const given = ['--profile', 'ci', '--base-url', service.url];
    const {stderr, exitCode} = await box.run(['upload', 'my photos', ...given], {env});
    expect(exitCode).toBe(1);
    expect(commandIn(stderr)).toBe(`media upload --profile ci --base-url ${service.url} -r 'my photos'`);
    expect(
      await paste(new Sandbox(box.directory, {PATH: env['PATH'] ?? ''}), commandIn(stderr)),
    ).toMatchObject({exitCode: 0});
    expect(await service.records()).toHaveLength(1);
  });

  it('a name that is not UTF-8, which an argument cannot hold: -r or a list', async () => {
    const {sandbox: box} = await connectedSandbox();
    const {stderr, exitCode} = await paste(box, `media upload "$(printf 'caf\\351.png')"`);
    const hint =
      'If its name is not UTF-8, upload its directory with -r, or name it in a list (--files-from).';
    expect(stderr).toBe(`media: caf\ufffd.png does not exist.\n  ${hint}`);
    expect(exitCode).toBe(1);
  });

  it.each(['rewrite', 'watch'])('such a name for %s, which has neither: to rename it', async command => {
    const {sandbox: box} = await connectedSandbox();
    const {stderr, exitCode} = await paste(box, `media ${command} "$(printf 'caf\\351')"`);
    expect(stderr).toBe('media: caf\ufffd does not exist.\n  If its name is not UTF-8, rename it.');
    expect(exitCode).toBe(1);
  });
});

describe('a key on the command line: refused and never shown', () => {
  it('login --key X --base-url URL --profile work: the hint, pasted with the key on stdin, logs in', async () => {
    const {service, key} = await embeddedService();
    const box = await sandbox();
    const given = ['--base-url', service.url, '--profile', 'work'];
    const {stderr} = await box.run(['login', '--key', key, ...given]);
    expect(await paste(box, commandIn(stderr), key)).toMatchObject({exitCode: 0});
    expect(await box.run(['whoami', '--profile', 'work'])).toMatchObject({exitCode: 0});
  });
});

it('a stored key of another origin: the hint, pasted with the name of a profile, logs in', async () => {
  const {service, key} = await embeddedService();
  const box = await sandbox();
  const login = ['login', '--key-stdin', '--no-verify', '--base-url', 'https://media.example'];
  expect(await box.run(login, {input: key, stdin: 'pipe'})).toMatchObject({exitCode: 0});
  await writeFile(join(box.directory, 'my ca.pem'), rootCertificates[0] ?? '');
  const other = `${service.url}/pre/fix`;
  const {stderr} = await box.run(['upload', photo, '--base-url', other, '--cacert', 'my ca.pem']);
  expect(commandIn(stderr)).toBe(
    `media login --key-stdin --profile NAME --base-url ${other} --cacert 'my ca.pem'`,
  );
  const pasted = await paste(box, commandIn(stderr).replace('NAME', 'other'), key);
  expect(pasted).toMatchObject({exitCode: 0});
  const stored = await box.run(['config', 'get', 'base-url', '--profile', 'other']);
  expect(stored.stdout).toBe(`${other}\n`);
});

describe('a key in MEDIA_API_KEY that is refused', () => {
  it('and a stored key beside it: clearing the variable is enough', async () => {
    const {service, key} = await embeddedService();
    const box = await sandbox();
    await box.run(['login', '--key-stdin', '--base-url', service.url], {stdin: 'pipe', input: key});
    box.env['MEDIA_API_KEY'] = secret;
    const {stderr} = await box.run(['upload', photo]);
    expect(commandIn(stderr)).toBe('unset MEDIA_API_KEY');
    expect(await paste(box, `${commandIn(stderr)}; media upload ${photo}`)).toMatchObject({exitCode: 0});
  });
});

describe('a file that a command without options for the transfer could not upload', () => {
  it.each([[[]], [['--journal', 'my journal']]])(
    'media rewrite %j, the response is lost: the command, pasted, uploads; then the URL is put in place',
    async journal => {
      const list = ['upload:reset,after=store,nth=1'];
      const {service, sandbox: box} = await connectedSandbox({faults: {list}});
      box.env['MEDIA_IDEMPOTENCY_KEYS'] = '0';
      await copyFile(photo, join(box.directory, 'my photo.png'));
      await writeFile(join(box.directory, 'a.md'), '![a](<my photo.png>)\n');
      const rewrite = ['rewrite', '--write', ...journal, 'a.md'];
      expect(await box.run(rewrite)).toMatchObject({exitCode: 5});
      const {stderr, exitCode} = await box.run(rewrite);
      expect(exitCode).toBe(5);
      const [, command = 'false'] =
        /To send it again: (.*); if it is stored: media journal resolve /.exec(stderr) ?? [];
      expect(await paste(box, command)).toMatchObject({exitCode: 0});
      expect(await box.run(rewrite)).toMatchObject({stdout: 'a.md: 1 URL\n', exitCode: 0});
      expect(await service.records()).toHaveLength(1);
    },
  );
});
