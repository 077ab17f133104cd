import {existsSync} from 'node:fs';
import {mkdir, readFile, stat, writeFile} from 'node:fs/promises';
import {createServer, type Socket} from 'node:net';
import {join} from 'node:path';
import {execa} from 'execa';
import {beforeEach, describe, expect, it, onTestFinished} from 'vitest';
import {runKeyCommand} from '../../../../src/cli/settings/key-command.ts';
import {systemHost} from '../../../../src/host.ts';
import {CountedStop} from '../../../support/counted-stop.ts';
import {embeddedService} from '../../../support/embedded.ts';
import {eventually} from '../../../support/eventually.ts';
import {needPrograms} from '../../../support/installed.ts';
import {
  fixture,
  mediaInShell,
  needNode,
  Sandbox,
  sandbox,
  temporaryDirectory,
  testedExecutable,
} from '../../../support/media.ts';
import {patienceMs} from '../../../support/patience.ts';
import {scriptedServer} from '../../../support/scripted-server.ts';

const photo = fixture('photo.png');
const key = 'mk_a-key-that-nobody-should-see-in-any-output';
const page = 'https://app.example.com/profile/edit';

/** A sandbox whose profile has these settings. */
async function configured(settings: Record<string, string>): Promise<Sandbox> {
  const box = await sandbox();
  await mkdir(join(box.directory, 'config'), {mode: 0o700});
  const text = JSON.stringify({profiles: {default: settings}});
  await writeFile(join(box.directory, 'config/config.json'), text, {mode: 0o600});
  return box;
}

/** A sandbox without a settings directory of its own, as on somebody's machine: keys may go to a keychain. */
async function desktop(env: Record<string, string> = {}): Promise<Sandbox> {
  const box = new Sandbox(await temporaryDirectory(), env);
  delete box.env['MEDIA_CONFIG_DIR'];
  return box;
}

function login(box: Sandbox, url: string, parameters: string[] = []) {
  return box.run(['login', '--base-url', url, '--key-stdin', '--no-verify', ...parameters], {
    stdin: 'pipe',
    input: key,
  });
}

/** What the end of a login without a check says to do next. */
const next = 'To check what it may do: media doctor\nTo upload a file: media upload FILE\n';

const desktopFile = (box: Sandbox) => join(box.directory, '.config/media/config.json');

