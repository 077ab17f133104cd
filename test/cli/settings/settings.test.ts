import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import type {GlobalOptions} from '../../../src/cli/settings/hint-options.ts';
import {parseProfileName} from '../../../src/cli/settings/parse.ts';
import {serviceSettings} from '../../../src/cli/settings/profile.ts';
import {resolveSettings} from '../../../src/cli/settings/settings.ts';
import type {Profiles} from '../../../src/cli/settings/store.ts';
import {parseKey, parseServiceUrl} from '../../../src/engine/service/service-url.ts';
import {MediaError} from '../../../src/errors.ts';
import {type Host, systemHost} from '../../../src/host.ts';
import {temporaryDirectory} from '../../support/media.ts';

const stored: Profiles = {
  default: {
    'base-url': 'https://profile.example',
    key: 'mk_profile',
    'key-origin': 'https://profile.example',
    'idempotency-keys': 'honoured',
  },
  other: {'base-url': 'https://other.example', key: 'mk_other', 'key-origin': 'https://other.example'},
  local: {'base-url': 'embedded'},
  split: {
    'base-url': 'https://profile.example',
    key: 'mk_split',
    'key-origin': 'https://profile.example',
    'graphql-url': 'https://graph.example/q',
  },
  unbound: {'base-url': 'https://profile.example', key: 'mk_unbound'},
};

/** A machine with these settings and this environment. */
async function hostWith(env: Record<string, string>, profiles: Profiles = stored): Promise<Host> {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'config'), {mode: 0o700});
  await writeFile(join(directory, 'config/config.json'), JSON.stringify({profiles}), {mode: 0o600});
  return {...systemHost(), cwd: () => directory, env: {MEDIA_CONFIG_DIR: 'config', ...env}};
}

/** The address, the key and its source that are in force. */
async function inForce(options: GlobalOptions, env: Record<string, string>) {
  const {baseUrl, key, profileName} = await resolveSettings(await hostWith(env), options);
  return {
    profile: profileName,
    baseUrl: baseUrl?.toString(),
    key: key === undefined ? undefined : `${key.secret.reveal()} (${key.source})`,
  };
}

describe('resolveSettings: a profile with the name of what every object inherits', () => {
  const inherited = Object.getOwnPropertyNames(Object.prototype).filter(name => !name.startsWith('_'));

  it.each(inherited)(
    '%s: an unknown profile without settings, also where the file is damaged or missing',
    async name => {
      const own = {MEDIA_BASE_URL: 'https://own.example', MEDIA_API_KEY: 'mk_own'};
      const host = await hostWith(own);
      const damaged = await hostWith(own);
      await writeFile(join(damaged.cwd(), 'config/config.json'), '{"profiles"');
      for (const one of [host, damaged, {...host, env: {...own, MEDIA_CONFIG_DIR: 'none'}}]) {
        const {profile, profileNames} = await resolveSettings(one, {profile: name});
        expect(profile).toEqual({});
        expect(profileNames).not.toContain(name);
      }
    },
  );
});

