import {copyFile, mkdir, readFile, writeFile} from 'node:fs/promises';
import {createServer} from 'node:https';
import {join} from 'node:path';
import {rootCertificates} from 'node:tls';
import {pathToFileURL} from 'node:url';
import {execa} from 'execa';
import {generate} from 'selfsigned';
import {describe, expect, it} from 'vitest';
import {errorWriter, withHints} from '../../../src/cli/hints/key-hints.ts';
import {MediaError} from '../../../src/errors.ts';
import {command, hint, option} from '../../../src/hint.ts';
import {connectedSandbox, embeddedService} from '../../support/embedded.ts';
import {listen, portOf} from '../../support/loopback.ts';
import {fixture, mediaInShell, Sandbox, sandbox} from '../../support/media.ts';
import {outcomeOf} from '../../support/outcomes.ts';

const photo = fixture('photo.png');
const secret = 'mk_a-key-that-nobody-should-see-in-any-output';

/** What a hint ends with, after its last colon. */
function commandIn(stderr: string): string {
  return /: ([^:]*(?:https?:[^ ]*)?[^:]*)\n$/.exec(stderr)?.[1] ?? 'false';
}

/** Pastes a command line into a shell on this machine, which finds `media`. */
function paste(box: Sandbox, command: string, input = '') {
  const media = `media() { ${mediaInShell} "$@"; }\n`;
  return execa('bash', ['-c', `${media}${command}`], {
    cwd: box.directory,
    env: box.env,
    extendEnv: false,
    reject: false,
    input,
  });
}

describe('a key in CI: the variables are advised, not a login', () => {
  const rejected = 'Set MEDIA_API_KEY to a valid key.';
  it.each([
    ['nothing is set', {}, [], 'Set MEDIA_BASE_URL and MEDIA_API_KEY.'],
    ['no key', {MEDIA_BASE_URL: 'service'}, [], 'Set MEDIA_API_KEY.'],
    ['no such profile', {MEDIA_PROFILE: 'no'}, [], 'Set MEDIA_BASE_URL and MEDIA_API_KEY instead.'],
    [
      'a stored key of another origin',
      {MEDIA_BASE_URL: 'http://127.0.0.1:9'},
      [secret],
      'Set MEDIA_API_KEY.',
    ],
    ['a stored key that is rejected', {}, [secret], rejected],
    [
      'a key that is rejected',
      {MEDIA_BASE_URL: 'service', MEDIA_API_KEY: secret},
      [],
      'Set it to a valid key.',
    ],
  ])('%s', async (_name, variables: Record<string, string>, stored, hint) => {
    const {service, sandbox: box} = await connectedSandbox();
    const {MEDIA_API_KEY, MEDIA_BASE_URL, ...env} = box.env;
    for (const input of stored) {
      const login = ['login', '--key-stdin', '--no-verify', '--insecure-storage', '--base-url', service.url];
      expect(await box.run(login, {env, input, stdin: 'pipe'})).toMatchObject({exitCode: 0});
    }
    const given = Object.entries(variables).map(([name, value]) => [
      name,
      value === 'service' ? service.url : value,
    ]);
    for (const command of [['upload', photo], ['whoami']]) {
      const {stdout, stderr, exitCode} = await box.run(command, {
        env: {...env, CI: 'true', ...Object.fromEntries(given)},
      });
      expect(exitCode).toBe(4);
      expect(`${stdout}${stderr}`).toContain(hint);
      expect(`${stdout}${stderr}`).not.toContain('login');
    }
  });
});

