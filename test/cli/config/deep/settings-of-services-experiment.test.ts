import {chmod, mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import type {SettingName} from '../../../../src/cli/settings/setting-table.ts';
import {childEnvironment} from '../../../../src/lib/child.ts';
import {experiment} from '../../../support/experiment/experiment.ts';
import {fixture, sandbox} from '../../../support/media.ts';
import {scriptedServer} from '../../../support/scripted-server.ts';

/** A service that accepts every key. */
function anyService() {
  return scriptedServer(async connection => {
    await connection.request();
    connection.answer(200, '{"data":{"__typename":"Query"},"id":"m_1"}');
  });
}

type OfMachine = 'base-url' | 'cacert' | 'once' | 'concurrency' | 'limit-rate' | 'retry-max-wait';
type OfService = 'key' | Exclude<SettingName, OfMachine>;

/** What a profile may hold of service A. */
const ofService: Record<OfService, (a: string) => Record<string, string>> = {
  key: a => ({key: 'mk_key_of_a', 'key-origin': a}),
  'key-command': () => ({'key-command': 'touch ran; echo mk_key_of_a'}),
  'graphql-url': a => ({'graphql-url': `${a}/graph`}),
  'profile-url': a => ({'profile-url': `${a}/profile`}),
  'client-cert': () => ({'client-cert': '/not/there.pem'}),
  'client-key': () => ({'client-cert': '/not/there.pem', 'client-key': '/not/there.key'}),
  'idempotency-keys': () => ({'idempotency-keys': 'honoured'}),
};

const login = ['login', '--key-stdin'];
const setB = (b: string) => ['config', 'set', 'base-url', b];

/** How a machine comes to use service B. */
const ways: Record<string, (b: string) => string[][]> = {
  'login --base-url': b => [[...login, '--base-url', b]],
  'config set, then login': b => [setB(b), login],
  'config unset, config set, then login': b => [['config', 'unset', 'base-url'], setB(b), login],
  'config set embedded, config set, then login': b => [setB('embedded'), setB(b), login],
};

/** Changes from A to B with one setting of A; what was wrong then. */
async function change(setting: OfService, way: string): Promise<string[]> {
  const [a, b] = [await anyService(), await anyService()];
  const box = await sandbox();
  const path = join(box.directory, 'config/config.json');
  await mkdir(join(box.directory, 'config'), {mode: 0o700});
  const profile = {'base-url': a.url, ...ofService[setting](a.url)};
  await writeFile(path, JSON.stringify({profiles: {default: profile}}), {mode: 0o600});
  const broken: string[] = [];
  for (const parameters of ways[way]?.(b.url) ?? []) {
    const {stderr, exitCode} = await box.run(parameters, {stdin: 'pipe', input: 'mk_key_of_b\n'});
    if (exitCode !== 0) broken.push(`${parameters.join(' ')}: ${exitCode} ${stderr}`);
  }
  await box.run(['graphql', '{__typename}']);
  await box.run(['upload', fixture('photo.png'), '--retries', '0']);
  if (a.requests.length > 0) broken.push('A receives a request');
  const heads = b.requests.flatMap(({head}) => head).join('\n');
  for (const value of Object.values(ofService[setting](a.url)))
    if (heads.includes(value)) broken.push(`B receives ${value}`);
  const keys = b.requests.flatMap(({head}) => head.filter(line => /^authorization/i.test(line)));
  if (keys.some(line => !line.endsWith('mk_key_of_b'))) broken.push(`B receives ${keys.join(', ')}`);
  if (keys.length === 0) broken.push('B receives no key');
  if ((await readFile(join(box.directory, 'config/ran')).catch(() => undefined)) !== undefined)
    broken.push('the key-command of A runs');
  return broken.map(line => `${setting}, ${way}: ${line}`);
}

experiment('settings of one service: none reaches another, in any way of changing to it', async ({scale}) => {
  const all = (Object.keys(ofService) as OfService[])
    .flatMap(setting => Object.keys(ways).map(way => [setting, way] as const))
    // A login beside a key-command is refused, so that the service stays as it is.
    .filter(([setting, way]) => setting !== 'key-command' || way !== 'login --base-url');
  const trials = scale === 'long' ? all : all.filter((_, index) => index % 9 === 0);
  const broken: string[] = [];
  for (const [setting, way] of trials) broken.push(...(await change(setting, way)));
  const wrong = new Set(broken.map(line => line.split(': ')[0]));
  return {tried: trials.length, held: trials.length - wrong.size, broken};
});

experiment(
  'settings that others may write: refused, no key-command run, nothing repaired',
  async ({scale}) => {
    const modes: [string, number][] = [
      ['config/config.json', 0o666],
      ['config/config.json', 0o620],
      ['config/config.json', 0o602],
      ['config', 0o777],
      ['config', 0o730],
      ['config', 0o703],
    ];
    const commands = [
      ['upload', fixture('photo.png')],
      ['whoami'],
      ['graphql', '{__typename}'],
      ['config', 'list'],
      ['config', 'set', 'once', 'true'],
      ['login', '--key-stdin', '--no-verify', '--base-url', 'https://a.example'],
    ];
    const trials = modes.flatMap(mode => commands.map(command => ({mode, command})));
    const broken: string[] = [];
    const tried = trials.filter((_, index) => scale === 'long' || index % 7 === 0);
    for (const {mode, command} of tried) {
      const [name, bits] = mode;
      const box = await sandbox();
      const settings = {'base-url': 'http://127.0.0.1:9', 'key-command': 'touch ran; echo mk_1'};
      const file = join(box.directory, 'config/config.json');
      await mkdir(join(box.directory, 'config'), {mode: 0o700});
      const text = JSON.stringify({profiles: {default: settings}});
      await writeFile(file, text, {mode: 0o600});
      await chmod(join(box.directory, name), bits);
      const {stderr, exitCode} = await box.run(command, {stdin: 'pipe', input: 'mk_2\n'});
      const what = `${command[0]}, ${name} of mode ${bits.toString(8)}`;
      if (exitCode !== 1 || !stderr.includes('Other users')) broken.push(`${what}: ${exitCode} ${stderr}`);
      if ((await readFile(file, 'utf8')) !== text) broken.push(`${what}: changed`);
      if ((await readFile(join(box.directory, 'config/ran')).catch(() => undefined)) !== undefined)
        broken.push(`${what}: the key-command ran`);
    }
    return {
      tried: tried.length,
      held: tried.length - new Set(broken.map(line => line.split(': ')[0])).size,
      broken,
    };
  },
);

experiment(
  'the environment of programs that are started: no key, passphrase or password in it',
  async ({random}) => {
    const secret = 'canary7dE2u9Qx41LmZs';
    const broken: string[] = [];
    const names = ['MEDIA_API_KEY', 'MEDIA_CLIENT_KEY_PASSPHRASE', 'HTTPS_PROXY', 'http_proxy', 'All_Proxy'];
    const forms = [
      (text: string) => text,
      (text: string) => `http://user:${text}@proxy:3128`,
      (text: string) => `user:${text}@proxy`,
      (text: string) => `http://${text}@proxy/`,
      (text: string) => `http://u:a@b:${text}@proxy`,
      (text: string) => `socks5h://u:${encodeURIComponent(`${text}@/?#`)}@proxy`,
    ];
    let tried = 0;
    for (const name of names)
      for (const form of forms) {
        const isProxy = /proxy/i.test(name);
        if (isProxy && form === forms[0]) continue;
        tried += 1;
        const spelled = [...name].map(letter => (random() < 0.3 ? letter.toLowerCase() : letter)).join('');
        const value = form(secret);
        const given = isProxy ? {[spelled]: value} : {[name]: value};
        if (JSON.stringify(childEnvironment({...given, PATH: '/bin'})).includes(secret))
          broken.push(`${spelled}=${value}`);
      }
    return {tried, held: tried - broken.length, broken};
  },
);
