import {chmod, mkdir, readdir, readFile, stat, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {deadUrl} from '../../engine/service/support.ts';
import {embeddedService} from '../../support/embedded.ts';
import {fixture, mediaCommand, type Sandbox, sandbox} from '../../support/media.ts';
import {scriptedServer, someRecord} from '../../support/scripted-server.ts';
import {configFile, expectNoKey, filesOf, key, login, profilesOf} from './logging-in.ts';

const photo = fixture('photo.png');

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o7777).toString(8);
}

/** A server that answers every request in this way. */
function answering(status: number, body: string, headers: Record<string, string> = {}) {
  return scriptedServer(async connection => {
    await connection.request();
    connection.answer(status, body, headers);
  });
}

describe('media login --key-stdin', () => {
  it('a key that the service accepts: stored for its origin, used by the next upload', async () => {
    const {service, key} = await embeddedService();
    const box = await sandbox();
    const {stdout, stderr, exitCode} = await login(box, `${service.url}/`, [], `${key}\n`);
    expect(stdout).toBe('');
    expect(stderr).toBe(
      `${new URL(service.url).host} accepted the key. It is stored in ${configFile(box)} (profile default).\n` +
        'To see whose key it is: media whoami\nTo upload a file: media upload FILE\n',
    );
    expect(exitCode).toBe(0);
    expect(await profilesOf(box)).toEqual({
      default: {
        ...{'base-url': service.url, key, 'key-origin': service.url, 'idempotency-keys': 'honoured'},
        'key-account': expect.stringMatching(/^[0-9a-f]{16}$/),
      },
    });
    const upload = await box.run(['upload', photo, '--template', '{id}\\n']);
    expect(upload).toMatchObject({stderr: '', exitCode: 0});
    const [stored] = await service.records();
    expect(upload.stdout).toBe(`${stored?.record.id}\n`);
    expect(await readFile(stored?.path ?? '')).toEqual(await readFile(photo));
  });

  it('a base URL with a path and slashes: kept without the slashes, the check goes to /graphql at the root', async () => {
    const {url, requests} = await answering(200, '{"data":{"__typename":"Query"}}');
    const box = await sandbox();
    expect(await login(box, `${url}/api/media//`)).toMatchObject({exitCode: 0});
    expect(await profilesOf(box)).toMatchObject({
      default: {'base-url': `${url}/api/media`, 'key-origin': url},
    });
    expect(requests[0]?.head[0]).toBe('POST /graphql HTTP/1.1');
    expect(requests[0]?.head).toContain(`authorization: Bearer ${key}`);
  });

  it('a service that declares no Idempotency-Key: nothing is noted of it', async () => {
    const {service, key} = await embeddedService({idempotency: false});
    const box = await sandbox();
    await login(box, service.url, [], key);
    expect((await profilesOf(box))['default']).toEqual({
      'base-url': service.url,
      key,
      'key-origin': service.url,
      'key-account': expect.any(String),
    });
  });

  it('a service that no longer declares Idempotency-Key: the note goes with the next login', async () => {
    const answers = ['?1', '?0'];
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      connection.answer(200, '{"data":{}}', {'accept-idempotency-key': answers.shift() ?? ''});
    });
    const box = await sandbox();
    await login(box, url);
    expect((await profilesOf(box))['default']).toMatchObject({'idempotency-keys': 'honoured'});
    await login(box, url);
    expect((await profilesOf(box))['default']).not.toHaveProperty('idempotency-keys');
  });

  it.each(['ignored', '0', '1', 'declared'])(
    'idempotency-keys=%s, set by the user: stays, whatever the service declares',
    async keys => {
      const {service, key} = await embeddedService();
      const box = await sandbox();
      await box.run(['config', 'set', 'base-url', service.url]);
      await box.run(['config', 'set', 'idempotency-keys', keys]);
      await login(box, service.url, [], `${key}\n`);
      await login(box, service.url, ['--no-verify'], `${key}\n`);
      expect((await profilesOf(box))['default']).toMatchObject({key, 'idempotency-keys': keys});
    },
  );

  it('--no-verify: stored without a request', async () => {
    const {url, requests} = await answering(401, '');
    const box = await sandbox();
    expect(await login(box, url, ['--no-verify'])).toMatchObject({exitCode: 0});
    expect(await profilesOf(box)).toMatchObject({default: {key}});
    expect(requests).toEqual([]);
  });

  it('--profile staging: stored beside the others, chosen by --profile and MEDIA_PROFILE', async () => {
    const {service, key} = await embeddedService();
    const box = await sandbox();
    await login(box, 'https://api.example.com', ['--no-verify']);
    expect(await login(box, service.url, ['--profile', 'staging'], key)).toMatchObject({exitCode: 0});
    expect(Object.keys(await profilesOf(box))).toEqual(['default', 'staging']);
    const byFlag = await box.run(['upload', photo, '--profile', 'staging', '--template', '{id}\\n']);
    const byVariable = await box.run(['upload', photo, '--template', '{id}\\n'], {
      env: {...box.env, MEDIA_PROFILE: 'staging'},
    });
    expect([byFlag.exitCode, byVariable.exitCode]).toEqual([0, 0]);
    expect(await service.records()).toHaveLength(2);
  });

  it.each(['../x', '__proto__'])('--profile %j: a usage error', async name => {
    const box = await sandbox();
    const {stderr, exitCode} = await login(box, 'https://api.example.com', [
      '--no-verify',
      '--profile',
      name,
    ]);
    expect(stderr).toContain(`"${name}" is not a valid profile name.`);
    expect(exitCode).toBe(2);
    expect(await filesOf(box)).toEqual([]);
  });

  it('a second login to another origin: what belonged to the first origin is forgotten', async () => {
    const box = await sandbox();
    await login(box, 'https://one.example', ['--no-verify']);
    await box.run(['config', 'set', 'graphql-url', 'https://one.example/internal']);
    await box.run(['config', 'set', 'idempotency-keys', 'honoured']);
    await login(box, 'https://two.example', ['--no-verify']);
    expect(await profilesOf(box)).toEqual({
      default: {'base-url': 'https://two.example', key, 'key-origin': 'https://two.example'},
    });
  });
});

