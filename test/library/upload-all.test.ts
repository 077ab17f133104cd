import {copyFile, mkdir, readFile, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {
  bytesSource,
  filesOf,
  MediaClient,
  type MediaError,
  type UploadOptions,
  type UploadResult,
  uploadAll,
} from '../../src/index.ts';
import {embeddedService} from '../support/embedded.ts';
import {fixture, temporaryDirectory} from '../support/media.ts';
import {scriptedServer, someRecord} from '../support/scripted-server.ts';

const photo = fixture('photo.png');
const clip = fixture('clip.mp4');

async function connected() {
  const {service, key} = await embeddedService();
  const client = new MediaClient({baseUrl: service.url, apiKey: key});
  onTestFinished(() => client.close());
  return {service, client};
}

async function collect(results: AsyncIterable<UploadResult>): Promise<UploadResult[]> {
  const all: UploadResult[] = [];
  for await (const result of results) all.push(result);
  return all;
}

describe('uploadAll', () => {
  it('takes paths, and yields the record of each with its text', async () => {
    const {service, client} = await connected();
    const results = await collect(uploadAll([photo, clip], {client, concurrency: 1}));
    const stored = await service.records();
    expect(results).toEqual([
      expect.objectContaining({
        name: photo,
        position: 0,
        status: 'uploaded',
        contentType: 'image/png',
        attempts: 1,
      }),
      expect.objectContaining({
        name: clip,
        position: 1,
        status: 'uploaded',
        contentType: 'video/mp4',
        attempts: 1,
      }),
    ]);
    expect(results.map(result => 'record' in result && result.record)).toEqual(
      stored.map(({record}) => record),
    );
    expect(results.map(result => 'json' in result && JSON.parse(result.json))).toEqual(
      stored.map(({record}) => record),
    );
    expect(await readFile(stored[0]?.path ?? '')).toEqual(await readFile(photo));
  });

  it('takes relative paths from `cwd`, sources of filesOf, and bytes in memory', async () => {
    const {service, client} = await connected();
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, 'assets/deep'), {recursive: true});
    await copyFile(photo, join(cwd, 'photo.png'));
    await copyFile(clip, join(cwd, 'assets/deep/clip.mp4'));
    await writeFile(join(cwd, 'assets/notes.txt'), 'no media');
    async function* inputs() {
      yield 'photo.png';
      yield* filesOf(['assets'], {recursive: true, exclude: ['*.txt'], cwd});
      yield bytesSource('memory.png', await readFile(photo));
    }
    const results = await collect(uploadAll(inputs(), {client, cwd, concurrency: 1}));
    expect(results.map(({name, status}) => [name, status])).toEqual([
      ['photo.png', 'uploaded'],
      ['assets/deep/clip.mp4', 'uploaded'],
      ['memory.png', 'uploaded'],
    ]);
    const [first, , last] = await service.records();
    expect(last?.sha256).toBe(first?.sha256);
  });

  it('yields a failure of one file as a result, and goes on', async () => {
    const {client} = await connected();
    const results = await collect(uploadAll(['missing.png', photo], {client, concurrency: 1}));
    expect(results).toEqual([
      expect.objectContaining({
        status: 'failed',
        attempts: 0,
        error: expect.objectContaining({name: 'MediaError', code: 'file_missing'}),
      }),
      expect.objectContaining({status: 'uploaded'}),
    ]);
  });

  it('with a journal: the second call sends nothing and yields the same records', async () => {
    const {service, client} = await connected();
    const journal = join(await temporaryDirectory(), 'uploads.journal');
    const first = await collect(uploadAll([photo, clip], {client, journal, concurrency: 1}));
    const second = await collect(uploadAll([photo, clip], {client, journal, concurrency: 1}));
    expect(second.map(({status}) => status)).toEqual(['skipped', 'skipped']);
    expect(second.map(result => 'record' in result && result.record.id)).toEqual(
      first.map(result => 'record' in result && result.record.id),
    );
    expect(await service.records()).toHaveLength(2);
  });

  it('a dry run: checks, sends nothing, makes no journal', async () => {
    const {service, client} = await connected();
    const journal = join(await temporaryDirectory(), 'uploads.journal');
    const copy = bytesSource('copy.png', await readFile(photo));
    const results = await collect(uploadAll([photo, copy], {client, journal, dryRun: true}));
    expect(results).toEqual([
      expect.objectContaining({status: 'checked'}),
      expect.objectContaining({status: 'checked', duplicateOf: photo}),
    ]);
    expect(await service.records()).toEqual([]);
    await expect(stat(journal)).rejects.toThrow('ENOENT');
  });

  it('tells an observer that is an instance of a class', async () => {
    const {client} = await connected();
    class Observer {
      readonly calls: unknown[] = [];
      started(...facts: unknown[]) {
        this.calls.push(['started', ...facts]);
      }
      finished(...facts: unknown[]) {
        this.calls.push(['finished', ...facts]);
      }
    }
    const observer = new Observer();
    await collect(uploadAll([photo], {client, observer}));
    expect(observer.calls).toEqual([
      ['started', 0, photo, (await stat(photo)).size],
      ['finished', 0],
    ]);
  });

  it('whoever leaves the iteration early ends the batch: nothing more is taken', async () => {
    const {service, client} = await connected();
    let taken = 0;
    function* endless() {
      for (;;) {
        taken += 1;
        yield photo;
      }
    }
    for await (const {status} of uploadAll(endless(), {client, concurrency: 2})) {
      expect(status).toBe('uploaded');
      break;
    }
    const stored = (await service.records()).length;
    expect(taken).toBeLessThan(10);
    expect(stored).toBeLessThanOrEqual(taken);
  });

  it('aborted: the request under way is dropped before the file is whole, and its result says so', async () => {
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      connection.answer(200, someRecord);
    });
    const client = new MediaClient({baseUrl: url, apiKey: 'key-of-the-test'});
    onTestFinished(() => client.close());
    const caller = new AbortController();
    caller.abort(new Error('enough'));
    expect(await collect(uploadAll([photo], {client, signal: caller.signal}))).toEqual([]);
    const during = new AbortController();
    const observer = {started: () => during.abort(new Error('enough'))};
    const [result] = await collect(uploadAll([photo], {client, signal: during.signal, observer}));
    expect(result).toMatchObject({
      status: 'failed',
      error: {code: 'interrupted', cause: {message: 'enough'}},
    });
  });

  it.each<[Partial<UploadOptions>, string]>([
    [{concurrency: 0}, 'concurrency must be a whole number from 1 to 1000, not 0.'],
    [{retries: 1.5}, 'retries must be a whole number from 0 to 100, not 1.5.'],
    [{limitRate: -1}, 'limitRate must be a number above 0, not -1.'],
    [{stallTimeoutMs: Number.NaN}, 'stallTimeoutMs must be a number above 0, not NaN.'],
    [{contentType: 'text/plain'}, '--content-type takes an image or video type, not "text/plain".'],
  ])('%j: throws at once', async (options, message) => {
    const {client} = await connected();
    expect(() => uploadAll([photo], {client, ...options})).toThrow(
      expect.objectContaining({code: 'usage', message}),
    );
  });
});

