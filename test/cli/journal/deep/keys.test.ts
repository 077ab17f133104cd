import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {connectedSandbox} from '../../../support/embedded.ts';
import {fixture, sandbox} from '../../../support/media.ts';
import {isUploadLook, scriptedServer, someRecord, uploadsIn} from '../../../support/scripted-server.ts';

const hour = 3_600_000;

interface Options {
  keys?: 'honoured' | 'ignored' | undefined;
  /** What each response says in Accept-Idempotency-Key. */
  declares?: string;
  /** The size of the file, beyond a PNG's first bytes. */
  size?: number;
}

/** A machine with a journal, whose service gives these answers, 409 before it has the whole body. */
async function machine({keys, declares, size = 1_000}: Options, ...answers: number[]) {
  const {url, requests} = await scriptedServer(async connection => {
    const status = answers.shift() ?? 500;
    await connection.request(status === 409 ? 1 : undefined);
    const fields = declares === undefined ? {} : {'accept-idempotency-key': declares};
    connection.answer(status, status === 200 ? someRecord : 'gone', fields);
  });
  const box = await sandbox();
  box.env['MEDIA_CONFIG_DIR'] = box.directory;
  const profile = {'base-url': url, key: 'key-of-the-test-1234', 'key-origin': url};
  const profiles = {default: {...profile, 'idempotency-keys': keys}};
  await writeFile(join(box.directory, 'config.json'), JSON.stringify({profiles}), {mode: 0o600});
  const png = Buffer.concat([await readFile(fixture('photo.png')), Buffer.alloc(size)]);
  await writeFile(join(box.directory, 'photo.png'), png);
  const run = async (...parameters: string[]) => {
    const command = ['upload', 'photo.png', '--journal', 'j', '--ndjson', '--retries', '0'];
    const {stdout, exitCode} = await box.run([...command, ...parameters]);
    return {status: JSON.parse(stdout).status as string, exitCode};
  };
  return {box, run, requests, journal: join(box.directory, 'j')};
}

/** The same, where keys are honoured and the file's outcome is unknown. */
async function leftUnknown(...answers: number[]) {
  const {run, requests, journal} = await machine({keys: 'honoured'}, ...answers);
  /** Makes its first release that much older; with NaN, its time unreadable. */
  const age = async (ms: number) => {
    const text = await readFile(journal, 'utf8');
    const older = (at: string) =>
      Number.isNaN(ms) ? 'some time ago' : new Date(Date.parse(at) - ms).toISOString();
    await writeFile(
      journal,
      text.replace(/("event":"release".*?"at":")([^"]*)/, (_all, start, at) => `${start}${older(at)}`),
    );
  };
  expect(await run('--on-unknown', 'hold')).toEqual({status: 'unknown', exitCode: 5});
  return {run, age, requests};
}

function keysOf(requests: readonly {head: string[]}[]): Set<string | undefined> {
  return new Set(requests.map(({head}) => head.find(line => /^idempotency-key/i.test(line))));
}

describe('an upload of unknown outcome, to a service that honours Idempotency-Key', () => {
  it('committed 11 hours ago: sent again under its key; a dry run says so', async () => {
    const {run, age, requests} = await leftUnknown(502, 200);
    await age(11 * hour);
    expect(await run('--dry-run')).toEqual({status: 'checked', exitCode: 0});
    expect(await run()).toEqual({status: 'uploaded', exitCode: 0});
    expect(requests).toHaveLength(2);
    expect(keysOf(requests).size).toBe(1);
  });

  it('committed 13 hours ago: unknown like any other, until the user allows it', async () => {
    const {run, age, requests} = await leftUnknown(502, 200);
    await age(13 * hour);
    expect(await run('--dry-run')).toEqual({status: 'unknown', exitCode: 5});
    expect(await run()).toEqual({status: 'unknown', exitCode: 5});
    expect(requests).toHaveLength(1);
    expect(await run('--on-unknown', 'retry')).toEqual({status: 'uploaded', exitCode: 0});
    expect(keysOf(requests).size).toBe(1);
  });

  it('committed at a time that cannot be read: unknown like any other', async () => {
    const {run, age, requests} = await leftUnknown(502, 200);
    await age(Number.NaN);
    expect(await run('--dry-run')).toEqual({status: 'unknown', exitCode: 5});
    expect(await run()).toEqual({status: 'unknown', exitCode: 5});
    expect(requests).toHaveLength(1);
  });

  it('committed while the clock was a year ahead: unknown like any other, since nobody knows how old it is', async () => {
    const {run, age, requests} = await leftUnknown(502, 200);
    await age(-365 * 24 * hour);
    expect(await run('--dry-run')).toEqual({status: 'unknown', exitCode: 5});
    expect(await run()).toEqual({status: 'unknown', exitCode: 5});
    expect(requests).toHaveLength(1);
  });

  it('sent again after 11 hours, and unknown again: held 12 hours after the first commit', async () => {
    const {run, age, requests} = await leftUnknown(502, 502, 200);
    await age(11 * hour);
    expect(await run()).toEqual({status: 'unknown', exitCode: 5});
    await age(2 * hour);
    expect(await run()).toEqual({status: 'unknown', exitCode: 5});
    expect(requests).toHaveLength(2);
  });
});