describe('key-command', () => {
  it('a command that prints the key and more: its first line is the key, for each command', async () => {
    const {service, key} = await embeddedService();
    const box = await configured({
      'base-url': service.url,
      'key-command': `printf '%s\\nsecond line\\n' "$SAFE" | cat; echo unlocking >&2`,
    });
    box.env['SAFE'] = key;
    const upload = await box.run(['upload', photo, '--template', '{id}\\n', '--verbose']);
    expect(upload).toMatchObject({exitCode: 0, stderr: expect.stringContaining('unlocking\n')});
    const [stored] = await service.records();
    expect(upload.stdout).toBe(`${stored?.record.id}\n`);
    expect(await readFile(stored?.path ?? '')).toEqual(await readFile(photo));
    expect(upload.stderr).not.toContain(key);
    expect(upload.stderr).not.toContain('second line');
    const whoami = await box.run(['whoami']);
    expect(whoami.stdout).toContain(`key       ********${key.slice(-4)}, from key-command\n`);
    expect(whoami).toMatchObject({stderr: 'unlocking\n', exitCode: 0});
  });

  it.each([
    ['exit 3', 'ended with status 3'],
    ['echo mk_printed; exit 3', 'ended with status 3'],
    ['echo mk_printed; kill -KILL $$', 'was ended by a signal'],
    ['no-such-program-anywhere', 'ended with status 127'],
    ['kill -KILL $$', 'was ended by a signal'],
    ['true', 'printed no key'],
    ["echo; echo 'mk_on-the-second-line'", 'printed no key'],
    ['head -c 100000 /dev/zero', 'printed too much'],
  ])('%s: exit 4 before anything is sent', async (command, sentence) => {
    const {url, requests} = await scriptedServer(() => {});
    const box = await configured({'base-url': url, 'key-command': command});
    const {stdout, stderr, exitCode} = await box.run(['upload', photo]);
    expect(stderr).toContain('media: The key-command of the profile');
    expect(stderr).toContain(sentence);
    expect(stderr).toContain('media config get key-command');
    expect(stderr).not.toContain('mk_');
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 4});
    const json = await box.run(['upload', photo, '--json']);
    expect(JSON.parse(json.stderr.split('\n').find(line => line.startsWith('{')) ?? '').error.code).toBe(
      'key_unavailable',
    );
    const whoami = await box.run(['whoami', '--json']);
    expect(JSON.parse(whoami.stdout)).toMatchObject({
      key: null,
      status: 'missing',
      message: expect.stringContaining(sentence),
    });
    expect(whoami.exitCode).toBe(4);
    expect(requests).toEqual([]);
  });

  it('a first line that is no key: a usage error that does not show it', async () => {
    const box = await configured({'base-url': 'https://a.example', 'key-command': 'echo two mk_words'});
    const {stderr, exitCode} = await box.run(['upload', photo]);
    expect(stderr).toContain('The first line that key-command printed has spaces');
    expect(stderr).not.toContain('mk_');
    expect(exitCode).toBe(2);
  });

  it.each([
    ['a whole line', 'echo "$SAFE"'],
    ['a line without an end', 'printf %s "$SAFE"'],
  ])('%s, and a child that keeps standard output open: the line is the key', async (_name, print) => {
    const {service, key} = await embeddedService();
    const box = await configured({
      'base-url': service.url,
      'key-command': `sleep 1000 2>/dev/null & echo $! > child; ${print}`,
    });
    box.env['SAFE'] = key;
    const upload = await box.run(['upload', photo, '--template', '{id}\\n']);
    process.kill(Number(await readFile(join(box.directory, 'config/child'), 'utf8')));
    expect(upload).toMatchObject({stderr: '', exitCode: 0});
    const [stored] = await service.records();
    expect(upload.stdout).toBe(`${stored?.record.id}\n`);
  });

  it('a child that prints after the command has ended: its line is the key', async () => {
    const {service, key} = await embeddedService();
    const box = await configured({
      'base-url': service.url,
      'key-command':
        '(until test -e go; do sleep 0.1; done; echo "$SAFE") & (sleep 2; touch go) >/dev/null 2>&1 &',
    });
    box.env['SAFE'] = key;
    expect(await box.run(['upload', photo, '--template', '{id}\\n'])).toMatchObject({
      stderr: '',
      exitCode: 0,
    });
  });

  it('a command that never ends: given up, though what it started lives on', async () => {
    const directory = await temporaryDirectory();
    const {clock, ...system} = systemHost();
    const fast = {...clock, after: (ms: number, call: () => void) => clock.after(ms / 600, call)};
    const host = {...system, clock: fast, env: {PATH: process.env['PATH'], MEDIA_CONFIG_DIR: directory}};
    const command = 'echo mk_early; sleep 5; echo';
    await expect(runKeyCommand(host, command, {}, undefined)).rejects.toMatchObject({
      code: 'key_unavailable',
      message: 'The key-command of the profile did not end within 60 s.',
    });
  });

  it('a run that is stopped does not wait for it', async () => {
    const directory = await temporaryDirectory();
    const host = {...systemHost(), env: {PATH: process.env['PATH'], MEDIA_CONFIG_DIR: directory}};
    const stop = new CountedStop<Error>();
    const running = runKeyCommand(host, 'touch started; exec sleep 30', {}, stop);
    const rejected = expect(running).rejects.toThrow('The run was stopped.');
    await eventually(() => existsSync(join(directory, 'started')));
    // Else it would end with its command.
    expect(stop.listeners.size).toBe(1);
    stop.abort(new Error('The run was stopped.'));
    await rejected;
  });

  it('another base URL, MEDIA_API_KEY, --base-url embedded: the command is not run', async () => {
    const box = await configured({'base-url': 'https://a.example', 'key-command': 'touch ran; echo mk_key'});
    const other = await box.run(['upload', photo, '--base-url', 'https://b.example']);
    expect(other.stderr).toContain(
      'The stored key belongs to https://a.example and is not sent to https://b.example',
    );
    expect(other.exitCode).toBe(4);
    const {service, key} = await embeddedService();
    const given = {...box.env, MEDIA_API_KEY: key, MEDIA_BASE_URL: service.url};
    expect(await box.run(['upload', photo], {env: given})).toMatchObject({exitCode: 0});
    expect(await box.run(['whoami', '--base-url', 'embedded'])).toMatchObject({exitCode: 0});
    await expect(stat(join(box.directory, 'config/ran'))).rejects.toThrow('ENOENT');
  });

  it('a profile without a base URL: it is not told whose key it is, exit 4', async () => {
    const box = await configured({'key-command': 'echo mk_key'});
    const {stderr, exitCode} = await box.run(['upload', photo, '--base-url', 'https://a.example']);
    expect(stderr).toContain(
      'The key-command of profile default has no service to send its key to: the profile has no base URL.\n  Set the base URL: media config set base-url https://a.example/\n',
    );
    expect(exitCode).toBe(4);
  });

  it('our secrets in the environment: the command gets none, and what else there is', async () => {
    const {url} = await scriptedServer(connection => connection.answer(200, '{"data":{}}'));
    const box = await configured({'base-url': url, 'key-command': 'env > seen; echo mk_x'});
    const env = {
      ...box.env,
      MEDIA_CLIENT_KEY_PASSPHRASE: 'open sesame',
      HTTPS_PROXY: 'me:p@ss@proxy.example:3128',
      VAULT_TOKEN: 'theirs',
    };
    await box.run(['whoami'], {env});
    const seen = await readFile(join(box.directory, 'config/seen'), 'utf8');
    expect(seen).toContain('VAULT_TOKEN=theirs\n');
    expect(seen).toContain('HTTPS_PROXY=proxy.example:3128\n');
    expect(seen).not.toMatch(/sesame|p@ss/);
  });

  it('the working directory: nothing in it is run', async () => {
    const box = await configured({'base-url': 'https://a.example', 'key-command': './pass'});
    await writeFile(join(box.directory, 'pass'), '#!/bin/sh\ntouch "$HOME/ran"\n', {mode: 0o755});
    expect(await box.run(['upload', photo])).toMatchObject({exitCode: 4});
    await expect(stat(join(box.directory, 'ran'))).rejects.toThrow('ENOENT');
  });

  it('standard input: left to the upload', async () => {
    const {service, key} = await embeddedService();
    const box = await configured({'base-url': service.url, 'key-command': `cat > seen; echo ${key}`});
    const input = await readFile(photo);
    expect(await box.run(['upload', '-', '--name', 'a.png'], {stdin: 'pipe', input})).toMatchObject({
      exitCode: 0,
    });
    expect(await readFile(join(box.directory, 'config/seen'), 'utf8')).toBe('');
    expect(await readFile((await service.records())[0]?.path ?? '')).toEqual(input);
  });

  it('login beside it: a usage error; set beside a stored key: a warning, the command counts', async () => {
    const box = await sandbox();
    await login(box, 'https://a.example');
    expect(await box.run(['config', 'set', 'key-command', 'echo mk_from-the-command'])).toMatchObject({
      stderr: 'warning: The stored key is no longer used; media logout deletes it.\n',
      exitCode: 0,
    });
    const {stderr, exitCode} = await login(box, 'https://a.example');
    expect(stderr).toBe(
      'media: Profile default gets its key from its key-command.\n' +
        '  To store a key instead, run: media config unset key-command\n',
    );
    expect(exitCode).toBe(2);
    expect(await box.run(['logout'])).toMatchObject({stderr: 'Deleted the key of profile default.\n'});
    expect(await readFile(join(box.directory, 'config/config.json'), 'utf8')).toContain(
      'mk_from-the-command',
    );
  });
});