describe('a command line that was meant as an upload', () => {
  it('only the name of a file: the hint, pasted, uploads', async () => {
    const {service, sandbox: box} = await connectedSandbox();
    await copyFile(photo, join(box.directory, 'my photo'));
    const {stderr, exitCode} = await box.run(['my photo', '--format', 'url']);
    expect(stderr).toContain("\n  To upload: media upload 'my photo'\n");
    expect(exitCode).toBe(2);
    expect(await paste(box, commandIn(stderr))).toMatchObject({exitCode: 0});
    const [stored] = await service.records();
    expect(await readFile(stored?.path ?? '')).toEqual(await readFile(photo));
  });

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
  it.each([
    [['login', '--key', secret]],
    [['login', `--key=${secret}`]],
    [['login', `-k${secret}`]],
    [['login', secret]],
    [['upload', photo, '--api-key', secret]],
    [['--token', secret, 'upload', photo]],
  ])('%j', async parameters => {
    const box = await sandbox();
    const {stdout, stderr, exitCode} = await box.run([...parameters, '--verbose']);
    expect(stderr).toContain('No option or argument takes a key');
    expect(stderr).not.toContain(secret);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 2});
  });

  it('media serve --key: names the variable of the service', async () => {
    const {stderr} = await (await sandbox()).run(['serve', '--key', secret]);
    expect(stderr).toContain('Set MEDIA_SERVE_KEY to a key of at least 16 characters.\n');
    expect(stderr).not.toContain(secret);
  });

  it('login --key X --base-url URL --profile work: the hint, pasted with the key on stdin, logs in', async () => {
    const {service, key} = await embeddedService();
    const box = await sandbox();
    const given = ['--base-url', service.url, '--profile', 'work'];
    const {stderr} = await box.run(['login', '--key', key, ...given]);
    expect(await paste(box, commandIn(stderr), key)).toMatchObject({exitCode: 0});
    expect(await box.run(['whoami', '--profile', 'work'])).toMatchObject({exitCode: 0});
  });
});

describe('a base URL without its scheme', () => {
  it('example.com: what to use', async () => {
    const {stderr, exitCode} = await (await sandbox()).run(['whoami', '--base-url', 'example.com']);
    expect(stderr).toBe(
      'media: The base URL is not a valid URL.\n  Use a URL with its scheme, such as https://api.example.com, or the word embedded.\n',
    );
    expect(exitCode).toBe(2);
  });

  it('with a password before it: not shown', async () => {
    const {stderr} = await (await sandbox()).run(['whoami', '--base-url', `me:${secret}@example.com`]);
    expect(stderr).not.toContain(secret);
  });
});

describe('a base URL that may contain a password: never shown', () => {
  it.each([
    `https://me:${secret}@media.example`,
    `https:me:${secret}@media.example`,
    `https://me:x/${secret}@media.example`,
    `https://media.example/?token=${secret}`,
    `me:${secret}@media.example`,
  ])('%s', async url => {
    const box = await sandbox({MEDIA_BASE_URL: url});
    const outputs = await Promise.all(
      [
        ['login'],
        ['login', '--key', 'key'],
        ['login', url],
        ['upload', '.', '--dry-run', '--no-once'],
        ['config', 'list'],
        ['config', 'list', '--json', '--base-url', url],
      ].map(words => box.run(words)),
    );
    const text = outputs.map(({stdout, stderr}) => `${stdout}${stderr}`).join('');
    expect(text).not.toContain(secret);
    expect(text).toContain('media login --key-stdin --base-url URL\n');
    expect(text).toContain('media upload --base-url URL -r .\n');
    expect(text).toContain('base-url=******** (from MEDIA_BASE_URL)\n');
  });
});

