import {chmod, mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {PassThrough} from 'node:stream';
import {text} from 'node:stream/consumers';
import {expect, test} from 'vitest';
import {systemHost} from '../../../src/host.ts';
import {run} from '../../../src/main.ts';
import {temporaryDirectory} from '../../support/media.ts';

const origin = 'https://media.example';

/** A desktop whose keychain answers every request in this way, and what it was asked. */
async function desktop(answer: object) {
  const directory = await temporaryDirectory();
  const path = (name: string) => join(directory, name);
  await writeFile(
    path('keychain'),
    `#!/bin/sh\ncat >> requests\necho >> requests\necho '${JSON.stringify(answer)}'\n`,
  );
  await chmod(path('keychain'), 0o755);
  const media = async (parameters: readonly string[], input = '') => {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    stdin.end(input);
    const status = await run(parameters, {
      ...{...systemHost(), stdin, stdout, stderr, platform: 'linux', cwd: () => directory},
      ...{homeDirectory: () => directory, nodePath: () => path('keychain')},
      env: {PATH: process.env['PATH'], DBUS_SESSION_BUS_ADDRESS: 'unix:path=/dev/null'},
    });
    stderr.end();
    return {status, stderr: await text(stderr)};
  };
  const lines = async () => (await readFile(path('requests'), 'utf8')).trim().split('\n');
  const profile = async () =>
    JSON.parse(await readFile(path('.config/media/config.json'), 'utf8')).profiles.default;
  return {media, path, profile, asked: async () => (await lines()).map(line => JSON.parse(line))};
}

const login = ['login', '--base-url', origin, '--key-stdin', '--no-verify'];

test.each([
  ['nothing', {key: null}],
  ['another key', {key: 'mk_another-key'}],
])(
  'a keychain that says it stored the key, and has %s then: the key goes to the file, with a warning',
  async (_, answer) => {
    const {media, profile} = await desktop(answer);
    const {status, stderr} = await media(login, 'mk_some-key');
    expect({status, stderr}).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('The keychain could not be used (it did not store the key)'),
    });
    expect(await profile()).toMatchObject({key: 'mk_some-key'});
    expect(await profile()).not.toHaveProperty('key-store');
  },
);

test('a keychain that stores the key: not in the file; logout deletes it in both places', async () => {
  const {media, profile, asked} = await desktop({key: 'mk_some-key'});
  expect((await media(login, 'mk_some-key')).status).toBe(0);
  expect(await profile()).toEqual({'base-url': origin, 'key-store': 'keychain', 'key-origin': origin});
  expect(await media(['logout'])).toMatchObject({status: 0, stderr: 'Deleted the key of profile default.\n'});
  expect(await profile()).toEqual({'base-url': origin});
  const account = `default ${origin}`;
  expect(await asked()).toEqual([
    {action: 'set', account, key: 'mk_some-key'},
    {action: 'delete', account},
  ]);
});

test('logout --all: the keys of all profiles leave the keychain', async () => {
  const {media, asked} = await desktop({key: 'mk_some-key'});
  for (const profile of ['default', 'work']) await media([...login, '--profile', profile], 'mk_some-key');
  expect((await media(['logout', '--all'])).status).toBe(0);
  const deleted = (await asked()).filter(({action}) => action === 'delete');
  expect(deleted.map(({account}) => account)).toEqual([`default ${origin}`, `work ${origin}`]);
});

test.each([
  ['a login', [...login.slice(0, 2), 'https://other.example', ...login.slice(3)]],
  ['config set base-url', ['config', 'set', 'base-url', 'https://other.example']],
  ['config unset base-url', ['config', 'unset', 'base-url']],
])('%s that takes the profile to another service: the old key leaves the keychain', async (_, parameters) => {
  const {media, asked} = await desktop({key: 'mk_some-key'});
  for (const one of [login, login, parameters]) expect((await media(one, 'mk_some-key')).status).toBe(0);
  const deleted = (await asked()).filter(({action}) => action === 'delete');
  expect(deleted).toEqual([{action: 'delete', account: `default ${origin}`}]);
});

test('a keychain that cannot delete the key: logout says that it may still be there', async () => {
  const {media, path} = await desktop({failure: 'it is locked'});
  await mkdir(path('.config/media'), {recursive: true, mode: 0o700});
  const settings = {'base-url': origin, 'key-store': 'keychain', 'key-origin': origin};
  const text = JSON.stringify({profiles: {default: settings}});
  await writeFile(path('.config/media/config.json'), text, {mode: 0o600});
  const {stderr} = await media(['logout', '--all']);
  expect(stderr).toBe(
    'warning: The old key of profile default may still be in the keychain, which could not be used (it is locked).\n',
  );
});
