import {chmod, chown, mkdir, readdir, readFile, rm, stat, symlink, writeFile} from 'node:fs/promises';
import {createServer} from 'node:http';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect, onTestFinished} from 'vitest';
import {resolveSettings} from '../../../../src/cli/settings/settings.ts';
import {MediaError} from '../../../../src/errors.ts';
import {connectedSandbox} from '../../../support/embedded.ts';
import {experiment, onlyTorture} from '../../../support/experiment/experiment.ts';
import {Bench, hostIn, inputOf, lookup, upload as uploadInto, withoutSync} from '../../../support/journal.ts';
import {listen, urlOf} from '../../../support/loopback.ts';
import {
  fixture,
  mediaCommand,
  program,
  Sandbox,
  sandbox,
  temporaryDirectory,
} from '../../../support/media.ts';

const photo = fixture('photo.png');
const key = 'mk_canary7dE2u9Qx41LmZs';
const login = ['login', '--key-stdin', '--no-verify', '--base-url', 'https://api.example.com'];

/** Everything below a directory that others than its owner may read, write or enter. */
async function openToOthers(directory: string): Promise<string[]> {
  const entries = await readdir(directory, {recursive: true});
  const found: string[] = [];
  for (const entry of entries) {
    const {mode} = await stat(join(directory, entry));
    if ((mode & 0o077) !== 0) found.push(`${entry} ${(mode & 0o777).toString(8)}`);
  }
  return found;
}

experiment('settings: file modes under umask 000', async () => {
  const box = await sandbox();
  const media = [...mediaCommand];
  const commands = [
    [...media, ...login],
    [...media, 'config', 'set', 'idempotency-keys', 'honoured'],
    [...media, 'upload', photo, '--base-url', 'embedded', '--journal', 'config/a.journal'],
  ];
  for (const command of commands) {
    const {exitCode, stderr} = await execa('sh', ['-c', 'umask 000; exec "$@"', 'sh', ...command], {
      cwd: box.directory,
      env: {...box.env},
      extendEnv: false,
      reject: false,
      input: `${key}\n`,
    });
    expect(exitCode, stderr).toBe(0);
  }
  const broken = [
    ...(await openToOthers(join(box.directory, 'config'))),
    ...(await openToOthers(join(box.directory, 'data'))),
  ];
  for (const name of ['config', join('data', 'media', 'embedded')]) {
    if (((await stat(join(box.directory, name))).mode & 0o077) !== 0) broken.push(name);
  }
  return {tried: commands.length, held: broken.length === 0 ? commands.length : 0, broken};
});

experiment('settings: planted links', async () => {
  const broken: string[] = [];
  const runs: [string, string, readonly string[]][] = [
    ['config/config.json', '{"profiles":{}}', login],
    [
      'config/config.json',
      '{"profiles":{"default":{"base-url":"http://evil.example","key":"x","key-origin":"http://evil.example"}}}',
      ['whoami'],
    ],
    [
      'a.journal',
      '{"journal":"media","version":2,"service":"embedded:0"}\n',
      ['upload', photo, '--base-url', 'embedded', '--journal', 'a.journal'],
    ],
  ];
  for (const [link, content, parameters] of runs) {
    const box = await sandbox();
    const victim = join(box.directory, 'victim');
    await writeFile(victim, content);
    await mkdir(join(box.directory, 'config'), {mode: 0o700});
    await symlink(victim, join(box.directory, link));
    const {exitCode, stderr} = await box.run(parameters, {stdin: 'pipe', input: `${key}\n`});
    if (exitCode !== 1 || !stderr.includes('is a symbolic link'))
      broken.push(`${parameters[0]}: ${exitCode} ${stderr}`);
    if ((await readFile(victim, 'utf8')) !== content)
      broken.push(`${parameters[0]}: written through the link`);
  }
  return {tried: runs.length, held: runs.length - broken.length, broken};
});