describe('a login that stores nothing', () => {
  it('off a terminal without --key-stdin: a usage error at once, naming both ways', async () => {
    const {url, requests} = await answering(200, '{"data":{}}');
    const box = await sandbox();
    const {stdout, stderr, exitCode} = await box.run(['login', '--base-url', url], {stdin: 'pipe'});
    expect(stdout).toBe('');
    expect(stderr).toBe(
      'media: There is no terminal to ask for the key.\n' +
        `  Set MEDIA_API_KEY instead of logging in, or pipe the key in: media login --key-stdin --base-url ${url}\n`,
    );
    expect(exitCode).toBe(2);
    expect(requests).toEqual([]);
    expect(await filesOf(box)).toEqual([]);
  });

  it('--key-stdin without a base URL: a usage error', async () => {
    const box = await sandbox();
    const {stderr, exitCode} = await box.run(['login', '--key-stdin'], {stdin: 'pipe', input: key});
    expect(stderr).toContain('No base URL is set.');
    expect(exitCode).toBe(2);
  });

  it('--base-url embedded: there is nothing to log in to', async () => {
    const {stderr, exitCode} = await login(await sandbox(), 'embedded');
    expect(stderr).toContain('The embedded service needs no login.');
    expect(exitCode).toBe(2);
  });

  it('a key that the service does not know (401): exit 4', async () => {
    const {service} = await embeddedService();
    const box = await sandbox();
    const {stderr, exitCode} = await login(box, service.url);
    expect(stderr).toContain('does not know this API key (401)');
    expect(stderr).toContain('Nothing was stored.');
    expect(exitCode).toBe(4);
    expect(await filesOf(box)).toEqual([]);
  });

  it('a key that is no longer known: the one stored before stays', async () => {
    const {service, key} = await embeddedService();
    const box = await sandbox();
    await login(box, service.url, [], key);
    const before = await readFile(configFile(box), 'utf8');
    expect(await login(box, service.url)).toMatchObject({exitCode: 4});
    expect(await readFile(configFile(box), 'utf8')).toBe(before);
  });

  it('a service that cannot be reached: exit 6, --no-verify is named', async () => {
    const url = await deadUrl();
    const box = await sandbox();
    const {stderr, exitCode} = await login(box, url);
    expect(stderr).toContain('the connection was refused');
    expect(stderr).toContain('--no-verify');
    expect(exitCode).toBe(6);
    expect(await filesOf(box)).toEqual([]);
  });

  it.each([
    ['a redirect', 302, ''],
    ['a web page', 200, '<html></html>'],
    ['JSON that is no GraphQL', 200, '{"status":"ok"}'],
    ['a failure', 500, '{"code":1,"message":"out of order"}'],
  ])('%s in answer to the check: exit 1', async (_name, status, body) => {
    const {url} = await answering(status, body, {location: 'https://elsewhere.example/'});
    const box = await sandbox();
    const {stderr, exitCode} = await login(box, url);
    expect(stderr).toContain('could not check the key');
    expect(exitCode).toBe(1);
    expect(await filesOf(box)).toEqual([]);
  });

  it.each([
    ['two lines', 'mk_first\nmk_second\n'],
    ['a space', 'mk_first mk_second'],
    ['a letter past ASCII', 'mk_schlüssel'],
    ['nothing', ''],
    ['100 kB', 'k'.repeat(100_000)],
  ])('a key with %s: a usage error, nothing sent', async (_name, input) => {
    const {url, requests} = await answering(200, '{"data":{}}');
    const box = await sandbox();
    const {stdout, stderr, exitCode} = await login(box, url, [], input);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 2});
    expect(stderr).not.toContain('mk_');
    expect(requests).toEqual([]);
    expect(await filesOf(box)).toEqual([]);
  });

  it.each([
    [
      'MEDIA_API_KEY=mk_first',
      'begins with MEDIA_API_KEY=, which is not part of it.',
      'what follows MEDIA_API_KEY=',
    ],
    ["export API_TOKEN='mk_first'", 'begins with export API_TOKEN=,', 'what follows export API_TOKEN='],
    ['Authorization: Bearer mk_first', 'begins with Authorization: Bearer,', 'follows Authorization: Bearer'],
    ['"mk_first"', 'is in quotation marks', 'Leave out the quotation marks.'],
    ["'mk_first'", 'is in quotation marks', 'Leave out the quotation marks.'],
  ])(
    '%s: a usage error that shows what to leave out, on standard input and in the environment',
    async (text, ...parts) => {
      const {url, requests} = await answering(200, '{"data":{}}');
      const box = await sandbox();
      const runs = await Promise.all([
        login(box, url, [], text),
        box.run(['whoami'], {env: {...box.env, MEDIA_BASE_URL: url, MEDIA_API_KEY: text}}),
      ]);
      for (const {stderr, exitCode} of runs) {
        for (const part of parts) expect(stderr).toContain(part);
        expect(stderr).not.toContain('first');
        expect(exitCode).toBe(2);
      }
      expect(requests).toEqual([]);
    },
  );

  it('a key with white space around it: stored without', async () => {
    const box = await sandbox();
    expect(await login(box, 'https://api.example.com', ['--no-verify'], `  ${key}\r\n`)).toMatchObject({
      exitCode: 0,
    });
    expect(await profilesOf(box)).toMatchObject({default: {key}});
  });
});