describe('409 under the key of an earlier attempt', () => {
  const leftToResend = async (options: Options, ...answers: number[]) => {
    const left = await machine(options, ...answers);
    expect(await left.run('--on-unknown', 'hold')).toEqual({status: 'unknown', exitCode: 5});
    expect((await left.box.run(['journal', 'resolve', 'j', 'photo.png', '--resend'])).exitCode).toBe(0);
    return left;
  };

  it('of an earlier run, to be sent again; keys are honoured: waited for, and uploaded', async () => {
    const {run, requests} = await leftToResend({keys: 'honoured'}, 502, 409, 200);
    expect(await run('--retries', '1')).toEqual({status: 'uploaded', exitCode: 0});
    expect(keysOf(uploadsIn(requests)).size).toBe(1);
  });

  it('of an earlier run, to be sent again as another type: under a key of its own, which no service refuses', async () => {
    const {run, requests} = await leftToResend({}, 502, 200);
    expect(await run('--content-type', 'image/webp')).toEqual({status: 'uploaded', exitCode: 0});
    expect(uploadsIn(requests)).toHaveLength(2);
    expect(keysOf(uploadsIn(requests)).size).toBe(2);
  });

  it('of an earlier run, to be sent again; keys are not honoured: unknown, and held by the next run', async () => {
    const {run, requests} = await leftToResend({}, 502, 409, 200);
    expect(await run('--on-unknown', 'retry', '--retries', '1')).toEqual({status: 'unknown', exitCode: 5});
    expect(await run()).toEqual({status: 'unknown', exitCode: 5});
    expect(uploadsIn(requests)).toHaveLength(2);
    expect(keysOf(uploadsIn(requests)).size).toBe(1);
  });

  it('that was sent whole and refused by 429, while the last bytes are held back: unknown, and held by the next run', async () => {
    const {run, requests} = await machine({size: 8_000_000}, 429, 409, 200);
    expect(await run('--retries', '2')).toEqual({status: 'unknown', exitCode: 5});
    expect(await run()).toEqual({status: 'unknown', exitCode: 5});
    expect(uploadsIn(requests)).toHaveLength(2);
    expect(keysOf(uploadsIn(requests)).size).toBe(1);
  });
});

