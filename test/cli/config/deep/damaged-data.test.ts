import {mkdir, readdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {beforeEach, describe, expect, it} from 'vitest';
import {eventually} from '../../../support/eventually.ts';
import {fixture, type Sandbox, sandbox} from '../../../support/media.ts';
import {serve} from '../../../support/served.ts';

const photo = fixture('photo.png');
const aKey = {hash: 'ab'.repeat(32), permissions: ['upload'], createdAt: '2026-01-01T00:00:00.000Z'};
const keysOf = (...keys: unknown[]) => JSON.stringify({version: 1, keys});

let box: Sandbox;

beforeEach(async () => {
  box = await sandbox();
});

describe('keys.json in the data directory of the embedded service', () => {
  it.each([
    ['nothing', '', 'it is not a JSON object'],
    ['a number', '17', 'it is not a JSON object'],
    ['null', 'null', 'it is not a JSON object'],
    ['an array', '[]', 'it is not a JSON object'],
    ['a text that was cut', keysOf(aKey).slice(0, 60), 'it is not a JSON object'],
    ['a hundred thousand brackets', '['.repeat(100_000), 'it is not a JSON object'],
    ['no version', JSON.stringify({keys: []}), 'its field "version" is wrong'],
    ['another version', JSON.stringify({version: 2, keys: []}), 'its field "version" is wrong'],
    ['no keys', '{"version":1}', 'its field "keys" is wrong'],
    ['an object for keys', '{"version":1,"keys":{}}', 'its field "keys" is wrong'],
    ['a text for a key', keysOf(aKey, 'mk_text'), 'its field "keys[1]" is wrong'],
    ['a key without a hash', keysOf({...aKey, hash: undefined}), 'its field "keys[0].hash" is wrong'],
    ['a number for a hash', keysOf(aKey, {...aKey, hash: 7}), 'its field "keys[1].hash" is wrong'],
    ['a short hash', keysOf({...aKey, hash: 'abc'}), 'its field "keys[0].hash" is wrong'],
    [
      'a text for permissions',
      keysOf({...aKey, permissions: 'upload'}),
      'its field "keys[0].permissions" is wrong',
    ],
    [
      'an unknown permission',
      keysOf({...aKey, permissions: ['all']}),
      'its field "keys[0].permissions" is wrong',
    ],
    ['null for a label', keysOf({...aKey, label: null}), 'its field "keys[0].label" is wrong'],
    ['a number for a time', keysOf({...aKey, createdAt: 0}), 'its field "keys[0].createdAt" is wrong'],
  ])('%s: a sentence and what to do, exit 1, and the file stays as it is', async (_name, text, how) => {
    const directory = join(box.directory, 'data/media/embedded');
    const path = join(directory, 'keys.json');
    await mkdir(directory, {recursive: true});
    await writeFile(path, text);
    const {stdout, stderr, exitCode} = await box.run(['upload', photo, '--base-url', 'embedded', '--json']);
    expect(JSON.parse(stderr).error).toEqual({
      code: 'local_failure',
      message: `${path} is damaged: ${how}.`,
      hint: 'Restore it from a backup, or move it away and use a new key.',
    });
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(await readFile(path, 'utf8')).toBe(text);
    expect(await readdir(directory)).not.toContain('keys.json.lock');
  });

  it('a number, and media serve: the same sentence, exit 1', async () => {
    const path = join(box.directory, 'kept', 'keys.json');
    await mkdir(join(box.directory, 'kept'));
    await writeFile(path, '17');
    const {stdout, stderr, exitCode} = await box.run(['serve', '--port', '0', '--data-dir', 'kept']);
    expect(stderr).toBe(
      `media: ${path} is damaged: it is not a JSON object.\n  Restore it from a backup, or move it away and use a new key.\n`,
    );
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(await readFile(path, 'utf8')).toBe('17');
    expect(await readdir(join(box.directory, 'kept'))).not.toContain('keys.json.lock');
  });
});

/** A `media serve` on a directory, and the environment of who uploads to it. */
async function served() {
  const {url, key, env, stderr} = await serve(box, '--data-dir', 'kept');
  const complaints = () => stderr().match(/^media: .*\n {2}.*\n/gm) ?? [];
  return {url, key, env, complaints};
}

/** Uploads with an idempotency key; resolves to the status and the ID. */
async function post(
  {url, key}: {url: string; key: string},
  name: string,
): Promise<{status: number; id: string}> {
  const response = await fetch(`${url}/v1/media/upload`, {
    method: 'POST',
    headers: {Authorization: `Bearer ${key}`, 'Content-Type': 'image/png', 'Idempotency-Key': `"${name}"`},
    body: await readFile(photo),
  });
  const {id} = (await response.json()) as {id: string};
  return {status: response.status, id};
}

describe('a record in the data directory of media serve', () => {
  const good = (id: string) => ({
    version: 1,
    id,
    type: 'IMAGE',
    contentType: 'image/png',
    size: 3,
    sha256: 'ab'.repeat(32),
    createdAt: '2026-01-01T00:00:00.000Z',
  });

  const damages: [string, (id: string) => unknown, string][] = [
    ['a number', () => 17, 'it is not a JSON object'],
    ['an array', () => [], 'it is not a JSON object'],
    ['another version', id => ({...good(id), version: '1'}), 'its field "version" is wrong'],
    [
      'the ID of another',
      id => good(id.replace(/.$/, last => (last === '0' ? '1' : '0'))),
      'its field "id" is wrong',
    ],
    ['a type that there is not', id => ({...good(id), type: 'AUDIO'}), 'its field "type" is wrong'],
    ['a text for its size', id => ({...good(id), size: '3'}), 'its field "size" is wrong'],
    ['a negative size', id => ({...good(id), size: -3}), 'its field "size" is wrong'],
    ['half a width', id => ({...good(id), width: 0.5}), 'its field "width" is wrong'],
    ['a text for its duration', id => ({...good(id), duration: '1'}), 'its field "duration" is wrong'],
    ['no content type', id => ({...good(id), contentType: undefined}), 'its field "contentType" is wrong'],
  ];

  it('damaged in ten ways: 500, a sentence of the service, and the file stays as it is', async () => {
    const service = await served();
    const whole: string[] = [];
    for (const [name, damaged, how] of damages) {
      const said = service.complaints().length;
      const {id} = await post(service, name);
      const path = join(box.directory, 'kept/records', `${id}.json`);
      const before = await readFile(path, 'utf8');
      const text = JSON.stringify(damaged(id));
      await writeFile(path, text);

      const response = await fetch(`${service.url}/files/${id}`);
      expect({status: response.status, body: await response.json()}, name).toEqual({
        status: 500,
        body: {code: 500, message: 'Internal error.'},
      });
      const sentence = `media: ${path} is damaged: ${how}.\n  Restore it from a backup, or move it away: its upload then counts as not stored, and the next start moves its file to lost/.\n`;
      await eventually(() => service.complaints().length === said + 1);
      expect(service.complaints()[said]).toBe(sentence);

      const list = await box.run(['graphql', '{mediaList{nodes{id}}}'], {env: service.env});
      expect({exitCode: list.exitCode, ...JSON.parse(list.stdout)}, name).toEqual({
        exitCode: 0,
        data: {mediaList: {nodes: whole.map(id => ({id})).reverse()}},
      });
      await eventually(() => service.complaints().length === said + 2);
      expect((await post(service, name)).status, name).toBe(500);
      expect(await readFile(path, 'utf8')).toBe(text);
      await eventually(() => service.complaints().length === said + 3);

      await writeFile(path, before);
      expect(await post(service, name)).toEqual({status: 200, id});
      expect(await readFile(join(box.directory, 'kept/files', id))).toEqual(await readFile(photo));
      whole.push(id);
    }
  });
});

describe('the entry of an idempotency key in the data directory of media serve', () => {
  const damages = [
    ['a number', '17', 'it is not a JSON object'],
    ['a text that was cut', '{"id":"m_', 'it is not a JSON object'],
    ['a path for an ID', '{"id":"../keys","fingerprint":"x"}', 'its field "id" is wrong'],
    ['no fingerprint', `{"id":"m_${'0'.repeat(29)}"}`, 'its field "fingerprint" is wrong'],
  ] as const;

  it('damaged in four ways: 500, a sentence of the service, and nothing is stored twice', async () => {
    const service = await served();
    const directory = join(box.directory, 'kept/idempotency');
    const known: string[] = [];
    const stored: string[] = [];
    for (const [name, text, how] of damages) {
      const {id} = await post(service, name);
      stored.push(id);
      const [entry = ''] = (await readdir(directory)).filter(one => !known.includes(one));
      known.push(entry);
      const path = join(directory, entry);
      const before = await readFile(path, 'utf8');
      await writeFile(path, text);

      expect((await post(service, name)).status, name).toBe(500);
      await eventually(() => service.complaints().length === stored.length);
      expect(service.complaints().at(-1)).toBe(
        `media: ${path} is damaged: ${how}.\n  Restore it from a backup, or move it away: an upload with its Idempotency-Key is then stored again.\n`,
      );
      expect(await readFile(path, 'utf8')).toBe(text);
      expect((await readdir(join(box.directory, 'kept/files'))).sort()).toEqual(stored.toSorted());
      expect(await readdir(join(box.directory, 'kept/temporary'))).toEqual([]);

      await writeFile(path, before);
      expect(await post(service, name)).toEqual({status: 200, id});
    }
  });
});

describe('the settings file', () => {
  const profileOf = (profile: unknown) => JSON.stringify({profiles: {default: profile}});

  it.each([
    ['a number', '17', 'it contains no profiles'],
    ['an array', '[]', 'it contains no profiles'],
    [
      'a text that was cut',
      profileOf({'base-url': 'https://a.example'}).slice(0, -4),
      'it is not valid JSON',
    ],
    ['an array of profiles', '{"profiles":[]}', 'it contains no profiles'],
    [
      'a text for a profile',
      profileOf('https://a.example'),
      'it contains a profile "default" that is not a set of strings',
    ],
    [
      'a number for a key',
      profileOf({key: 7}),
      'it contains a profile "default" that is not a set of strings',
    ],
    [
      'another place for the key',
      profileOf({'key-store': 'cloud'}),
      'it contains a profile "default" with an unknown "key-store"',
    ],
  ])('%s: a sentence and what to do, exit 1, and the file stays as it is', async (_name, text, how) => {
    const path = join(box.directory, 'config', 'config.json');
    await mkdir(join(box.directory, 'config'), {mode: 0o700});
    await writeFile(path, text, {mode: 0o600});
    for (const command of [['whoami'], ['config', 'set', 'base-url', 'https://b.example']]) {
      const {stdout, stderr, exitCode} = await box.run(command);
      expect(stderr.split('\n')[0]).toBe(`media: The settings file ${path} is damaged: ${how}.`);
      expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    }
    expect(await readFile(path, 'utf8')).toBe(text);
  });
});