describe('a key that the check cannot vouch for', () => {
  it.each([403, 404])('%i in response to the check: stored with a warning', async status => {
    const {url} = await answering(status, '{"code":7,"message":"no"}');
    const box = await sandbox();
    const {stderr, exitCode} = await login(box, url);
    expect(stderr).toContain(`warning: ${new URL(url).host} returned ${status} for the check`);
    expect(exitCode).toBe(0);
    expect(await profilesOf(box)).toMatchObject({default: {key, 'base-url': url}});
  });

  it('a key for uploads alone: stored with a warning, uploads', async () => {
    const {service} = await embeddedService();
    const key = await service.createKey({permissions: ['upload']});
    const box = await sandbox();
    expect((await login(box, service.url, [], key)).stderr).toContain('this may be a key for uploads only');
    expect(await box.run(['upload', photo])).toMatchObject({exitCode: 0});
  });
});

describe('base URLs', () => {
  it.each([
    ['http://media.example', 'The key would go to media.example unencrypted'],
    ['https://user:password@media.example', 'contains a user name or password'],
    ['https://media.example/?a=b', 'has a query or a fragment'],
    ['media.example:port', 'is not a valid URL'],
  ])('%s: a usage error before anything is asked or sent', async (url, sentence) => {
    const box = await sandbox();
    const runs = await Promise.all([
      login(box, url),
      box.run(['upload', photo, '--base-url', url], {env: {...box.env, MEDIA_API_KEY: key}}),
      box.run(['whoami'], {env: {...box.env, MEDIA_API_KEY: key, MEDIA_BASE_URL: url}}),
      box.run(['config', 'set', 'base-url', url]),
    ]);
    for (const {stdout, stderr, exitCode} of runs) {
      expect(stderr).toContain(sentence);
      expect(stderr).not.toContain('password@');
      expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 2});
    }
  });

  it.each([
    ['media.example', 'https://media.example'],
    ['media.example:8443/api/', 'https://media.example:8443/api'],
    ['localhost:4010', 'http://localhost:4010'],
  ])('a bare host, %s: stored as %s', async (typed, url) => {
    const box = await sandbox();
    expect(await login(box, typed, ['--no-verify'])).toMatchObject({exitCode: 0});
    expect(await profilesOf(box)).toMatchObject({default: {'base-url': url}});
  });

  it('http://media.example with --allow-http: taken', async () => {
    const box = await sandbox();
    expect(await login(box, 'http://media.example', ['--no-verify', '--allow-http'])).toMatchObject({
      exitCode: 0,
    });
    const {stderr, exitCode} = await box.run(['upload', photo]);
    expect(stderr).toContain('unencrypted');
    expect(exitCode).toBe(2);
  });
});