experiment('settings: the file cut off at every byte', async () => {
  const directory = await temporaryDirectory();
  const box = new Sandbox(directory);
  const {exitCode} = await box.run(login, {stdin: 'pipe', input: `${key}\n`});
  expect(exitCode).toBe(0);
  const file = join(directory, 'config', 'config.json');
  const whole = await readFile(file);
  const withEnvironment = {
    MEDIA_CONFIG_DIR: join(directory, 'config'),
    MEDIA_API_KEY: 'mk_own',
    MEDIA_BASE_URL: 'https://own.example',
  };
  const broken: string[] = [];
  for (let length = 0; length < whole.length; length += 1) {
    await writeFile(file, whole.subarray(0, length));
    const host = hostIn(directory, {env: {MEDIA_CONFIG_DIR: join(directory, 'config')}});
    const outcome: unknown = await resolveSettings(host, {}).catch(error => error);
    // Only white space at the end may be missing without a word.
    const isSaid =
      outcome instanceof MediaError && outcome.code === 'config_unusable' && outcome.hint !== undefined;
    if (!isSaid && whole.subarray(length).toString().trim() !== '') broken.push(`${length} bytes: not said`);
    if (isSaid && outcome.message.includes('canary')) broken.push(`${length} bytes: the key is shown`);
    const own = await resolveSettings({...host, env: withEnvironment}, {});
    if (own.key?.secret.reveal() !== 'mk_own')
      broken.push(`${length} bytes: the environment's key is not used`);
  }
  await writeFile(file, whole.subarray(0, whole.length / 2));
  const damaged = await box.run(['whoami']);
  expect(damaged).toMatchObject({exitCode: 1, stdout: ''});
  expect(damaged.stderr).toMatch(
    /^media: The settings file .* is damaged: it is not valid JSON\.\n {2}Fix it or /,
  );
  return {tried: 2 * whole.length, held: 2 * whole.length - broken.length, broken};
});

experiment(
  'settings: a journal cut off at every byte',
  async ({scale}) => {
    const directory = await temporaryDirectory();
    const one = new Bench(directory);
    const written = async () => {
      await rm(one.path, {force: true});
      await one.run(async journal => {
        for (const end of ['done', 'failed', 'commit', 'intent'] as const)
          await uploadInto(journal, inputOf(`${end}.png`), end);
      });
      return Buffer.from(await one.text());
    };
    let whole = await written();
    const done = /^.*"event":"done".*$/m.exec(whole.toString())?.[0] ?? '';
    const doneEnds = whole.indexOf(done) + done.length;
    const broken: string[] = [];
    // Each one is written and synchronised: the short form takes some of them.
    const step = scale === 'long' ? 1 : 7;
    let tried = 0;
    for (let length = 0; length <= whole.length; length += step) {
      tried += 1;
      // A process knows the last thousand runs of its own that have ended; another journal of the same length has a new one.
      if (tried % 500 === 0) whole = await written();
      await one.write(whole.subarray(0, length));
      const outcome = await one
        .run(journal => lookup(journal, inputOf('done.png')), one.path, withoutSync)
        .catch((error: unknown) => error);
      const status = outcome instanceof MediaError ? outcome.code : (outcome as {status: string}).status;
      const committed = length >= doneEnds ? ['done'] : ['new', 'unknown'];
      if (!committed.includes(status)) broken.push(`${length} bytes: ${status}`);
    }
    return {tried, held: tried - broken.length, broken};
  },
  onlyTorture('test/engine/journal/deep/recovery.test.ts'),
);