describe('characters of a shell: quoted in the hint', () => {
  const name = 'x; touch $(id)';

  it.each([
    ['of a profile that is chosen', ['login'], {}, `media login --key-stdin --profile '${name}'`],
    [
      'of a profile that is stored',
      ['upload', photo, '--profile', 'gone'],
      {[name]: {}},
      `Use --profile '${name}', or`,
    ],
    [
      'of a base URL',
      ['upload', photo, '--base-url', 'https://a.example/;touch$(id)', '--profile', 'own'],
      {own: {'key-command': 'echo key'}},
      "config set base-url 'https://a.example/;touch$(id)' --profile own",
    ],
  ])('%s', async (_what, words, profiles, hint) => {
    const box = await sandbox(words[0] === 'login' ? {MEDIA_PROFILE: name} : {});
    await mkdir(join(box.directory, 'config'), {mode: 0o700});
    await writeFile(join(box.directory, 'config/config.json'), JSON.stringify({profiles}), {mode: 0o600});
    expect((await box.run(words)).stderr).toContain(hint);
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
  it.each([
    ['upload', photo],
    ['graphql', '{__typename}'],
  ])('%s: the hint, pasted, logs in', async (...words) => {
    const {service, key} = await embeddedService();
    const box = await sandbox({MEDIA_API_KEY: secret});
    const {stderr, exitCode} = await box.run([...words, '--base-url', service.url]);
    expect(stderr).toContain('The key comes from MEDIA_API_KEY.');
    expect(stderr).not.toContain(secret);
    expect(exitCode).toBe(4);
    const command = commandIn(stderr);
    expect(command).toBe(`unset MEDIA_API_KEY; media login --key-stdin --base-url ${service.url}`);
    expect(await paste(box, command, key)).toMatchObject({exitCode: 0});
  });

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

describe('a certificate that is not accepted', () => {
  async function secureService(names: {type: 2; value: string}[], box: Sandbox): Promise<string> {
    const {private: key, cert} = await generate([{name: 'commonName', value: 'other.example'}], {
      extensions: [{name: 'subjectAltName', altNames: names}],
    } as Parameters<typeof generate>[1]);
    const server = createServer({key, cert}, (_request, response) => response.end());
    await listen(server);
    box.env['NODE_EXTRA_CA_CERTS'] = join(box.directory, 'authority.pem');
    await writeFile(box.env['NODE_EXTRA_CA_CERTS'], cert);
    return `https://localhost:${portOf(server)}`;
  }

  it('since it is for another name: that name, and no --cacert', async () => {
    const box = await sandbox({MEDIA_API_KEY: secret});
    const url = await secureService([{type: 2, value: 'other.example'}], box);
    const {stderr, exitCode} = await box.run(['upload', photo, '--base-url', url, '--retries', '0']);
    expect(stderr).toContain('was not accepted: it is for other.example.\n');
    expect(stderr).toContain('Use a name in the base URL that the certificate is for.\n');
    expect(stderr).not.toContain('--cacert');
    expect(exitCode).toBe(1);
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

  it.each([
    [
      hint`Try again then, or ${command('waitLonger', 300)}.`,
      'Try again then, or add --retry-max-wait 300s.',
      'Try again then, or set MEDIA_RETRY_MAX_WAIT=300s.',
    ],
    [
      hint`Wait longer for it with ${option('retryMaxWait')}.`,
      'Wait longer for it with --retry-max-wait.',
      'Wait longer for it with MEDIA_RETRY_MAX_WAIT.',
    ],
    [
      hint`Try again later${hint`, or allow more tries with ${option('retries')}`}.`,
      'Try again later, or allow more tries with --retries.',
      'Try again later.',
    ],
    [
      hint`On a very slow link, raise ${option('timeout')}.`,
      'On a very slow link, raise --timeout.',
      undefined,
    ],
    [
      hint`Set the type: ${option('contentType', 'image/png')}`,
      'Set the type: --content-type image/png',
      'Set the type: media upload --content-type image/png',
    ],
  ])('%j: %s, there %s', (template, ofUpload, expected) => {
    const error = new MediaError('rejected', 'No.', {hint: template});
    const outcome = outcomeOf({file: 'a.png', status: 'failed', error});
    const written = (other?: object) => withHints(outcome, errorWriter(outcome, undefined, '', other));
    expect(written({})).toHaveProperty('error.hint', expected);
    expect(written()).toHaveProperty('error.hint', ofUpload);
  });
});
