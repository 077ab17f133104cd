import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect} from 'vitest';
import {embeddedService} from '../../support/embedded.ts';
import {fixture, type Sandbox, sandbox} from '../../support/media.ts';

export const key = 'mk_a-key-that-nobody-should-see-in-any-output';

export function login(box: Sandbox, url: string, parameters: string[] = [], input = `${key}\n`) {
  return box.run(['login', '--base-url', url, '--key-stdin', ...parameters], {stdin: 'pipe', input});
}

export function configFile(box: Sandbox): string {
  return join(box.directory, 'config/config.json');
}

export async function profilesOf(box: Sandbox): Promise<Record<string, Record<string, string>>> {
  return JSON.parse(await readFile(configFile(box), 'utf8')).profiles;
}

/** The files that a run left in the settings directory, if there is one. */
export async function filesOf(box: Sandbox): Promise<string[]> {
  return readdir(join(box.directory, 'config')).catch(() => []);
}

const photo = fixture('photo.png');
const dead = 'http://127.0.0.1:1';
const commands = [
  ['whoami'],
  ['whoami', '--json'],
  ['upload', photo],
  ['upload', photo, 'gone.png', '--ndjson'],
  ['upload', photo, '--base-url', dead, '--retries', '0'],
  ['graphql', '{viewer{id name}}'],
  ['graphql', '{nothing}', '--base-url', dead],
  ['config', 'list'],
  ['config', 'get', 'key'],
];

/** Expects the key in no output of any command, whether it is stored or given, and whether the service knows it. */
export async function expectNoKey(place: 'stored' | 'given', standing: 'known' | 'unknown'): Promise<void> {
  const {service, key: known} = await embeddedService();
  const secret = standing === 'known' ? known : key;
  const box = await sandbox(place === 'given' ? {MEDIA_BASE_URL: service.url, MEDIA_API_KEY: secret} : {});
  const verified = standing === 'known' ? [] : ['--no-verify'];
  const runs = [await login(box, service.url, ['--verbose', ...verified], secret)];
  for (const command of commands) runs.push(await box.run([...command, '--verbose']));
  runs.push(await box.run(['logout', '--verbose']));
  const text = runs.flatMap(({stdout, stderr}) => [stdout, stderr]).join('\n');
  expect(text).toContain(standing === 'known' ? 'accepted' : 'does not know this API key');
  expect(text).toContain('service http://127.0.0.1:');
  expect(text).not.toContain(secret);
}