describe('a service that declares whether it honours Idempotency-Key, without any setting', () => {
  const photo = fixture('photo.png');
  const lost = {list: ['upload:reset,after=store,nth=1']};

  it('honoured, but the first response is lost: asked without a file, sent again, stored once', async () => {
    const {service, sandbox: box} = await connectedSandbox({faults: lost});
    const {stdout, stderr, exitCode} = await box.run(['upload', photo, '--template', '{id}\\n']);
    const records = await service.records();
    expect({stdout, stderr, exitCode}).toEqual({
      stdout: `${records[0]?.record.id}\n`,
      stderr: '',
      exitCode: 0,
    });
    expect(records).toHaveLength(1);
  });

  it('honoured: what an earlier run left unknown is sent again; the journal remembers that', async () => {
    const {service, sandbox: box} = await connectedSandbox({faults: lost});
    const upload = ['upload', photo, '--journal', 'j', '--ndjson'];
    const statusOf = async (...more: string[]) => {
      const {stdout, exitCode} = await box.run([...upload, ...more]);
      return [JSON.parse(stdout).status, exitCode];
    };
    expect(await statusOf('--on-unknown', 'hold')).toEqual(['unknown', 5]);
    // Nobody has heard the service yet.
    expect(await statusOf('--dry-run')).toEqual(['unknown', 5]);
    expect(await statusOf()).toEqual(['uploaded', 0]);
    expect(await service.records()).toHaveLength(1);
    const headers = (await readFile(join(box.directory, 'j'), 'utf8'))
      .split('\n')
      .filter(line => line.includes('"journal":'));
    expect(headers.map(line => JSON.parse(line).honoursKeys)).toEqual([undefined, true]);
  });

  /** What a run does with one file of unknown outcome, where the responses declare that, the last of them the last one's. */
  async function result(declarations: (string | undefined)[], env = {}) {
    const answers = [500, 500];
    const {url, requests} = await scriptedServer(async connection => {
      const isLook = isUploadLook(await connection.request());
      const status = isLook ? 400 : (answers.shift() ?? 200);
      const declared = declarations.length === 1 ? declarations[0] : declarations.shift();
      const fields = declared === undefined ? {} : {'accept-idempotency-key': declared};
      connection.answer(status, status === 200 ? someRecord : '{}', fields);
    });
    const box = await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: 'key-of-the-test-1234', ...env});
    const {exitCode} = await box.run(['upload', photo]);
    return [exitCode, requests.map(request => (isUploadLook(request) ? 'question' : 'file')).join()];
  }

  it.each([
    ['nothing', [undefined], 5, 'file,question'],
    ['?0', ['?0'], 5, 'file'],
    ['?1', ['?1'], 0, 'file,file,file'],
    ['?1 when it is asked', [undefined, '?1'], 0, 'file,question,file,file'],
    ['?1, then ?0: the last one counts', ['?1', '?0'], 5, 'file,file'],
    ['?1 with a parameter, then nothing', ['?1;until=2030', undefined], 0, 'file,file,file'],
    ['what is not a boolean', ['yes'], 5, 'file,question'],
  ])('%s', async (_name, declarations, ...expected) => {
    expect(await result(declarations)).toEqual(expected);
  });

  it('MEDIA_IDEMPOTENCY_KEYS wins: 1, 0', async () => {
    expect(await result([undefined], {MEDIA_IDEMPOTENCY_KEYS: '1'})).toEqual([0, 'file,file,file']);
    expect(await result(['?1'], {MEDIA_IDEMPOTENCY_KEYS: '0'})).toEqual([5, 'file']);
  });

  it('several files that an earlier run left unknown, and a service that says nothing: asked once', async () => {
    const {url, requests} = await scriptedServer(async connection => {
      await connection.request();
      connection.answer(500, '{}');
    });
    const box = await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: 'key-of-the-test-1234'});
    const upload = ['upload', photo, fixture('photo.jpg'), fixture('photo.webp'), '--journal', 'j'];
    expect((await box.run(upload)).exitCode).toBe(5);
    const before = requests.length;
    expect((await box.run(upload)).exitCode).toBe(5);
    expect(requests.slice(before).map(isUploadLook)).toEqual([true]);
  });

  it('a variable with another value: a usage error that says where it comes from', async () => {
    const box = await sandbox({
      MEDIA_BASE_URL: 'http://127.0.0.1:9',
      MEDIA_API_KEY: 'k',
      MEDIA_IDEMPOTENCY_KEYS: 'yes',
    });
    const {stderr, exitCode} = await box.run(['upload', photo]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('"yes" is not a value of idempotency-keys.');
    expect(stderr).toContain('It comes from MEDIA_IDEMPOTENCY_KEYS');
  });

  it('the order: --on-unknown, the variable, the profile, the declaration', async () => {
    const {run, box} = await machine({keys: 'ignored', declares: '?1'}, 500, 500, 200);
    expect(await run('--retries', '1')).toEqual({status: 'unknown', exitCode: 5});
    box.env['MEDIA_IDEMPOTENCY_KEYS'] = '1';
    expect(await run('--on-unknown', 'hold')).toEqual({status: 'unknown', exitCode: 5});
    expect(await run('--retries', '1')).toEqual({status: 'uploaded', exitCode: 0});
  });
});