describe('the key and its origin', () => {
  it('another --base-url: the stored key is not sent there', async () => {
    const first = await scriptedServer(connection => connection.answer(200, someRecord));
    const second = await scriptedServer(connection => connection.answer(200, someRecord));
    let connections = 0;
    second.server.on('connection', () => {
      connections += 1;
    });
    const box = await sandbox();
    await login(box, first.url, ['--no-verify']);
    const runs = await Promise.all([
      box.run(['upload', photo, '--base-url', second.url]),
      box.run(['graphql', '{__typename}', '--base-url', second.url]),
      box.run(['upload', photo], {env: {...box.env, MEDIA_BASE_URL: second.url}}),
    ]);
    for (const {stderr, exitCode} of runs) {
      expect(stderr).toContain(`The stored key belongs to ${first.url} and is not sent to ${second.url}.`);
      expect(exitCode).toBe(4);
    }
    const whoami = await box.run(['whoami', '--base-url', second.url]);
    expect(whoami.stdout).toContain(`The stored key belongs to ${first.url}`);
    expect(whoami.exitCode).toBe(4);
    expect(connections).toBe(0);
  });

  it('localhost instead of 127.0.0.1: another origin', async () => {
    const {url} = await answering(200, someRecord);
    const box = await sandbox();
    await login(box, url, ['--no-verify']);
    expect(
      await box.run(['upload', photo, '--base-url', url.replace('127.0.0.1', 'localhost')]),
    ).toMatchObject({exitCode: 4});
  });

  it('config set base-url to another origin: the key is not sent there', async () => {
    const {url, requests} = await answering(200, someRecord);
    const box = await sandbox();
    await login(box, 'https://one.example', ['--no-verify']);
    await box.run(['config', 'set', 'base-url', url]);
    expect(await box.run(['upload', photo])).toMatchObject({exitCode: 4});
    expect(requests).toEqual([]);
  });

  it('graphql-url at another origin: the stored key is not sent there, MEDIA_API_KEY is', async () => {
    const {url, requests} = await answering(200, '{"data":{}}');
    const box = await sandbox();
    await login(box, 'https://one.example', ['--no-verify']);
    await box.run(['config', 'set', 'graphql-url', `${url}/graph`]);
    const {stderr, exitCode} = await box.run(['graphql', '{__typename}']);
    expect(stderr).toContain('A stored key is sent only to https://one.example');
    expect(exitCode).toBe(2);
    expect(requests).toEqual([]);
    const given = await box.run(['graphql', '{__typename}'], {env: {...box.env, MEDIA_API_KEY: 'mk_given'}});
    expect(given).toMatchObject({stdout: '{"data":{}}\n', exitCode: 0});
    expect(requests[0]?.head[0]).toBe('POST /graph HTTP/1.1');
    expect(requests[0]?.head).toContain('authorization: Bearer mk_given');
  });

  it.each([
    ['after a login', (box: Sandbox, url: string) => login(box, url, ['--no-verify'])],
    ['before the first login', (box: Sandbox, url: string) => box.run(['config', 'set', 'base-url', url])],
  ])(
    'graphql-url at another origin, %s: login sends the key to neither, and says what to unset',
    async (_, set) => {
      const own = await answering(200, '{"data":{}}');
      const other = await answering(200, '{"data":{}}');
      const box = await sandbox();
      await set(box, own.url);
      await box.run(['config', 'set', 'graphql-url', `${other.url}/graph`]);
      const before = await profilesOf(box);
      const {stdout, stderr, exitCode} = await login(box, own.url);
      expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 2});
      expect(stderr).toContain(
        `A stored key is sent only to ${own.url}, but graphql-url is at ${other.url}.`,
      );
      expect([...own.requests, ...other.requests]).toEqual([]);
      expect(await profilesOf(box)).toEqual(before);
      await box.run(/run: media (config unset .*)/.exec(stderr)?.[1]?.split(' ') ?? []);
      expect(await login(box, own.url)).toMatchObject({exitCode: 0});
      expect(other.requests).toEqual([]);
    },
  );

  it('graphql-url at the same origin: login checks the key there', async () => {
    const {url, requests} = await answering(200, '{"data":{}}');
    const box = await sandbox();
    for (const [name, value] of [
      ['base-url', url],
      ['graphql-url', `${url}/graph`],
    ] as const)
      await box.run(['config', 'set', name, value]);
    expect(await login(box, url)).toMatchObject({exitCode: 0});
    expect(requests.map(({head}) => head[0])).not.toContain('POST /graphql HTTP/1.1');
    expect(requests[0]?.head[0]).toBe('POST /graph HTTP/1.1');
  });

  it('graphql-url over plain http to another machine: a usage error without --allow-http', async () => {
    const box = await sandbox();
    await login(box, 'https://one.example', ['--no-verify']);
    await box.run(['config', 'set', 'graphql-url', 'http://one.example/graph', '--allow-http']);
    const {stderr, exitCode} = await box.run(['graphql', '{__typename}'], {
      env: {...box.env, MEDIA_API_KEY: key},
    });
    expect(stderr).toContain('unencrypted');
    expect(exitCode).toBe(2);
  });

  it('MEDIA_API_KEY: goes to whatever base URL is in force, before the stored key', async () => {
    const {url, requests} = await answering(200, someRecord);
    const box = await sandbox();
    await login(box, 'https://one.example', ['--no-verify']);
    const {exitCode} = await box.run(['upload', photo, '--base-url', url], {
      env: {...box.env, MEDIA_API_KEY: 'mk_given'},
    });
    expect(exitCode).toBe(0);
    expect(requests[0]?.head).toContain('authorization: Bearer mk_given');
  });

  it('settings in the working directory: never read', async () => {
    const box = await sandbox();
    const decoy = JSON.stringify({
      profiles: {default: {'base-url': 'http://127.0.0.1:1', key, 'key-origin': 'http://127.0.0.1:1'}},
    });
    for (const name of ['.env', 'config.json', '.mediarc', 'media.json']) {
      await writeFile(
        join(box.directory, name),
        name === '.env' ? `MEDIA_API_KEY=${key}\nMEDIA_BASE_URL=http://127.0.0.1:1\n` : decoy,
      );
    }
    const {stderr, exitCode} = await box.run(['upload', photo]);
    expect(stderr).toContain('Nothing is configured yet');
    expect(exitCode).toBe(4);
  });
});

