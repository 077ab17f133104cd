import {copyFile, readdir, rm} from 'node:fs/promises';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {PassThrough} from 'node:stream';
import {expect, onTestFinished, test} from 'vitest';
import type {UploadFlags} from '../../../../src/cli/commands/upload/flags.ts';
import {type QueueOptions, UploadQueue} from '../../../../src/cli/commands/upload/upload-queue.ts';
import {Report} from '../../../../src/cli/output/report.ts';
import {Stdout} from '../../../../src/cli/output/stdout.ts';
import type {Invocation} from '../../../../src/cli/session/invocation.ts';
import {Disk} from '../../../../src/engine/sources/open/disk.ts';
import {sourceAt} from '../../../../src/engine/sources/open/file-source.ts';
import {MediaError} from '../../../../src/errors.ts';
import {nextTurn} from '../../../../src/host.ts';
import {systemFiles} from '../../../../src/lib/files/file-system.ts';
import {sandboxFor} from '../../../engine/service/program.ts';
import {connectedSandbox} from '../../../support/embedded.ts';
import {inWords} from '../../../support/hints.ts';
import {hostIn} from '../../../support/journal.ts';
import {listen, urlOf} from '../../../support/loopback.ts';
import {fixture, type Sandbox} from '../../../support/media.ts';
import {slowTest} from '../../../support/patience.ts';
import {scriptedServer, someRecord} from '../../../support/scripted-server.ts';

interface Machine {
  sandbox: Sandbox;
  /** Called when a queue is ready to be idle: it is when the test calls `end`. */
  onIdle?: (end: () => void) => void;
}

/** A queue on a machine, and a function that adds a file to it by its name. */
function queueOn(
  {sandbox, onIdle = () => {}}: Machine,
  flags: Partial<UploadFlags>,
  options: Partial<QueueOptions> = {},
) {
  const real = hostIn(sandbox.directory, {
    env: {...sandbox.env, XDG_STATE_HOME: sandbox.directory},
    platform: 'linux',
  });
  const after = (ms: number, action: () => void) => {
    if (ms !== 2_000) return real.clock.after(ms, action);
    onIdle(action);
    return () => {};
  };
  const host = {...real, clock: {...real.clock, after}};
  const stream = new PassThrough();
  let told = '';
  stream.on('data', text => {
    told += text;
  });
  const invocation: Invocation = {
    ...{host, stdout: new Stdout(stream), globals: {}, argv: [], optionWords: () => [], abandon: () => {}},
    report: new Report({stream, color: false, level: 'default', inWords}),
  };
  const queue = new UploadQueue(invocation, {
    ...{onUnavailable: () => {}, beforeEnd: () => undefined, ...options},
    flags: {once: false, ...flags},
  });
  onTestFinished(() => queue.stop(new MediaError('interrupted', 'The test is over.')));
  const add = (name: string) =>
    queue.add(sourceAt(new Disk(systemFiles), name, join(sandbox.directory, name), false));
  return {queue, add, told: () => told};
}

const names = ['photo.png', 'photo.gif', 'photo.webp', 'photo.jpg'];

async function copyPhotos({directory}: Sandbox): Promise<void> {
  for (const name of names) await copyFile(fixture(name), join(directory, name));
}

test(
  'a file that is added while the queue closes, at any moment of that: is uploaded',
  slowTest,
  async () => {
    const {sandbox, service} = await connectedSandbox();
    await copyPhotos(sandbox);
    let beIdle: (() => void) | undefined;
    const onIdle = (end: () => void) => {
      beIdle = end;
    };
    const {queue, add} = queueOn({sandbox, onIdle}, {});
    const addAt = (moment: number) => add(names[moment % 3] ?? '');
    const moments = 40;
    for (let moment = 0; moment < moments; moment += 1) {
      beIdle = undefined;
      await addAt(0);
      for (let turn = 0; beIdle === undefined && turn < 1000; turn += 1) await nextTurn();
      (beIdle as (() => void) | undefined)?.();
      if (moment < 10) for (let turn = 0; turn < moment; turn += 1) await undefined;
      else for (let turn = 10; turn < moment; turn += 1) await nextTurn();
      expect(await addAt(moment)).toMatchObject({status: 'uploaded'});
    }
    await queue.stop(new MediaError('interrupted', 'The test is over.'));
    await expect(addAt(0)).rejects.toMatchObject({code: 'interrupted'});
    expect(await service.records()).toHaveLength(2 * moments);
  },
);

