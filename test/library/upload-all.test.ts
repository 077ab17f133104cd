import {copyFile, mkdir, readFile, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {
  filesOf,
  MediaClient,
  type MediaError,
  sourceOf,
  type UploadOptions,
  upload,
  uploadAll,
} from '../../src/index.ts';
import {fixture, temporaryDirectory} from '../support/media.ts';
import {collect, settled} from '../support/results.ts';
import {scriptedServer, someRecord} from '../support/scripted-server.ts';
import {clip, connected, counted, photo} from './connected.ts';

describe('what a program tries first', () => {
  it('the URL of one file', async () => {
    const {client, service} = await connected();
    const {file, id, url} = await upload(photo, {client});
    expect([{file, id, url}]).toEqual(
      (await service.records()).map(({record: {id, fileUrl}}) => ({file: photo, id, url: fileUrl})),
    );
  });

  it('the URL of each file by its name, and the code of each failure', async () => {
    const {client, service} = await connected();
    const urls: Record<string, string | undefined> = {};
    for await (const result of uploadAll([photo, 'gone.png'], {client}))
      urls[result.file] =
        'error' in result ? result.error.code : result.status === 'uploaded' ? result.url : '';
    const [stored] = await service.records();
    expect(urls).toEqual({[photo]: stored?.record.fileUrl, 'gone.png': 'file_missing'});
  });
});

describe('uploadAll', () => {
  it('takes paths, and yields the record of each with its text', async () => {
    const {service, client} = await connected();
    const results = await collect(uploadAll([photo, clip], {client, concurrency: 1}));
    const stored = await service.records();
    expect(results).toEqual([
      expect.objectContaining({
        file: photo,
        position: 0,
        status: 'uploaded',
        contentType: 'image/png',
        attempts: 1,
      }),
      expect.objectContaining({
        file: clip,
        position: 1,
        status: 'uploaded',
        contentType: 'video/mp4',
        attempts: 1,
      }),
    ]);
    expect(results.map(result => 'record' in result && result.record)).toEqual(
      stored.map(({record}) => record),
    );
    expect(results.map(result => 'record' in result && [result.id, result.url])).toEqual(
      stored.map(({record: {id, fileUrl}}) => [id, fileUrl]),
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
      yield sourceOf('memory.png', await readFile(photo));
    }
    const results = await collect(uploadAll(inputs(), {client, cwd, concurrency: 1}));
    expect(results.map(({file: name, status}) => [name, status])).toEqual([
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

  it('an observer that throws while the next input is awaited: rejects with that, and does not wait', async () => {
    const {client} = await connected();
    const bug = new Error('a bug');
    async function* inputs() {
      yield photo;
      await new Promise(() => {});
    }
    const observer = {
      finished() {
        throw bug;
      },
    };
    const {results, thrown} = await settled(uploadAll(inputs(), {client, observer}));
    expect(results).toMatchObject([{status: 'uploaded'}]);
    expect(thrown).toBe(bug);
  });

  it('a dry run: checks, sends nothing, makes no journal', async () => {
    const {service, client} = await connected();
    const journal = join(await temporaryDirectory(), 'uploads.journal');
    const results = await collect(uploadAll([photo, clip], {client, journal, dryRun: true}));
    expect(results).toEqual([
      expect.objectContaining({status: 'checked'}),
      expect.objectContaining({status: 'checked'}),
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
    const enough = new Error('enough');
    const observer = {started: () => caller.abort(enough)};
    const {results, thrown} = await settled(uploadAll([photo], {client, signal: caller.signal, observer}));
    expect(results).toMatchObject([{status: 'failed', error: {code: 'interrupted', cause: enough}}]);
    expect(thrown).toBe(enough);
  });

  it('aborted before: rejects with the reason, and takes nothing', async () => {
    const {client} = await connected();
    const inputs = counted([photo]);
    const signal = AbortSignal.abort('enough');
    expect(await settled(uploadAll(inputs, {client, signal}))).toEqual({results: [], thrown: 'enough'});
    expect(inputs.taken).toBe(0);
  });

  it.each(['aborted', 'left'])('%s while its inputs wait for something that never comes: ends', async how => {
    const {client} = await connected();
    let isClosed = false;
    const inputs = {
      [Symbol.asyncIterator]: () => {
        const given = [photo];
        return {
          next: () => {
            const value = given.pop();
            return value === undefined ? new Promise<never>(() => {}) : Promise.resolve({value});
          },
          return: async () => {
            isClosed = true;
            return {done: true as const, value: undefined};
          },
        };
      },
    };
    const caller = new AbortController();
    const results = uploadAll(inputs, {client, signal: caller.signal});
    expect((await results.next()).value).toMatchObject({status: 'uploaded'});
    const next = results.next();
    if (how === 'aborted') {
      caller.abort('enough');
      await expect(next).rejects.toBe('enough');
    } else {
      await results.return();
      expect(await next).toEqual({done: true, value: undefined});
    }
    expect(isClosed).toBe(true);
  });

  it('with a journal: ./a.png and a.png are one file, even if its content has changed', async () => {
    const {client} = await connected();
    const cwd = await temporaryDirectory();
    const journal = join(cwd, 'uploads.journal');
    await copyFile(photo, join(cwd, 'a.png'));
    await collect(uploadAll(['./a.png'], {client, journal, cwd}));
    await copyFile(fixture('photo.gif'), join(cwd, 'a.png'));
    await collect(uploadAll(['a.png'], {client, journal, cwd}));
    const lines = (await readFile(journal, 'utf8'))
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(new Set(lines.map(({path}) => path).filter(path => path !== undefined))).toEqual(
      new Set(['a.png']),
    );
  });

  it.each<[string, unknown, string]>([
    ['a path', 'photo.png', 'not as "photo.png".'],
    ['a URL', new URL('file:///photo.png'), 'not as an object (URL).'],
    ['bytes', Buffer.from('photo'), 'not as an object (Buffer).'],
    ['a source', sourceOf('photo.png', Buffer.from('photo')), 'not as an object (Object).'],
    ['nothing', undefined, 'not as undefined.'],
  ])('%s in the place of a list: throws at once', async (_what, inputs, says) => {
    const {client} = await connected();
    const message = expect.stringContaining(says);
    expect(() => uploadAll(inputs as string[], {client})).toThrow(
      expect.objectContaining({code: 'usage', message}),
    );
    if (!(inputs instanceof Object && 'open' in inputs))
      await expect(collectNames(filesOf(inputs as string[]))).rejects.toMatchObject({code: 'usage'});
  });

  it.each([[new URL('file:///photo.png')], [Buffer.from('photo')], [null], [['photo.png']]])(
    'a list with %j in it: rejects with usage, after the results of what came before',
    async input => {
      const {client} = await connected();
      const {results, thrown} = await settled(uploadAll([photo, input as unknown as string], {client}));
      expect(results).toMatchObject([{file: photo}]);
      expect(thrown).toMatchObject({code: 'usage'});
    },
  );

  it.each<[Record<string, unknown>, string]>([
    [{concurency: 2}, 'There is no option "concurency".'],
    [{client: undefined}, 'client must be a MediaClient, not undefined.'],
    [{signal: new AbortController()}, 'signal must be an AbortSignal, not an object (AbortController).'],
    [{dryRun: 'yes'}, 'dryRun must be true or false, not "yes".'],
    [{verify: true}, 'verify must be warn or strict, not true.'],
    [{onUnknown: 'resend'}, 'onUnknown must be hold or retry, not "resend".'],
    [{types: 'bytes'}, 'types must be extension or content or strict, not "bytes".'],
  ])('an option that does not exist, or not so (%j): throws at once', async (options, message) => {
    const {client} = await connected();
    expect(() => uploadAll([photo], {client, ...options} as UploadOptions)).toThrow(
      expect.objectContaining({code: 'usage', message}),
    );
  });

  it('unknown options of filesOf and MediaClient: usage', async () => {
    await expect(collectNames(filesOf(['.'], {recursiv: true} as object))).rejects.toMatchObject({
      code: 'usage',
    });
    const options = {baseUrl: 'https://api.example.com', apiKey: 'key', alowHttp: true};
    expect(() => new MediaClient(options)).toThrow('There is no option "alowHttp".');
  });

  it.each<[Partial<UploadOptions>, string]>([
    [{concurrency: 0}, 'concurrency must be auto or a whole number from 1 to 1000, not 0.'],
    [{retries: 1.5}, 'retries must be a whole number from 0 to 100, not 1.5.'],
    [{limitRate: -1}, 'limitRate must be a number above 0, not -1.'],
    [{timeoutMs: Number.NaN}, 'timeoutMs must be a number above 0, not NaN.'],
    [{contentType: 'text/plain'}, '"text/plain" is not the type of an image or a video.'],
  ])('%j: throws at once', async (options, message) => {
    const {client} = await connected();
    expect(() => uploadAll([photo], {client, ...options})).toThrow(
      expect.objectContaining({code: 'usage', message}),
    );
  });
});

describe('filesOf', () => {
  it('hidden files of a directory are left out, also for those who only list', async () => {
    const cwd = await temporaryDirectory();
    for (const name of ['a.png', '.b.png']) await copyFile(fixture('photo.png'), join(cwd, name));
    const options = {cwd, recursive: true};
    expect(await collectNames(filesOf(['.'], options))).toEqual(['a.png']);
    expect(await collectNames(filesOf(['.'], {...options, all: true}))).toEqual(['.b.png', 'a.png']);
  });

  it('a pattern that matches nothing, and a file called -', async () => {
    const cwd = await temporaryDirectory();
    await expect(collectNames(filesOf(['*.png'], {cwd}))).rejects.toMatchObject({code: 'nothing_matched'});
    expect(await collectNames(filesOf(['-'], {cwd}))).toEqual(['./-']);
    const later = (async function* () {
      yield 'a.png';
    })();
    expect(await collectNames(filesOf(later, {cwd}))).toEqual(['a.png']);
  });

  it.each([5, {}, Buffer.from('a.png'), new URL('file:///a.png')])('of %j: usage', async path => {
    await expect(collectNames(filesOf(['a.png', path as never]))).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('A path must be a text, not '),
    });
  });
});

async function collectNames(sources: AsyncIterable<{name: string}>): Promise<string[]> {
  const names: string[] = [];
  for await (const {name} of sources) names.push(name);
  return names;
}

describe('sourceOf', () => {
  it('no bytes: empty_file', async () => {
    const {client} = await connected();
    const [result] = await collect(uploadAll([sourceOf('nothing.png', new Uint8Array())], {client}));
    expect(result).toMatchObject({status: 'failed', error: {code: 'empty_file'}});
  });
});

describe('MediaClient', () => {
  it.each([
    [{baseUrl: 'ftp://x', apiKey: 'key'}, 'The base URL is not a valid URL.'],
    [
      {baseUrl: 'http://api.example.com', apiKey: 'key'},
      'The key would go to api.example.com unencrypted: the base URL is plain http.',
    ],
    [{baseUrl: 'https://api.example.com', apiKey: ''}, 'The API key is empty.'],
    [
      {baseUrl: 'https://api.example.com', apiKey: 'key', graphqlUrl: 'nonsense'},
      'The GraphQL URL is not a valid URL.',
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

  it('graphql: posts the query with the key, and returns the response', async () => {
    const {client} = await connected();
    const {status, body} = await client.graphql({query: '{ __typename }'});
    expect({status, answer: JSON.parse(body.toString())}).toEqual({
      status: 200,
      answer: {data: {__typename: 'Query'}},
    });
  });
});