describe('a rejected key where the profile has a profile-url', () => {
  it('upload, graphql, whoami and login: the page is told', async () => {
    const {service} = await embeddedService();
    const box = await configured({
      'base-url': service.url,
      'key-origin': service.url,
      key,
      'profile-url': page,
    });
    const upload = await box.run(['upload', photo, '--ndjson']);
    expect(JSON.parse(upload.stdout).error).toMatchObject({code: 'unauthorized', status: 401});
    expect(JSON.parse(upload.stdout).error.hint).toBe(
      `Store a valid key (see ${page}): media login --key-stdin`,
    );
    const words = await Promise.all([
      box.run(['upload', photo]),
      box.run(['graphql', '{__typename}']),
      box.run(['login', '--key-stdin'], {stdin: 'pipe', input: key}),
    ]);
    for (const {stderr, exitCode} of words) {
      expect(stderr).toContain(page);
      expect(exitCode).toBe(4);
    }
    const whoami = await box.run(['whoami']);
    expect(whoami).toMatchObject({stdout: expect.stringContaining(`\nkeys      ${page}\n`), exitCode: 4});
    const json = await box.run(['whoami', '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({status: 'rejected', profileUrl: page});
  });

  it('another base URL, and a response other than 401: not told', async () => {
    const {service} = await embeddedService();
    const uploadOnly = await service.createKey({permissions: ['upload']});
    const box = await configured({
      'base-url': 'https://a.example',
      'key-origin': 'https://a.example',
      key,
      'profile-url': page,
    });
    const other = {...box.env, MEDIA_BASE_URL: service.url, MEDIA_API_KEY: key};
    expect((await box.run(['upload', photo], {env: other})).stderr).not.toContain(page);
    await box.run(['config', 'set', 'base-url', service.url]);
    const denied = {...box.env, MEDIA_API_KEY: uploadOnly};
    const {stderr, exitCode} = await box.run(['graphql', '{__typename}'], {env: denied});
    expect(stderr).not.toContain(page);
    expect(exitCode).toBe(4);
  });

  it('login: asks with the page; a login to another origin forgets it', async () => {
    const box = await sandbox();
    await box.run(['config', 'set', 'profile-url', page]);
    await login(box, 'https://a.example');
    expect((await box.run(['config', 'get', 'profile-url'])).stdout).toBe(`${page}\n`);
    await login(box, 'https://b.example');
    expect(await box.run(['config', 'get', 'profile-url'])).toMatchObject({stdout: '', exitCode: 1});
  });

  it.each(['javascript:alert(1)', 'file:///etc/passwd', 'https://u:pass@a.example/', 'profile'])(
    'profile-url %s: a usage error',
    async url => {
      const {stderr, exitCode} = await (await sandbox()).run(['config', 'set', 'profile-url', url]);
      expect(stderr).toContain('That is not the URL of a page');
      expect(stderr).not.toContain('pass@');
      expect(exitCode).toBe(2);
    },
  );
});

describe('media login while MEDIA_API_KEY is set', () => {
  it('refuses, stores nothing and asks nothing', async () => {
    const {url, requests} = await scriptedServer(() => {});
    const box = await sandbox({MEDIA_API_KEY: 'mk_of-the-environment'});
    const runs = [
      await box.run(['login', '--base-url', url, '--key-stdin'], {stdin: 'pipe', input: key}),
      await box.run(['login', '--base-url', url]),
    ];
    for (const {stdout, stderr, exitCode} of runs) {
      expect(stderr).toBe(
        'media: MEDIA_API_KEY is set, and it would be used instead of the key stored here.\n' +
          '  To store a key, clear it first: unset MEDIA_API_KEY\n',
      );
      expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 2});
    }
    expect(requests).toEqual([]);
    await expect(stat(join(box.directory, 'config'))).rejects.toThrow('ENOENT');
  });

  it('set but empty: as if it were not set', async () => {
    const box = await sandbox({MEDIA_API_KEY: ''});
    expect(await login(box, 'https://a.example')).toMatchObject({exitCode: 0});
  });
});

