import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {fixture, sandbox} from '../../../support/media.ts';
import {scriptedServer, someRecord} from '../../../support/scripted-server.ts';

const hour = 3_600_000;

interface Options {
  keys?: 'honoured' | undefined;
  /** The size of the file, beyond a PNG's first bytes. */
  size?: number;
}

/** A machine with a journal, whose service gives these answers, 409 before it has the whole body. */
async function machine({keys, size = 1_000}: Options, ...answers: number[]) {
  const {url, requests} = await scriptedServer(async connection => {
    const status = answers.shift() ?? 500;
    await connection.request(status === 409 ? 1 : undefined);
    connection.answer(status, status === 200 ? someRecord : 'gone');
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
    expect(keysOf(requests).size).toBe(1);
  });

  it('of an earlier run, to be sent again as another type: under a key of its own, which no service refuses', async () => {
    const {run, requests} = await leftToResend({}, 502, 200);
    expect(await run('--content-type', 'image/webp')).toEqual({status: 'uploaded', exitCode: 0});
    expect(requests).toHaveLength(2);
    expect(keysOf(requests).size).toBe(2);
  });

  it('of an earlier run, to be sent again; keys are not honoured: unknown, and held by the next run', async () => {
    const {run, requests} = await leftToResend({}, 502, 409, 200);
    expect(await run('--on-unknown', 'retry', '--retries', '1')).toEqual({status: 'unknown', exitCode: 5});
    expect(await run()).toEqual({status: 'unknown', exitCode: 5});
    expect(requests).toHaveLength(2);
    expect(keysOf(requests).size).toBe(1);
  });

  it('that was sent whole and refused by 429, while the last bytes are held back: unknown, and held by the next run', async () => {
    const {run, requests} = await machine({size: 8_000_000}, 429, 409, 200);
    expect(await run('--retries', '2')).toEqual({status: 'unknown', exitCode: 5});
    expect(await run()).toEqual({status: 'unknown', exitCode: 5});
    expect(requests).toHaveLength(2);
    expect(keysOf(requests).size).toBe(1);
  });
});