experiment('settings: logins at once', async ({scale}) => {
  const rounds = scale === 'long' ? 12 : 2;
  const box = await sandbox();
  const expected: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const names = [1, 2, 3].map(index => `profile-${round}-${index}`);
    expected.push(...names);
    const ended = await Promise.all(
      names.map(name => box.run([...login, '--profile', name], {stdin: 'pipe', input: `mk_${name}\n`})),
    );
    for (const {exitCode, stderr} of ended) expect(exitCode, stderr).toBe(0);
  }
  const {profiles} = JSON.parse(await readFile(join(box.directory, 'config', 'config.json'), 'utf8'));
  const lost = expected.filter(name => profiles[name]?.key !== `mk_${name}`);
  const left = (await readdir(join(box.directory, 'config'))).filter(name => name !== 'config.json');
  return {tried: expected.length, held: expected.length - lost.length, broken: [...lost, ...left]};
});

/** The homes that machines have, other than a good one. */
experiment('settings: no home, one that is no path, one that cannot be written', async () => {
  const {sandbox: box, service} = await connectedSandbox();
  const {PATH = '', TMPDIR = '', MEDIA_BASE_URL = '', MEDIA_API_KEY = ''} = box.env;
  const connected = {PATH, TMPDIR, MEDIA_BASE_URL, MEDIA_API_KEY};
  const planted = join(box.directory, '.config', 'media');
  await mkdir(planted, {recursive: true, mode: 0o700});
  const evil = {'base-url': 'https://evil.example', key: 'mk_evil', 'key-origin': 'https://evil.example'};
  await writeFile(join(planted, 'config.json'), JSON.stringify({profiles: {default: evil}}), {mode: 0o600});
  const homes: Record<string, Record<string, string>> = {
    none: {XDG_CONFIG_HOME: join(box.directory, 'nowhere')},
    'one that does not exist': {HOME: '/no/such/home'},
    'an empty one': {HOME: ''},
    'a dot': {HOME: '.'},
    'a relative XDG_CONFIG_HOME': {HOME: box.directory, XDG_CONFIG_HOME: '.config'},
  };
  const broken: string[] = [];
  for (const [name, env] of Object.entries(homes)) {
    const uploaded = await box.run(['upload', photo, '--template', '{id}\\n'], {env: {...connected, ...env}});
    if (uploaded.exitCode !== 0) broken.push(`${name}: ${uploaded.stderr}`);
    const bare = await box.run(['whoami'], {env: {PATH, ...env}});
    if (/evil/.test(bare.stdout + bare.stderr))
      broken.push(`${name}: settings of the working directory are read`);
    if (/ at .*:\d+:\d+/.test(bare.stderr)) broken.push(`${name}: ${bare.stderr}`);
  }
  expect(await service.records()).toHaveLength(Object.keys(homes).length);
  broken.push(...(await readOnlyHome(connected)));
  return {tried: Object.keys(homes).length + 1, held: Object.keys(homes).length + 1 - broken.length, broken};
});

async function readOnlyHome(connected: Record<string, string>): Promise<string[]> {
  const home = await temporaryDirectory();
  await chmod(home, 0o555);
  onTestFinished(() => chmod(home, 0o755));
  // Root may write anywhere.
  const nobody = process.getuid?.() === 0 ? {uid: 65534, gid: 65534} : {};
  if (process.getuid?.() === 0) await chown(home, 65534, 65534);
  const run = (parameters: readonly string[], env: Record<string, string> = connected) =>
    execa(process.execPath, [program, ...parameters], {
      cwd: home,
      env: {...env, HOME: home, TMPDIR: tmpdir()},
      extendEnv: false,
      reject: false,
      input: `${key}\n`,
      ...nobody,
    });
  const readable = await run(['--version']).catch(() => undefined);
  // Where another user cannot even read this clone, there is nothing to find out.
  if (readable?.exitCode !== 0) return [];
  const uploaded = await run(['upload', '-', '--content-type', 'image/png', '--template', '{id}\\n']);
  const {MEDIA_API_KEY: _overriding, ...others} = connected;
  const stored = await run(login, others);
  return [
    ...(uploaded.exitCode === 0 ? [] : [`a home that cannot be written: ${uploaded.stderr}`]),
    ...(stored.exitCode === 1 &&
    /^media: .* could not be written: permission denied\.\n {2}Set MEDIA_CONFIG_DIR/m.test(stored.stderr)
      ? []
      : [`a login that cannot be stored: ${stored.exitCode} ${stored.stderr}`]),
  ];
}

