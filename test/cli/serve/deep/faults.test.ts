import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {eventually} from '../../../support/eventually.ts';
import {fixture, sandbox} from '../../../support/media.ts';
import {serve} from '../../../support/served.ts';

const photo = fixture('photo.png');

describe('media serve --fault', () => {
  it("'upload:status=503,nth=1': the client tries again; the log names the fault", async () => {
    const box = await sandbox();
    const {env, stderr, variables} = await serve(box, '--ephemeral', '--fault', 'upload:status=503,nth=1');
    expect(Object.keys(variables)).toEqual(['MEDIA_BASE_URL', 'MEDIA_API_KEY']);
    const upload = await box.run(['upload', photo, '--ndjson'], {env});
    expect(JSON.parse(upload.stdout)).toMatchObject({status: 'uploaded', attempts: 2});
    await eventually(() => / 200 13582 B \d+ ms$/m.test(stderr()));
    expect(stderr()).toMatch(/^POST \/v1\/media\/upload 503 \d+ B \d+ ms, fault upload:status=503,nth=1$/m);
  });

  it('a wait of ten minutes, a client that gives up, SIGTERM: nothing is stored, nor written later', async () => {
    const box = await sandbox();
    const fault = 'upload:latency=10m,after=body';
    const {child, env, stderr} = await serve(box, '--data-dir', 'kept', '--fault', fault);
    const given = await box.run(['upload', photo, '--timeout', '1s', '--on-unknown', 'hold'], {env});
    expect(given).toMatchObject({stdout: '', exitCode: 5});
    await eventually(() => /^POST .* 13582 B \d+ ms, fault upload:latency=10m,after=body$/m.test(stderr()));
    child.kill('SIGTERM');
    expect(await child).toMatchObject({signal: 'SIGTERM'});
    const left = await readdir(join(box.directory, 'kept'), {recursive: true, withFileTypes: true});
    const files = left.filter(entry => !entry.isDirectory()).map(({name}) => name);
    // The third one says when the key was used.
    expect(files.map(name => name.replace(/^\w{16}\./, 'key.')).sort()).toEqual([
      'identity.json',
      'key.json',
      'keys.json',
    ]);
  });

  it('that cannot be read: a usage error with what to write', async () => {
    const {stdout, stderr, exitCode} = await (await sandbox()).run([
      'serve',
      '--port',
      '0',
      '--ephemeral',
      '--fault',
      'upload:explode',
    ]);
    expect(stderr).toMatch(
      /^media: The fault "upload:explode" cannot be used: "explode" is not one of nth, .*\n {2}Write it like 'upload:status=503,after=store,rate=0\.1'\.\n$/,
    );
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 2});
  });
});

describe('media serve --fault-port 0', () => {
  it('PUT, GET and DELETE with its key: the faults of a running service', async () => {
    const box = await sandbox();
    const {env, variables, child, key} = await serve(box, '--ephemeral', '--fault-port', '0');
    const {MEDIA_FAULTS_URL: url = '', MEDIA_FAULTS_KEY: faultKey} = variables;
    const ask = async (method: string, body?: unknown, token = faultKey, at = url) => {
      const response = await fetch(at, {
        method,
        headers: {Authorization: `Bearer ${token}`},
        ...(body === undefined ? {} : {body: JSON.stringify(body)}),
      });
      return {status: response.status, ...((await response.json()) as object)};
    };
    const lost = 'upload:reset,after=store,nth=1';
    expect(await ask('PUT', {faults: [lost]})).toEqual({
      status: 200,
      faults: [{fault: lost, matched: 0, applied: 0}],
    });
    const upload = ['upload', photo, '--template', '{id}\\n'];
    const held = await box.run([...upload, '--on-unknown', 'hold'], {env});
    expect(held).toMatchObject({stdout: '', exitCode: 5});
    expect(await ask('GET')).toMatchObject({faults: [{fault: lost, matched: 1, applied: 1}]});
    for (const [method, body, token, at, status, message] of [
      ['GET', undefined, key, url, 401, 'The key must be MEDIA_FAULTS_KEY.'],
      ['GET', undefined, faultKey, `${url}/1`, 404, 'The only paths here are /faults and /state/reset.'],
      ['POST', {faults: []}, faultKey, url, 405, 'The method must be GET, PUT or DELETE.'],
      ['PUT', {faults: ['upload:x']}, faultKey, url, 400, 'The fault "upload:x" cannot be used'],
      ['PUT', {faults: lost}, faultKey, url, 400, '"faults" is wrong'],
      ['PUT', {faults: [], seed: 7, list: []}, faultKey, url, 400, '"seed" and "list" are unknown'],
      ['PUT', {faults: ['x'.repeat(70_000)]}, faultKey, url, 413, 'at most 65536 bytes'],
    ] as const) {
      expect(await ask(method, body, token, at)).toEqual({
        status,
        code: status,
        message: expect.stringContaining(message),
      });
    }
    expect(await ask('DELETE')).toEqual({status: 200, faults: []});
    expect(await box.run(upload, {env})).toMatchObject({exitCode: 0});
    child.kill('SIGTERM');
    expect(await child).toMatchObject({signal: 'SIGTERM'});
    await expect(ask('GET')).rejects.toThrow();
  });
});
