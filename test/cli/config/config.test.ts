import {copyFile, readdir, readFile, writeFile} from 'node:fs/promises';
import {createServer, type ServerResponse} from 'node:http';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {listen, portOf} from '../../support/loopback.ts';
import {fixture, mediaCommand, sandbox} from '../../support/media.ts';
import {makeCertificate} from '../../support/tls.ts';

/** What `media config list` prints where nothing is set. */
const defaults = [
  'idempotency-keys=declared',
  'once=false',
  ...['concurrency=auto', 'limit-rate=none', 'retry-max-wait=5m'],
];
const asListed = (lines: readonly string[]) => lines.map(line => `${line} (default)\n`).join('');
/** What `media config list` prints, without the profiles and the path of the file. */
const settingsIn = ({stdout}: {stdout?: unknown}) =>
  String(stdout).replace(/Profiles: .+\nSettings file: .+\n$/, '');

describe('media config', () => {
  it('list: where the settings are stored, before there are any', async () => {
    const box = await sandbox();
    const path = join(box.directory, 'config/config.json');
    expect(await box.run(['config', 'list'])).toMatchObject({
      stdout: `${asListed(defaults)}Profiles: none\nSettings file: ${path}\n`,
      stderr: '',
      exitCode: 0,
    });
    const {MEDIA_CONFIG_DIR, ...env} = box.env;
    const {stdout} = await box.run(['config', 'list', '--json'], {
      env: {...env, XDG_CONFIG_HOME: join(box.directory, 'xdg')},
    });
    expect(JSON.parse(stdout)).toMatchObject({
      profiles: [],
      path: join(box.directory, 'xdg/media/config.json'),
    });
  });

  it('set, get, list and unset of each setting', async () => {
    const box = await sandbox();
    const settings: [string, string, string][] = [
      ['base-url', 'https://api.example.com/v2//', 'https://api.example.com/v2'],
      ['graphql-url', 'https://api.example.com/graph', 'https://api.example.com/graph'],
      ['cacert', 'ca.pem', join(box.directory, 'ca.pem')],
      ['idempotency-keys', 'honoured', 'honoured'],
    ];
    await writeFile(join(box.directory, 'ca.pem'), (await makeCertificate([])).certificate);
    for (const [name, given] of settings) {
      expect(await box.run(['config', 'set', name, given])).toMatchObject({
        stdout: '',
        stderr: '',
        exitCode: 0,
      });
    }
    expect(settingsIn(await box.run(['config', 'list']))).toBe(
      settings.map(([name, , kept]) => `${name}=${kept} (from profile default)\n`).join('') +
        asListed(defaults.slice(1)),
    );
    for (const [name, , kept] of settings) {
      expect(await box.run(['config', 'get', name])).toMatchObject({stdout: `${kept}\n`, exitCode: 0});
    }
    expect(await box.run(['config', 'unset', 'cacert'])).toMatchObject({stdout: '', stderr: '', exitCode: 0});
    expect(await box.run(['config', 'get', 'cacert'])).toMatchObject({stdout: '', stderr: '', exitCode: 1});
    expect(await box.run(['config', 'unset', 'cacert'])).toMatchObject({exitCode: 0});
  });

  it('--profile before and after, and MEDIA_PROFILE: the same profile', async () => {
    const box = await sandbox();
    await box.run(['--profile', 'staging', 'config', 'set', 'base-url', 'embedded']);
    expect((await box.run(['config', 'get', 'base-url', '--profile', 'staging'])).stdout).toBe('embedded\n');
    expect(settingsIn(await box.run(['config', 'list'], {env: {...box.env, MEDIA_PROFILE: 'staging'}}))).toBe(
      `base-url=embedded (from profile staging)\n${asListed(defaults)}`,
    );
    expect(settingsIn(await box.run(['config', 'list']))).toBe(asListed(defaults));
  });

  it.each([
    [['get', 'key'], 'There is no setting "key".'],
    [['set', 'key', 'mk_x'], 'There is no setting "key".'],
    [['set', 'idempotency-keys', 'yes'], '"yes" is not a value of idempotency-keys.'],
    [['set', 'base-url'], "Missing required argument 'value'"],
    [['set', 'base-url', 'https://a.example', 'more'], 'Too many arguments'],
    [['profiles'], "Unknown command 'profiles'."],
  ])('%j: a usage error', async (parameters, sentence) => {
    const {stdout, stderr, exitCode} = await (await sandbox()).run(['config', ...parameters]);
    expect(stderr).toContain(sentence);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 2});
  });

  it.each(['base_url', 'baseUrl', 'MEDIA_BASE_URL'])('%s: the setting that is meant', async name => {
    const {stderr, exitCode} = await (await sandbox()).run(['config', 'set', name, 'https://a.example']);
    expect(stderr).toBe(`media: There is no setting "${name}".\n  Did you mean base-url?\n`);
    expect(exitCode).toBe(2);
  });

  it('a settings file with a byte order mark, as Windows tools write: read', async () => {
    const box = await sandbox();
    await box.run(['config', 'set', 'base-url', 'https://a.example']);
    const path = join(box.directory, 'config/config.json');
    await writeFile(path, `\ufeff${await readFile(path, 'utf8')}`);
    const {stdout, stderr} = await box.run(['config', 'get', 'base-url']);
    expect({stdout, stderr}).toEqual({stdout: 'https://a.example\n', stderr: ''});
  });

  it('a stored key: never among the settings, kept when one changes', async () => {
    const box = await sandbox();
    await box.run(['login', '--base-url', 'https://a.example', '--key-stdin', '--no-verify'], {
      stdin: 'pipe',
      input: 'mk_key',
    });
    await box.run(['config', 'set', 'idempotency-keys', 'ignored']);
    expect(settingsIn(await box.run(['config', 'list']))).toBe(
      `base-url=https://a.example (from profile default)\nidempotency-keys=ignored (from profile default)\n${asListed(defaults.slice(1))}`,
    );
    expect(await readFile(join(box.directory, 'config/config.json'), 'utf8')).toContain('mk_key');
  });

  it.each([['list'], ['get', 'base-url'], ['unset', 'base-url']])(
    '%s of a profile that is not there: those that are, exit 1',
    async (...parameters) => {
      const box = await sandbox();
      for (const profile of ['staging', 'default'])
        await box.run(['config', 'set', 'base-url', 'embedded', '--profile', profile]);
      expect(await box.run(['config', ...parameters, '--profile', 'stagin'])).toMatchObject({
        stdout: '',
        stderr: 'media: There is no profile "stagin".\n  Use --profile staging or --profile default.\n',
        exitCode: 1,
      });
    },
  );

  it('more profiles than fit in a hint: their number, and the command that lists them', async () => {
    const box = await sandbox();
    await box.run(['config', 'set', 'once', 'true', '--profile', 'a0']);
    const path = join(box.directory, 'config/config.json');
    const profiles = Object.fromEntries(Array.from({length: 12}, (_, at) => [`a${at}`, {once: 'true'}]));
    await writeFile(path, JSON.stringify({profiles}));
    const {stderr} = await box.run(['config', 'list', '--profile', 'b']);
    expect(stderr).toContain(
      '\n  Use one of the 12 profiles that media config list --profile default names.\n',
    );
    expect((await box.run(['config', 'list', '--profile', 'default'])).stdout).toContain('Profiles: a0, a1,');
  });

  it('a host name with dots as a profile: kept whole', async () => {
    const box = await sandbox();
    await box.run(['config', 'set', 'base-url', 'embedded', '--profile', 'api.example.com']);
    expect((await box.run(['config', 'get', 'base-url', '--profile', 'api.example.com'])).stdout).toBe(
      'embedded\n',
    );
    expect((await box.run(['config', 'get', 'base-url', '--profile', 'api'])).exitCode).toBe(1);
  });

  it('six changes at once: all of them survive', async () => {
    const box = await sandbox();
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    await Promise.all(
      names.map(name => box.run(['config', 'set', 'base-url', `https://${name}.example`, '--profile', name])),
    );
    const {profiles} = JSON.parse(await readFile(join(box.directory, 'config/config.json'), 'utf8'));
    expect(Object.keys(profiles).sort()).toEqual(names);
  });

  it.skipIf(process.platform === 'win32')('a disk with room for a part of the file: it stays', async () => {
    const box = await sandbox();
    await box.run(['config', 'set', 'key-command', `pass show ${'k'.repeat(8_000)}`]);
    const path = join(box.directory, 'config/config.json');
    const before = await readFile(path, 'utf8');
    // A limit on the size of files, in 512-byte blocks, is the disk's end without a disk.
    const words = ['-c', 'ulimit -f 8; exec "$@"', 'sh', ...mediaCommand, 'config', 'set', 'once', 'true'];
    const set = execa('sh', words, {env: box.env, extendEnv: false, reject: false, stdin: 'ignore'});
    expect(await set).toMatchObject({
      stderr: expect.stringContaining(`${path} could not be written`),
      exitCode: 1,
    });
    expect(await readFile(path, 'utf8')).toBe(before);
    expect(await readdir(join(box.directory, 'config'))).toEqual(['config.json']);
  });
});