experiment('settings: a hostile working directory', async () => {
  let calls = 0;
  const evil = createServer((_request, response) => {
    calls += 1;
    response.end('{"id":"m_evil"}');
  });
  await listen(evil);
  const url = urlOf(evil);
  const marker = `require('node:fs').writeFileSync(${JSON.stringify(join(await temporaryDirectory(), 'marker'))}, 'x')`;
  const profiles = {default: {'base-url': url, key: 'mk_evil', 'key-origin': url}};
  const settings = JSON.stringify({
    profiles,
    'base-url': url,
    baseUrl: url,
    media: {baseUrl: url},
    registry: url,
  });
  const lines = `MEDIA_BASE_URL=${url}\nMEDIA_API_KEY=mk_evil\nHTTPS_PROXY=${url}\nhttps-proxy=${url}\nnode-options=--import=./media.js\n`;
  const modules = ['commander', 'undici', 'conf', 'ora', 'mime-types', 'file-type', 'dotenv'];
  const files: Record<string, string> = {
    ...Object.fromEntries(
      ['.env', '.env.local', '.env.production', '.npmrc', '.mediarc', '.netrc', '.curlrc'].map(name => [
        name,
        lines,
      ]),
    ),
    ...Object.fromEntries(
      [
        'config.json',
        'media.json',
        'media.config.json',
        '.media.json',
        '.config/media/config.json',
        'media/config.json',
        '.media/config.json',
      ].map(name => [name, settings]),
    ),
    ...Object.fromEntries(
      ['media.js', 'media.config.js', 'index.js', 'bin/media.js', 'dist/main.js'].map(name => [name, marker]),
    ),
    'package.json': JSON.stringify({
      name: 'evil',
      type: 'commonjs',
      main: 'index.js',
      media: {baseUrl: url},
      imports: {'#x': './index.js'},
    }),
    ...Object.fromEntries(modules.map(name => [`node_modules/${name}/index.js`, marker])),
  };
  const {sandbox: box, service} = await connectedSandbox();
  const inner = join(box.directory, 'work');
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(inner, name, '..'), {recursive: true});
    await writeFile(join(inner, name), content);
  }
  const broken: string[] = [];
  const uploaded = await box.run(['upload', photo, '--template', '{id}\\n', '-v'], {cwd: inner});
  if (uploaded.exitCode !== 0) broken.push(`an upload: ${uploaded.stderr}`);
  const {MEDIA_BASE_URL, MEDIA_API_KEY, ...unconnected} = box.env;
  const bare = await box.run(['upload', photo], {cwd: inner, env: unconnected});
  if (bare.exitCode !== 4 || !bare.stderr.includes('Nothing is configured yet'))
    broken.push(`unconnected: ${bare.stderr}`);
  const shown = await box.run(['config', 'list'], {cwd: inner, env: unconnected});
  if (/\(from/.test(shown.stdout)) broken.push(`config list: ${shown.stdout}`);
  if (calls > 0) broken.push(`${calls} requests to the server that the directory names`);
  // Whoever opened one of these would wait for a writer for ever.
  const pipes = await temporaryDirectory();
  const names = Object.keys(files).filter(name => name !== 'package.json');
  for (const name of names) {
    await mkdir(join(pipes, name, '..'), {recursive: true});
    await execa('mkfifo', [join(pipes, name)]);
  }
  const waited = await box.start(['upload', photo, '--template', '{id}\\n'], {cwd: pipes});
  if (waited.exitCode !== 0) broken.push(`an upload among pipes: ${waited.stderr} ${waited.timedOut}`);
  expect(await service.records()).toHaveLength(2);
  const tried = Object.keys(files).length;
  return {tried, held: tried - broken.length, broken};
});