describe('resolveSettings: the flag, then the environment, then the profile', () => {
  const fromProfile = {profile: 'default', baseUrl: 'https://profile.example/', key: 'mk_profile (profile)'};

  it.each<[string, GlobalOptions, Record<string, string>, object]>([
    ['nothing given', {}, {}, fromProfile],
    ['empty variables', {}, {MEDIA_BASE_URL: '', MEDIA_API_KEY: '', MEDIA_PROFILE: ''}, fromProfile],
    ['MEDIA_API_KEY', {}, {MEDIA_API_KEY: 'mk_env'}, {...fromProfile, key: 'mk_env (environment)'}],
    [
      'MEDIA_PROFILE',
      {},
      {MEDIA_PROFILE: 'other'},
      {profile: 'other', baseUrl: 'https://other.example/', key: 'mk_other (profile)'},
    ],
    ['--profile over MEDIA_PROFILE', {profile: 'default'}, {MEDIA_PROFILE: 'other'}, fromProfile],
    [
      'a profile that there is not',
      {profile: 'none'},
      {},
      {profile: 'none', baseUrl: undefined, key: undefined},
    ],
    [
      'a profile called like a method',
      {profile: 'toString'},
      {},
      {profile: 'toString', baseUrl: undefined, key: undefined},
    ],
    [
      'MEDIA_API_KEY alone',
      {profile: 'none'},
      {MEDIA_API_KEY: 'mk_env'},
      {profile: 'none', baseUrl: undefined, key: 'mk_env (environment)'},
    ],
    [
      'MEDIA_BASE_URL of another origin',
      {},
      {MEDIA_BASE_URL: 'https://env.example'},
      {...fromProfile, baseUrl: 'https://env.example/', key: undefined},
    ],
    [
      '--base-url over MEDIA_BASE_URL, with MEDIA_API_KEY',
      {baseUrl: 'https://flag.example'},
      {MEDIA_BASE_URL: 'https://env.example', MEDIA_API_KEY: 'mk_env'},
      {...fromProfile, baseUrl: 'https://flag.example/', key: 'mk_env (environment)'},
    ],
    [
      '--base-url with another path of the same origin',
      {baseUrl: 'https://profile.example:443/v2'},
      {},
      {...fromProfile, baseUrl: 'https://profile.example/v2'},
    ],
    [
      '--base-url embedded',
      {baseUrl: 'embedded'},
      {MEDIA_API_KEY: 'mk_env'},
      {...fromProfile, baseUrl: 'embedded', key: undefined},
    ],
    [
      'a profile that says embedded',
      {profile: 'local'},
      {},
      {profile: 'local', baseUrl: 'embedded', key: undefined},
    ],
    [
      'a stored key without its origin',
      {profile: 'unbound'},
      {},
      {profile: 'unbound', baseUrl: 'https://profile.example/', key: undefined},
    ],
  ])('%s', async (_name, options, env, expected) => {
    expect(await inForce(options, env)).toEqual(expected);
  });

  it('a key of another origin: named, not used', async () => {
    const settings = await resolveSettings(await hostWith({}), {baseUrl: 'https://profile.example:8443'});
    expect(settings.keyOfOtherOrigin).toBe('https://profile.example');
    expect(settings.key).toBeUndefined();
  });

  it.each([
    ['https://profile.example', 'honoured'],
    ['https://profile.example/', 'honoured'],
    ['https://profile.example/v2', undefined],
    ['https://env.example', undefined],
  ])('idempotency-keys under %s', async (baseUrl, onUnknown) => {
    expect((await resolveSettings(await hostWith({}), {baseUrl})).onUnknown).toBe(onUnknown);
  });

  it('idempotency-keys of a profile without a base URL: for any, as config list says', async () => {
    const host = await hostWith({}, {default: {'idempotency-keys': 'ignored'}});
    expect((await resolveSettings(host, {baseUrl: 'https://env.example'})).onUnknown).toBe('hold');
  });

  it('idempotency-keys for the embedded service: of the variable, or of its own profile', async () => {
    const profiles: Profiles = {...stored, local: {'base-url': 'embedded', 'idempotency-keys': 'ignored'}};
    const embedded = {baseUrl: 'embedded'};
    expect((await resolveSettings(await hostWith({}, profiles), {profile: 'local'})).onUnknown).toBe('hold');
    expect((await resolveSettings(await hostWith({}), embedded)).onUnknown).toBeUndefined();
    const set = (keys: string) => hostWith({MEDIA_IDEMPOTENCY_KEYS: keys});
    expect((await resolveSettings(await set('0'), embedded)).onUnknown).toBe('hold');
    await expect(resolveSettings(await set('maybe'), embedded)).rejects.toMatchObject({code: 'usage'});
  });

  it.each(['https://b.example', 'embedded'])(
    'of what a profile has for its service: nothing for %s',
    async baseUrl => {
      const names = serviceSettings().filter(name => name !== 'key-store');
      const ofA = Object.fromEntries(names.map(name => [name, `${name} of A`]));
      const profile = {...ofA, 'base-url': 'https://a.example', 'key-origin': 'https://a.example'};
      const host = await hostWith({}, {default: profile});
      const {host: _host, profile: _profile, ...settings} = await resolveSettings(host, {baseUrl});
      expect(JSON.stringify(settings)).not.toContain(' of A');
    },
  );

  it('graphql-url at another origin: only for a key from the environment', async () => {
    await expect(resolveSettings(await hostWith({}), {profile: 'split'})).rejects.toMatchObject({
      code: 'usage',
    });
    const settings = await resolveSettings(await hostWith({MEDIA_API_KEY: 'mk_env'}), {profile: 'split'});
    expect(settings.graphqlUrl?.href).toBe('https://graph.example/q');
  });

  it.each([
    ['no JSON', '{'],
    ['nothing', ''],
    ['an array', '[]'],
    ['profiles that are no object', '{"profiles":[1]}'],
    ['a profile that is no object', '{"profiles":{"default":"x"}}'],
    ['a setting that is no string', '{"profiles":{"default":{"key":7}}}'],
  ])('a settings file with %s: an error, unless it is not needed', async (_name, text) => {
    const damaged = async (env: Record<string, string>) => {
      const host = await hostWith(env);
      await writeFile(join(host.cwd(), 'config/config.json'), text);
      return host;
    };
    await expect(resolveSettings(await damaged({}), {})).rejects.toMatchObject({code: 'config_unusable'});
    await expect(resolveSettings(await damaged({MEDIA_API_KEY: 'mk_env'}), {})).rejects.toMatchObject({
      code: 'config_unusable',
    });
    const complete = await damaged({MEDIA_API_KEY: 'mk_env', MEDIA_BASE_URL: 'https://env.example'});
    expect((await resolveSettings(complete, {})).key?.secret.reveal()).toBe('mk_env');
    expect((await resolveSettings(await damaged({}), {baseUrl: 'embedded'})).baseUrl).toBe('embedded');
  });
});