describe('the settings file', () => {
  it('under umask 000: 0600 in a directory of 0700, and nothing else in it', async () => {
    const box = await sandbox();
    const {exitCode} = await login(box, 'https://one.example', ['--no-verify'], key);
    expect(exitCode).toBe(0);
    const open = await sandbox();
    await execa(
      'sh',
      [
        '-c',
        'umask 000; exec "$@"',
        'sh',
        ...mediaCommand,
        'login',
        '--base-url',
        'https://one.example',
        '--key-stdin',
        '--no-verify',
      ],
      {
        input: key,
        env: open.env,
        extendEnv: false,
      },
    );
    for (const {directory} of [box, open]) {
      expect(await modeOf(join(directory, 'config'))).toBe('700');
      expect(await modeOf(join(directory, 'config/config.json'))).toBe('600');
      expect(await readdir(join(directory, 'config'))).toEqual(['config.json']);
    }
  });

  it('a file that others may read: repaired by the next command; its directory stays as it is', async () => {
    const box = await sandbox();
    await login(box, 'https://one.example', ['--no-verify']);
    await chmod(configFile(box), 0o644);
    await chmod(join(box.directory, 'config'), 0o755);
    expect(await box.run(['config', 'get', 'base-url'])).toMatchObject({
      stdout: 'https://one.example\n',
      exitCode: 0,
    });
    expect(await modeOf(configFile(box))).toBe('600');
    expect(await modeOf(join(box.directory, 'config'))).toBe('755');
  });

  it('a symbolic link in place of the file: refused, neither read nor written through', async () => {
    const box = await sandbox();
    await mkdir(join(box.directory, 'config'));
    const target = join(box.directory, 'target.json');
    await writeFile(target, '{"profiles":{"default":{"base-url":"https://planted.example"}}}');
    await symlink(target, configFile(box));
    const before = await readFile(target, 'utf8');
    for (const run of [
      box.run(['config', 'get', 'base-url']),
      login(box, 'https://one.example', ['--no-verify']),
    ]) {
      const {stdout, stderr, exitCode} = await run;
      expect(stderr).toContain('is a symbolic link, so it is not trusted with a key.');
      expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    }
    expect(await readFile(target, 'utf8')).toBe(before);
  });

  it('a directory in place of the file: refused', async () => {
    const box = await sandbox();
    await mkdir(configFile(box), {recursive: true});
    const {stderr, exitCode} = await box.run(['whoami']);
    expect(stderr).toContain('is not a regular file');
    expect(exitCode).toBe(1);
  });

  it('a symbolic link in place of the directory: followed, and the mode of its target kept', async () => {
    const box = await sandbox();
    const target = join(box.directory, 'elsewhere');
    await mkdir(target, {mode: 0o755});
    await symlink(target, join(box.directory, 'config'));
    expect(await login(box, 'https://one.example', ['--no-verify'])).toMatchObject({exitCode: 0});
    expect(await modeOf(target)).toBe('755');
    expect(await modeOf(join(target, 'config.json'))).toBe('600');
  });

  it('a directory that users share: refused, its mode left as it is', async () => {
    const box = await sandbox();
    const shared = join(box.directory, 'shared');
    await mkdir(shared);
    await chmod(shared, 0o1777);
    await symlink(shared, join(box.directory, 'config'));
    const {stderr, exitCode} = await login(box, 'https://one.example', ['--no-verify']);
    expect(stderr).toContain('is a directory that users share');
    expect(exitCode).toBe(1);
    expect(await modeOf(shared)).toBe('1777');
    expect(await readdir(shared)).toEqual([]);
  });

  it.each([
    ['no JSON', '{"profiles": {'],
    ['a setting that is no string', '{"profiles":{"default":{"key":7}}}'],
  ])(
    '%s in it: a sentence that says so; MEDIA_API_KEY and MEDIA_BASE_URL work all the same',
    async (_name, text) => {
      const {service, key} = await embeddedService();
      const box = await sandbox();
      await mkdir(join(box.directory, 'config'));
      await writeFile(configFile(box), text);
      const {stdout, stderr, exitCode} = await box.run(['upload', photo]);
      expect(stderr).toMatch(/^media: The settings file .*config\.json is damaged: it /);
      expect(stderr).toContain('MEDIA_API_KEY and MEDIA_BASE_URL work without it.');
      expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
      const env = {...box.env, MEDIA_API_KEY: key, MEDIA_BASE_URL: service.url};
      expect(await box.run(['upload', photo], {env})).toMatchObject({exitCode: 0, stderr: ''});
      expect(await readFile(configFile(box), 'utf8')).toBe(text);
    },
  );
});

describe('the key in what is printed', () => {
  it('a stored key that the service knows: nowhere, also with --verbose and in every failure', () =>
    expectNoKey('stored', 'known'));
});
