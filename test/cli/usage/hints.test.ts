import {copyFile, mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {errorWriter} from '../../../src/cli/hints/key-hints.ts';
import {withHints} from '../../../src/engine/transfer/outcome.ts';
import {MediaError} from '../../../src/errors.ts';
import {command, hint, option} from '../../../src/hint.ts';
import {connectedSandbox, embeddedService} from '../../support/embedded.ts';
import {fixture, sandbox} from '../../support/media.ts';
import {outcomeOf} from '../../support/outcomes.ts';
import {commandIn, paste, secret} from './paste.ts';

const photo = fixture('photo.png');

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
});

describe('a file that a command without options for the transfer could not upload', () => {
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