describe('filesOf', () => {
  it('a pattern that matches nothing, and a file called -', async () => {
    const cwd = await temporaryDirectory();
    await expect(collectNames(filesOf(['*.png'], {cwd}))).rejects.toMatchObject({code: 'nothing_matched'});
    expect(await collectNames(filesOf(['*.png'], {cwd, allowEmpty: true}))).toEqual([]);
    expect(await collectNames(filesOf(['-'], {cwd}))).toEqual(['./-']);
  });
});

async function collectNames(sources: AsyncIterable<{name: string}>): Promise<string[]> {
  const names: string[] = [];
  for await (const {name} of sources) names.push(name);
  return names;
}

describe('bytesSource', () => {
  it('no bytes: empty_file', async () => {
    const {client} = await connected();
    const [result] = await collect(uploadAll([bytesSource('nothing.png', new Uint8Array())], {client}));
    expect(result).toMatchObject({status: 'failed', error: {code: 'empty_file'}});
  });
});

describe('MediaClient', () => {
  it.each([
    [{baseUrl: 'ftp://x', apiKey: 'key'}, '"ftp://x" is not a valid base URL.'],
    [
      {baseUrl: 'http://api.example.com', apiKey: 'key'},
      'The key would go to api.example.com unencrypted: the base URL is plain http.',
    ],
    [{baseUrl: 'https://api.example.com', apiKey: ''}, 'The API key is empty.'],
    [
      {baseUrl: 'https://api.example.com', apiKey: 'key', graphqlUrl: 'nonsense'},
      '"nonsense" is not a valid GraphQL URL.',
    ],
  ])('%j: throws usage', (options, message) => {
    let error: unknown;
    try {
      new MediaClient(options);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({name: 'MediaError', code: 'usage', message} satisfies Partial<MediaError>);
  });

  it('graphql: posts the query with the key, and returns the answer', async () => {
    const {client} = await connected();
    const {status, body} = await client.graphql({query: '{ __typename }'});
    expect({status, answer: JSON.parse(body.toString())}).toEqual({
      status: 200,
      answer: {data: {__typename: 'Query'}},
    });
  });
});