test('a key that is not known: each file is told that, tried or not; once it is, the next is uploaded at once', async () => {
  let isKnown = false;
  const {url} = await scriptedServer(async connection => {
    await connection.request();
    if (isKnown) connection.answer(200, someRecord);
    else connection.answer(401, '{"code":401,"message":"no"}');
  });
  const sandbox = await sandboxFor(url);
  await copyPhotos(sandbox);
  const {add} = queueOn({sandbox}, {concurrency: 1});
  expect(await Promise.all(names.map(add))).toMatchObject(
    names.map(() => ({status: 'failed', error: {code: 'unauthorized'}})),
  );
  isKnown = true;
  expect(await add(names[0] ?? '')).toMatchObject({status: 'uploaded'});
});

test('another program that was at the port of the service: the next file is uploaded at once', async () => {
  let isOther = true;
  const {url} = await scriptedServer(async connection => {
    if (isOther) return void connection.socket.end('SSH-2.0-OpenSSH_9.6\r\n');
    await connection.request();
    connection.answer(200, someRecord);
  });
  const sandbox = await sandboxFor(url);
  await copyPhotos(sandbox);
  const {add} = queueOn({sandbox}, {});
  expect(await add(names[0] ?? '')).toMatchObject({status: 'failed', error: {code: 'not_http'}});
  isOther = false;
  expect(await add(names[0] ?? '')).toMatchObject({status: 'uploaded'});
});

test('a login page in place of a tunnel: waited for, as a service that is away is', async () => {
  const page = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nlogin';
  const server = createServer(socket => socket.on('error', () => {}).once('data', () => socket.end(page)));
  await listen(server);
  const sandbox = await sandboxFor('https://media.invalid', {HTTPS_PROXY: urlOf(server)});
  await copyPhotos(sandbox);
  let added: Promise<unknown> = Promise.resolve();
  const away = new Promise(resolve => {
    const {add} = queueOn({sandbox}, {}, {onUnavailable: since => since !== undefined && resolve('away')});
    added = add(names[0] ?? '').catch(() => 'rejected');
  });
  expect(await Promise.race([away, added])).toBe('away');
});

test('a service that was away for too long, and is back: the next file is uploaded at once', async () => {
  let isAway = true;
  let requests = 0;
  let answerAll = () => {};
  const allAreSent = new Promise<void>(resolve => {
    answerAll = resolve;
  });
  const {url} = await scriptedServer(async connection => {
    await connection.request();
    requests += 1;
    // One that fails before the others are sent would be an outage of its own.
    if (requests === 3) answerAll();
    await allAreSent;
    if (isAway) connection.answer(502);
    else connection.answer(200, someRecord);
  });
  const sandbox = await sandboxFor(url);
  await copyPhotos(sandbox);
  const times: (number | undefined)[] = [];
  const options = {onUnavailable: (since?: number) => void times.push(since)};
  const {add} = queueOn({sandbox}, {concurrency: 3, retries: 0, retryMaxWait: 1}, options);
  const outcomes = await Promise.all(names.map(add));
  const codes = outcomes.map(outcome => 'error' in outcome && outcome.error.code);
  expect(codes).toEqual([...Array(3).fill('outcome_unknown'), 'outage']);
  expect(times).toEqual([expect.any(Number)]);
  isAway = false;
  expect(await add(names[3] ?? '')).toMatchObject({status: 'uploaded'});
  expect(times).toEqual([expect.any(Number), undefined]);
});

test.each(['before a file is sent', 'while it is sent'])(
  'a journal of this machine that is lost %s: the next file is uploaded, and recorded in a new one',
  async when => {
    const journals = () => join(sandbox.directory, 'media/journals');
    let isLost = false;
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      if (isLost) await rm(journals(), {recursive: true});
      isLost = false;
      connection.answer(200, someRecord);
    });
    const sandbox = await sandboxFor(url);
    await copyPhotos(sandbox);
    const {queue, add} = queueOn({sandbox}, {once: true});
    expect(await add('photo.png')).toMatchObject({status: 'uploaded'});
    expect(await add('photo.png')).toMatchObject({status: 'skipped'});
    if (when === 'while it is sent') {
      isLost = true;
      expect(await add('photo.gif')).toMatchObject({
        status: 'uploaded',
        unrecorded: {code: 'journal_failed'},
      });
    } else {
      await rm(journals(), {recursive: true});
      expect(await add('photo.gif')).toMatchObject({status: 'failed', error: {code: 'journal_failed'}});
    }
    expect(await add('photo.webp')).toMatchObject({status: 'uploaded'});
    expect(await add('photo.webp')).toMatchObject({status: 'skipped'});
    await queue.stop(new MediaError('interrupted', 'The test is over.'));
    expect(await readdir(journals())).toHaveLength(1);
  },
);

test('a file whose bytes are of another type than its name: warned of', async () => {
  const {sandbox} = await connectedSandbox();
  await copyFile(fixture('photo.gif'), join(sandbox.directory, 'a.png'));
  const {add, told} = queueOn({sandbox}, {});
  expect(await add('a.png')).toMatchObject({status: 'uploaded'});
  expect(told()).toContain('warning: a.png: The extension .png says image/png');
});