function refusal(action: () => unknown): MediaError {
  try {
    action();
  } catch (error) {
    if (error instanceof MediaError) return error;
  }
  throw new Error('nothing was refused');
}

describe('parseServiceUrl', () => {
  it.each([
    'https://api.example.com',
    'https://api.example.com:8443/prefix/',
    'http://localhost:4010',
    'http://LOCALHOST',
    'http://127.0.0.1',
    'http://127.255.255.254:1',
    'http://[::1]:1',
    'http://0177.0.0.1',
    'http://2130706433',
  ])('%s: taken', value => {
    expect(parseServiceUrl(value, 'base URL', false).href).toBe(new URL(value).href);
  });

  it.each([
    ['http://media.example', 'unencrypted'],
    ['http://127.0.0.1.example.com', 'unencrypted'],
    ['http://localhost.example.com', 'unencrypted'],
    ['http://128.0.0.1', 'unencrypted'],
    ['http://0.0.0.0', 'unencrypted'],
    ['http://[::2]', 'unencrypted'],
    ['http://[::ffff:8.8.8.8]', 'unencrypted'],
    ['https://user@media.example', 'user name or password'],
    ['https://:password@media.example', 'user name or password'],
    ['https://media.example/?a', 'a query or a fragment'],
    ['https://media.example/#a', 'a query or a fragment'],
    ['ftp://media.example', 'is not a valid URL'],
    ['file:///etc/passwd', 'is not a valid URL'],
    ['media.example', 'is not a valid URL'],
    ['https://', 'is not a valid URL'],
    ['', 'is not a valid URL'],
  ])('%j: a usage error', (value, sentence) => {
    expect(() => parseServiceUrl(value, 'base URL', false)).toThrow(
      expect.objectContaining({code: 'usage', message: expect.stringContaining(sentence)}),
    );
  });

  it.each([
    'mk_7dE2u9Qx41LmZs',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2lnbmF0dXJl0x',
    'https//user:secret-7dE2u9@media.example',
    'https://us er:secret-7dE2u9@media.example/',
    'https://user:secret-7dE2u9@@[',
    'user:secret-7dE2u9@media.example',
    'https:///?key=secret-7dE2u9',
    'https://media.example/?key=secret-7dE2u9',
    'https://media.example:port/mk_secret-7dE2u9',
    'https://media example/mk_secret-7dE2u9',
  ])('%s: refused without showing what may be a key or a password', value => {
    for (const what of ['base URL', 'GraphQL URL']) {
      const error = refusal(() => parseServiceUrl(value, what, false));
      expect(error.code).toBe('usage');
      expect(`${error.message} ${error.hint}`).not.toMatch(/7dE2u9|eyJ/);
      expect(error.message).toContain(`The ${what} `);
    }
  });

  it('http://media.example with --allow-http: taken', () => {
    expect(parseServiceUrl('http://media.example', 'base URL', true).host).toBe('media.example');
  });
});

describe('parseProfileName', () => {
  it.each(['default', 'a', 'api.example.com', 'A-1_b', 'x'.repeat(64)])('%s: taken', name => {
    expect(parseProfileName(name)).toBe(name);
  });

  it.each(['', '.hidden', '-x', '_x', '../x', 'a b', 'a/b', '__proto__', 'é', 'x'.repeat(65)])(
    '%j: a usage error',
    name => {
      expect(() => parseProfileName(name)).toThrow(expect.objectContaining({code: 'usage'}));
    },
  );
});

describe('parseKey', () => {
  it.each([
    ['mk_1', 'mk_1'],
    [' mk_1\r\n', 'mk_1'],
    ['!~', '!~'],
  ])('%j: taken as %j', (value, key) => {
    expect(parseKey(value, 'The key').reveal()).toBe(key);
  });

  it.each([
    '',
    ' \n',
    'a b',
    'a\nb',
    'a\rX: 1',
    'a\tb',
    'a\u0000',
    'a\u001b[2J',
    'a\u007f',
    'schlüssel',
    '🔑',
  ])('%j: a usage error that does not repeat it', value => {
    expect(() => parseKey(value, 'The key')).toThrow(
      expect.objectContaining({code: 'usage', message: expect.not.stringContaining('a\u0000')}),
    );
  });
});