describe('where a value comes from', () => {
  it('media config list: the option, else the variable, else the profile', async () => {
    const box = await sandbox();
    await box.run(['config', 'set', 'base-url', 'https://a.example', '--profile', 'work']);
    await box.run(['config', 'set', 'once', 'true', '--profile', 'work']);
    const env = {...box.env, MEDIA_PROFILE: 'work', MEDIA_BASE_URL: 'https://me:s/cret@b.example'};
    const list = ['config', 'list', '--cacert', 'my.pem'];
    expect(settingsIn(await box.run(list, {env}))).toBe(
      'base-url=******** (from MEDIA_BASE_URL)\n' +
        'cacert=my.pem (from --cacert)\n' +
        'idempotency-keys=declared (default)\n' +
        'once=true (from profile work)\n' +
        asListed(defaults.slice(2)),
    );
    const {stdout} = await box.run([...list, '--json', '--base-url', 'https://c.example'], {env});
    expect(JSON.parse(stdout).settings).toEqual([
      {name: 'base-url', value: 'https://c.example', source: '--base-url'},
      {name: 'cacert', value: 'my.pem', source: '--cacert'},
      {name: 'idempotency-keys', value: 'declared', source: 'default'},
      {name: 'once', value: 'true', source: 'profile work'},
      {name: 'concurrency', value: 'auto', source: 'default'},
      {name: 'limit-rate', value: 'none', source: 'default'},
      {name: 'retry-max-wait', value: '5m', source: 'default'},
    ]);
  });

  it('media config list with the base URL of another service: not what belongs to that of the profile', async () => {
    const box = await sandbox();
    await box.run(['config', 'set', 'base-url', 'https://a.example']);
    await box.run(['config', 'set', 'graphql-url', 'https://a.example/graph']);
    await box.run(['config', 'set', 'limit-rate', '2M']);
    const namesFor = async (...parameters: string[]) => {
      const {stdout} = await box.run(['config', 'list', '--json', ...parameters]);
      const {settings} = JSON.parse(stdout) as {settings: {name: string; source: string}[]};
      return settings.filter(({source}) => source === 'profile default').map(({name}) => name);
    };
    expect(await namesFor()).toEqual(['base-url', 'graphql-url', 'limit-rate']);
    expect(await namesFor('--base-url', 'https://a.example/v2')).toEqual(['graphql-url', 'limit-rate']);
    expect(await namesFor('--base-url', 'https://b.example')).toEqual(['limit-rate']);
  });

  it('media config list: a value that nothing accepts is named, with the reason and where it comes from', async () => {
    const box = await sandbox();
    await box.run(['config', 'set', 'once', 'true']);
    const path = join(box.directory, 'config/config.json');
    await writeFile(path, JSON.stringify({profiles: {default: {once: 'perhaps'}}}));
    const env = {...box.env, MEDIA_CONCURRENCY: 'many', MEDIA_BASE_URL: 'https://me:s3cret@b.example'};
    const {stdout, stderr, exitCode} = await box.run(['config', 'list', '--cacert', 'none.pem'], {env});
    expect(stdout).toContain('concurrency=many (from MEDIA_CONCURRENCY)\n');
    expect(stderr).toMatch(/^warning: base-url cannot be used: .*MEDIA_BASE_URL/m);
    expect(stderr).toMatch(/^warning: cacert cannot be used: .*none\.pem/m);
    expect(stderr).toMatch(/^warning: once cannot be used: "perhaps" is not a value of once\./m);
    expect(stderr).toMatch(/^warning: concurrency cannot be used: "many" is not a value of concurrency\./m);
    expect(`${stdout}${stderr}`).not.toContain('s3cret');
    expect(exitCode).toBe(0);
  });

  it('how fast files are sent: the option, else the variable, else the profile, and nothing else', async () => {
    let most = 0;
    const waiting: ServerResponse[] = [];
    const busy = createServer((request, response) => {
      most = Math.max(most, waiting.push(response));
      const header = {'Retry-After': '7200', 'Content-Type': 'application/json'};
      request.resume().on('end', () => {
        waiting.splice(waiting.indexOf(response), 1);
        response.writeHead(429, header).end('{"code":429,"message":"Later."}');
      });
    });
    await listen(busy);
    const url = `http://127.0.0.1:${portOf(busy)}`;
    const box = await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: 'key'});
    const speed = {concurrency: '2', 'limit-rate': '900K', 'retry-max-wait': '1s'};
    for (const [name, value] of Object.entries(speed))
      expect(await box.run(['config', 'set', name, value])).toMatchObject({exitCode: 0, stderr: ''});
    const strange = {...speed, concurrency: '77', once: 'true', 'base-url': 'https://evil.example'};
    for (const name of ['config.json', '.media.json', '.mediarc', 'package.json'])
      await writeFile(
        join(box.directory, name),
        JSON.stringify({media: strange, profiles: {default: strange}}),
      );
    await writeFile(join(box.directory, '.env'), 'MEDIA_CONCURRENCY=77\nMEDIA_LIMIT_RATE=1\n');
    const env = {...box.env, MEDIA_LIMIT_RATE: 'none', MEDIA_CONCURRENCY: ''};
    expect(JSON.parse((await box.run(['config', 'list', '--json'], {env})).stdout).settings.slice(2)).toEqual(
      [
        {name: 'once', value: 'false', source: 'default'},
        {name: 'concurrency', value: '2', source: 'profile default'},
        {name: 'limit-rate', value: 'none', source: 'MEDIA_LIMIT_RATE'},
        {name: 'retry-max-wait', value: '1s', source: 'profile default'},
      ],
    );
    const photos = Array.from({length: 6}, (_, index) => `${index}.png`);
    for (const name of photos) await copyFile(fixture('photo.png'), join(box.directory, name));
    // A longer Retry-After than the profile allows is not waited for.
    const limited = await box.run(['upload', ...photos]);
    expect(limited).toMatchObject({exitCode: 1, stderr: expect.stringContaining('wait 2 hours')});
    expect(most).toBeLessThanOrEqual(2);
    most = 0;
    await box.run(['upload', ...photos], {env: {...env, MEDIA_CONCURRENCY: '1'}});
    expect(most).toBe(1);
    const wrong = {...env, MEDIA_CONCURRENCY: '0'};
    for (const command of [
      ['upload', ...photos],
      ['upload', '--dry-run', ...photos],
    ])
      expect(await box.run(command, {env: wrong})).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining(
          '"0" is not a value of concurrency.\n  It comes from MEDIA_CONCURRENCY (to remove it: unset MEDIA_CONCURRENCY). Use a whole',
        ),
      });
    expect((await box.run(['doctor'], {env: wrong})).stdout).toContain('"0" is not a value of concurrency.');
    // The key is asked about anyway.
    expect((await box.run(['whoami'], {env: wrong})).stderr).not.toContain('concurrency');
    expect(await box.run(['config', 'set', 'limit-rate', 'fast'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('none.'),
    });
  });

  it('a value that cannot be used: its source, and the command that removes it there', async () => {
    const box = await sandbox();
    const {certificate: cert, key} = await makeCertificate([]);
    await writeFile(join(box.directory, 'ca.pem'), cert);
    await writeFile(join(box.directory, 'key.pem'), key);
    const settings = {
      'base-url': 'http://127.0.0.1:9',
      cacert: 'ca.pem',
      'client-cert': 'ca.pem',
      'client-key': 'key.pem',
    };
    for (const [name, value] of Object.entries(settings))
      expect(await box.run(['config', 'set', name, value, '--profile', 'work'])).toMatchObject({exitCode: 0});
    const refusal = async (variables: Record<string, string> = {}, profile = 'work') => {
      const env = {...box.env, MEDIA_API_KEY: 'key', ...variables};
      return (await box.run(['whoami', '--profile', profile], {env})).stderr;
    };
    const removing = (name: string) =>
      `profile work (to remove it: media config unset ${name} --profile work)`;
    await writeFile(join(box.directory, 'ca.pem'), 'hello');
    expect(await refusal()).toBe(
      `media: ${join(box.directory, 'ca.pem')} contains no certificate in PEM format.\n` +
        `  It comes from ${removing('cacert')}. Use a file that contains the certificate as PEM text.\n`,
    );
    await box.run(['config', 'unset', 'cacert', '--profile', 'work']);
    expect(await refusal()).toContain(`It comes from ${removing('client-cert')}.`);
    expect(await refusal({MEDIA_CLIENT_CERT: 'none.pem'})).toContain(
      'It comes from MEDIA_CLIENT_CERT (to remove it: unset MEDIA_CLIENT_CERT).',
    );
    expect(await refusal({MEDIA_BASE_URL: 'a.example'})).toContain(
      'It comes from MEDIA_BASE_URL (to remove it: unset MEDIA_BASE_URL). Use a URL with its scheme',
    );
    // The embedded service needs no certificate.
    expect(await refusal({MEDIA_BASE_URL: 'embedded'})).toBe('');
  });

  it('a service that is not there: where its base URL comes from, in whoami and in the failure of an upload', async () => {
    const env = {MEDIA_API_KEY: 'key', MEDIA_BASE_URL: 'https://media.invalid', MEDIA_PROFILE: 'default'};
    const box = await sandbox(env);
    expect((await box.run(['whoami'])).stdout).toContain(
      'base URL  https://media.invalid/, from MEDIA_BASE_URL\n',
    );
    const upload = ['upload', fixture('photo.png'), '--retries', '0'];
    expect((await box.run(upload)).stderr).toContain('of the base URL (from MEDIA_BASE_URL).');
    const given = await box.run([...upload, '--base-url', 'https://media.invalid']);
    expect(given.stderr).toContain('of the base URL.');
  });

  it.each([
    ['cacert', undefined, 'could not be read: ENOENT'],
    ['client-cert', 'hello', 'contains no certificate in PEM format'],
    ['client-key', 'hello', 'contains no private key in PEM format'],
  ])('media config set %s with a file that cannot be used: a usage error', async (name, text, sentence) => {
    const box = await sandbox();
    if (text !== undefined) await writeFile(join(box.directory, 'it.pem'), text);
    const {stderr, exitCode} = await box.run(['config', 'set', name, 'it.pem']);
    expect(stderr).toContain(sentence);
    expect(exitCode).toBe(2);
    expect((await box.run(['config', 'get', name])).exitCode).toBe(1);
  });
});