describe('several profiles', () => {
  it('config list: their names; a mistyped one: told with the others', async () => {
    const box = await sandbox();
    expect((await box.run(['config', 'list'])).stdout).toContain('\nProfiles: none\n');
    await login(box, 'https://a.example');
    await login(box, 'https://b.example', ['--profile', 'staging']);
    expect((await box.run(['config', 'list'])).stdout).toContain('\nProfiles: default, staging\n');
    expect(JSON.parse((await box.run(['config', 'list', '--json'])).stdout).profiles).toEqual([
      'default',
      'staging',
    ]);
    const {stderr, exitCode} = await box.run(['upload', photo, '--profile', 'stagign']);
    expect(stderr).toBe(
      'media: There is no profile "stagign".\n' +
        '  Use --profile default or --profile staging, or create it: media login --key-stdin --profile stagign --base-url URL\n',
    );
    expect(exitCode).toBe(4);
  });
});

/** Why no keychain is used on a machine without a session: an executable uses none anywhere. */
const noKeychain =
  testedExecutable === undefined ? 'there is no D-Bus session' : 'a single executable does not use it';

describe.runIf(process.platform === 'linux')('a machine without a keychain that responds', () => {
  it('no D-Bus session: the key is kept in the file, and that is said', async () => {
    const box = await desktop();
    const {stderr, exitCode} = await login(box, 'https://a.example');
    expect(stderr).toBe(
      `warning: The keychain could not be used (${noKeychain}), so the key is stored in a file that only you can read.\n` +
        `The key for https://a.example is stored unchecked in ${desktopFile(box)} (profile default).\n${next}`,
    );
    expect(exitCode).toBe(0);
    expect(await readFile(desktopFile(box), 'utf8')).toContain(key);
    expect((await stat(desktopFile(box))).mode & 0o777).toBe(0o600);
    expect((await box.run(['whoami'])).stdout).toContain('stored in the profile');
  });

  it('a bus that takes the connection and never speaks: given up in time, and at --deadline', async context => {
    needNode(context);
    const box = await desktop();
    const path = join(box.directory, 'bus');
    const connections: Socket[] = [];
    const bus = createServer(socket => connections.push(socket));
    await new Promise<void>(resolve => {
      bus.listen(path, resolve);
    });
    onTestFinished(() => {
      for (const socket of connections) socket.destroy();
      bus.close();
    });
    box.env['DBUS_SESSION_BUS_ADDRESS'] = `unix:path=${path}`;
    // On a very busy machine, 3 s may pass before the program that asks the bus has started.
    for (let tries = 0; connections.length === 0; tries += 1) {
      expect(tries).toBeLessThan(20);
      const {stderr, exitCode} = await login(box, 'https://a.example');
      expect(stderr).toContain('The keychain could not be used (it did not respond within 3 s)');
      expect(exitCode).toBe(0);
    }
    expect(await readFile(desktopFile(box), 'utf8')).toContain(key);
    const entry = {
      'base-url': 'https://a.example',
      'key-store': 'keychain',
      'key-origin': 'https://a.example',
    };
    await writeFile(desktopFile(box), JSON.stringify({profiles: {default: entry}}));
    const upload = await box.run(['upload', photo, '--deadline', '2s', '--json']);
    expect(JSON.parse(upload.stderr).error.code).toBe('deadline_exceeded');
    expect(upload.exitCode).toBe(1);
  });

  it('a key that was put into a keychain before: exit 4, with the ways out', async () => {
    const box = await configured({
      'base-url': 'https://a.example',
      'key-store': 'keychain',
      'key-origin': 'https://a.example',
    });
    const {stderr, exitCode} = await box.run(['upload', photo]);
    expect(stderr).toBe(
      `media: The key of profile default is in the keychain, which could not be used: ${noKeychain}.\n` +
        '  Unlock the keychain, set MEDIA_API_KEY, or store the key in a file: media login --key-stdin --insecure-storage\n',
    );
    expect(exitCode).toBe(4);
    const logout = await box.run(['logout']);
    expect(logout.stderr).toContain('may still be in the keychain');
    expect(logout.exitCode).toBe(0);
    expect((await box.run(['upload', photo])).stderr).toContain('There is no API key for https://a.example.');
  });

  it('--insecure-storage, and a settings directory of its own: the file at once, no warning', async () => {
    for (const [box, parameters] of [
      [await desktop(), ['--insecure-storage']],
      [await sandbox({DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere'}), []],
    ] as [Sandbox, string[]][]) {
      const {stderr, exitCode} = await login(box, 'https://a.example', parameters);
      expect(stderr).toMatch(
        /^The key for https:\/\/a\.example is stored unchecked in .*config\.json \(profile default\)\.\n/,
      );
      expect(stderr.split('\n').slice(1).join('\n')).toBe(next);
      expect(exitCode).toBe(0);
    }
  });
});

describe('a real keychain', () => {
  beforeEach(context => {
    needNode(context);
    needPrograms(context, ['dbus-run-session', 'gnome-keyring-daemon', 'secret-tool']);
  });

  /** Runs a shell script, its `media` the real program, in a session of its own with an unlocked keyring. */
  async function inSession(box: Sandbox, script: string) {
    await mkdir(join(box.directory, 'run'), {mode: 0o700});
    // It goes to the background once it is ready, and ends with its bus.
    const start = 'printf password | gnome-keyring-daemon --unlock --components=secrets > /dev/null 2>&1';
    const media = `media() { ${mediaInShell} "$@"; }`;
    const {stdout, stderr, exitCode} = await execa(
      'dbus-run-session',
      ['--', 'bash', '-c', `${start}\n${media}\n${script}`],
      {
        // As before a screen: where nobody can be asked, the keychain has only 3 s to respond.
        env: {DISPLAY: ':0', ...box.env, XDG_RUNTIME_DIR: join(box.directory, 'run'), KEY: key},
        extendEnv: false,
        cwd: box.directory,
        reject: false,
        timeout: patienceMs,
      },
    );
    return {stdout, stderr: stderr.replace(/^dbus-daemon.*\n/gm, ''), exitCode};
  }

  it('login, upload, whoami, a second login to the file, logout: the key is where it is said to be', async () => {
    const {service, key} = await embeddedService();
    const box = await desktop({SERVICE: service.url});
    const config = '.config/media/config.json';
    const {stdout, stderr, exitCode} = await inSession(
      {...box, env: {...box.env}} as Sandbox,
      `set -e
      KEY=${key}
      entry() { secret-tool search --all service media username "default $SERVICE" 2> /dev/null | grep -c "^secret = $KEY" || true; }
      printf '%s' "$KEY" | media login --base-url "$SERVICE" --key-stdin
      echo "stored $(entry), in the file $(grep -c "$KEY" ${config} || true)"
      media upload ${photo} --template '{id}\\n'
      media whoami
      printf '%s' "$KEY" | media login --key-stdin --insecure-storage
      echo "stored $(entry), in the file $(grep -c "$KEY" ${config} || true)"
      printf '%s' "$KEY" | media login --key-stdin
      echo "stored $(entry), in the file $(grep -c "$KEY" ${config} || true)"
      media logout
      echo "stored $(entry), in the file $(grep -c "$KEY" ${config} || true)"`,
    );
    expect(stderr).toContain(
      `${new URL(service.url).host} accepted the key. It is stored in the keychain (profile default).`,
    );
    expect(stderr).not.toContain('could not be used');
    expect(exitCode).toBe(0);
    expect(stdout.match(/^stored .*$/gm)).toEqual([
      'stored 1, in the file 0',
      'stored 0, in the file 1',
      'stored 1, in the file 0',
      'stored 0, in the file 0',
    ]);
    expect(stdout).toContain(`key       ********${key.slice(-4)}, from the keychain\n`);
    const [stored] = await service.records();
    expect(stdout).toContain(`\n${stored?.record.id}\n`);
    expect(await readFile(stored?.path ?? '')).toEqual(await readFile(photo));
  });

  it('an entry that somebody removed: exit 4, with the way back', async () => {
    const {stderr, exitCode} = await inSession(
      await desktop(),
      `printf '%s' "$KEY" | media login --base-url https://a.example --key-stdin --no-verify
      secret-tool clear service media username 'default https://a.example'
      media upload ${photo}`,
    );
    expect(stderr).toContain('The keychain has no key for profile default any more.');
    expect(stderr).toContain('Store it again: media login --key-stdin');
    expect(exitCode).toBe(4);
  });
});
