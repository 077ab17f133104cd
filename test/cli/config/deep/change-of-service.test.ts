import {chmod, mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {fixture, sandbox} from '../../../support/media.ts';
import {scriptedServer} from '../../../support/scripted-server.ts';

/** A service that knows every key, and honours no Idempotency-Key. */
function anyService() {
  return scriptedServer(async connection => {
    await connection.request();
    connection.answer(200, '{"data":{"__typename":"Query"},"id":"m_1"}');
  });
}

/** A machine whose profile holds all that can be set for service A, and what it takes to change to service B. */
async function betweenServices(ofKey: Record<string, string>) {
  const [a, b] = [await anyService(), await anyService()];
  const box = await sandbox();
  const path = join(box.directory, 'config/config.json');
  const ofA = {
    'base-url': a.url,
    'graphql-url': `${a.url}/graph`,
    'profile-url': `${a.url}/profile`,
    // Not there: it could not be shown to anybody unnoticed.
    'client-cert': join(box.directory, 'a.pem'),
    'idempotency-keys': 'honoured',
    ...ofKey,
  };
  await mkdir(join(box.directory, 'config'), {mode: 0o700});
  await writeFile(path, JSON.stringify({profiles: {default: ofA}}), {mode: 0o600});
  const profile = async () => JSON.parse(await readFile(path, 'utf8')).profiles.default;
  return {a, b, box, profile, ofA};
}

const login = ['login', '--key-stdin'];
const setB = (b: string) => ['config', 'set', 'base-url', b];
const keyOfA = (a: string) => ({key: 'mk_key_of_a', 'key-origin': a});

describe.each<[string, (b: string) => string[][], Record<string, string>?]>([
  ['login --base-url', b => [[...login, '--base-url', b]]],
  ['login with MEDIA_BASE_URL', () => [login], {}],
  ['config set base-url, then login', b => [setB(b), login]],
  [
    'config unset base-url, config set base-url, then login',
    b => [['config', 'unset', 'base-url'], setB(b), login],
  ],
  ['config set base-url embedded, then to B, then login', b => [setB('embedded'), setB(b), login]],
])('%s', (_name, ways, env) => {
  it('A receives nothing, B receives nothing of A, and the profile holds nothing of A', async () => {
    const {a, b, box, profile} = await betweenServices({});
    const path = join(box.directory, 'config/config.json');
    const stored = JSON.parse(await readFile(path, 'utf8'));
    Object.assign(stored.profiles.default, keyOfA(a.url));
    await writeFile(path, JSON.stringify(stored));
    const options = {
      stdin: 'pipe' as const,
      input: 'mk_key_of_b\n',
      ...(env === undefined ? {} : {env: {...box.env, MEDIA_BASE_URL: b.url}}),
    };
    const notes: string[] = [];
    for (const way of ways(b.url)) {
      const {stderr, exitCode} = await box.run(way, options);
      expect(exitCode, stderr).toBe(0);
      notes.push(stderr);
    }
    expect(notes.join('')).toContain(`Removed the settings that belong to ${a.url}: `);
    await box.run(['graphql', '{__typename}']);
    await box.run(['upload', fixture('photo.png'), '--retries', '0']);
    expect(a.requests).toEqual([]);
    const keys = b.requests.flatMap(({head}) => head.filter(line => line.startsWith('authorization')));
    expect(new Set(keys)).toEqual(new Set(['authorization: Bearer mk_key_of_b']));
    expect(b.requests.some(({head}) => head[0] === 'POST /graphql HTTP/1.1')).toBe(true);
    expect(await profile()).toEqual({'base-url': b.url, key: 'mk_key_of_b', 'key-origin': b.url});
  });
});

it('config set base-url beside a key-command: it is not run for the other service', async () => {
  const {b, box, profile} = await betweenServices({'key-command': 'echo mk_key_of_a'});
  await box.run(setB(b.url));
  expect(await box.run(['upload', fixture('photo.png')])).toMatchObject({exitCode: 4});
  expect(b.requests).toEqual([]);
  expect(await profile()).toEqual({'base-url': b.url});
});

it('--base-url, with a key of its own: nothing of the profile goes to B', async () => {
  const {a, b, box, profile, ofA} = await betweenServices({'key-command': 'echo mk_key_of_a'});
  const env = {...box.env, MEDIA_API_KEY: 'mk_key_of_b'};
  const run = await box.run(['graphql', '{__typename}', '--base-url', b.url], {env});
  expect(run).toMatchObject({exitCode: 0, stderr: ''});
  expect(a.requests).toEqual([]);
  expect(b.requests.map(({head}) => head[0])).toEqual(['POST /graphql HTTP/1.1']);
  expect(await profile()).toEqual(ofA);
});

it.each([
  ['the settings file', 'config/config.json', 0o666, 'chmod go-w'],
  ['the settings directory', 'config', 0o770, 'chmod go-w'],
])(
  '%s may be changed by others: refused before its key-command is run, and left as it is',
  async (_name, name, mode, hint) => {
    const {box} = await betweenServices({'key-command': 'touch ran; echo mk_key_of_a'});
    const path = join(box.directory, name);
    await chmod(path, mode);
    for (const command of [
      ['upload', fixture('photo.png')],
      ['config', 'list'],
      ['config', 'set', 'once', 'true'],
    ]) {
      const {stdout, stderr, exitCode} = await box.run(command);
      expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
      expect(stderr).toContain(`Other users may change ${path}, so it is not trusted with a key.`);
      expect(stderr).toContain(`then run: ${hint} ${path}`);
    }
    await expect(readFile(join(box.directory, 'config/ran'))).rejects.toMatchObject({code: 'ENOENT'});
  },
);
