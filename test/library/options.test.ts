import {rmSync} from 'node:fs';
import {copyFile, readdir, writeFile} from 'node:fs/promises';
import {createServer, type IncomingHttpHeaders, type Server, type ServerResponse} from 'node:http';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import type {OpenSource} from '../../src/engine/sources/open/source.ts';
import {type Clock, systemClock, systemHost} from '../../src/host.ts';
import {
  filesOf,
  MediaClient,
  sourceOf,
  type UploadOptions,
  type UploadResult,
  uploadAll,
} from '../../src/index.ts';
import {holderHere} from '../../src/lib/files/holder.ts';
import {staleMs} from '../../src/lib/files/lock.ts';
import {uploadOn} from '../../src/library/upload-all.ts';
import {jpegWith, position, tiffOf} from '../media/location/tagged.ts';
import {eventually} from '../support/eventually.ts';
import {deadPort, freePort} from '../support/free-ports.ts';
import {changedHandle, wrappedJournals} from '../support/journal.ts';
import {listen, portOf} from '../support/loopback.ts';
import {fixture, temporaryDirectory} from '../support/media.ts';
import {readingRequests} from '../support/read-requests.ts';
import {collect} from '../support/results.ts';
import {someRecord} from '../support/scripted-server.ts';

const photo = fixture('photo.png');

/** What a service does with a request that came whole, by its number. */
type Answer = (response: ServerResponse, number: number) => void;

const store: Answer = response => {
  response.writeHead(200, {'Content-Type': 'application/json'}).end(someRecord);
};
const reset: Answer = response => {
  response.socket?.resetAndDestroy();
};
const refuse =
  (status: number, headers: Record<string, string> = {}): Answer =>
  response => {
    response.writeHead(status, {'Content-Type': 'application/json', ...headers});
    response.end(`{"code":${status},"message":"Not this time."}`);
  };

/** A service that answers the first uploads with these answers and all others with the last, and a client for it. */
async function answering(...answers: Answer[]) {
  const requests: {headers: IncomingHttpHeaders; bytes: number}[] = [];
  const server = createServer(
    readingRequests(async (request, response) => {
      if (request.method !== 'POST' || request.headers['content-type'] === 'text/plain') {
        response.writeHead(405).end();
        return;
      }
      let bytes = 0;
      for await (const chunk of request as AsyncIterable<Buffer>) bytes += chunk.length;
      const number = requests.push({headers: request.headers, bytes}) - 1;
      answers[Math.min(number, answers.length - 1)]?.(response, number);
    }),
  );
  return {requests, client: await clientOf(server), server};
}

/** A client for a server that listens from now on, until the test has finished. */
async function clientOf(server: Server): Promise<MediaClient> {
  await listen(server);
  return clientAt(portOf(server));
}

function clientAt(port: number): MediaClient {
  const client = new MediaClient({baseUrl: `http://127.0.0.1:${port}`, apiKey: 'key-of-the-test'});
  onTestFinished(() => client.close());
  return client;
}

/** What became of a source with these options, and what the service got. */
async function outcomeOf(
  answers: Answer[],
  options: Omit<UploadOptions, 'client'>,
  sources = [sourceOf('a.ico', icon)],
) {
  const {client, requests} = await answering(...answers);
  const results = await collect(uploadAll(sources, {client, ...options}));
  return {results, requests: requests.length, types: requests.map(({headers}) => headers['content-type'])};
}

const png = Buffer.from('\x89PNG\r\n\x1a\n'.padEnd(57), 'latin1');
const icon = Buffer.from('\0\0\x01\0'.padEnd(22), 'latin1');

test('`retries: 0`: one attempt', async () => {
  expect(await outcomeOf([refuse(503), store], {retries: 0})).toMatchObject({
    results: [{status: 'failed', attempts: 1}],
    requests: 1,
  });
});

test('a refusal: its status, the code of its error record, and what a page says, are facts of the error', async () => {
  const page: Answer = response => response.writeHead(413).end('<h1>Too much</h1>');
  const {results} = await outcomeOf([refuse(415), page], {concurrency: 1}, [
    sourceOf('a.ico', icon),
    sourceOf('b.ico', icon),
  ]);
  expect(results).toMatchObject([
    {error: {code: 'rejected', status: 415, serviceCode: 415}},
    {error: {code: 'rejected', status: 413, words: 'Too much'}},
  ]);
});

test('`retries: 1`: the second attempt is the last', async () => {
  expect(await outcomeOf([refuse(503), refuse(503), store], {retries: 1})).toMatchObject({
    results: [{status: 'failed', attempts: 2}],
    requests: 2,
  });
});

test('without `retries`: tried again after a 503, and told to the observer', async () => {
  const told: unknown[][] = [];
  const observer = {retrying: (...facts: unknown[]) => void told.push(facts)};
  expect(await outcomeOf([refuse(503), store], {observer})).toMatchObject({
    results: [{status: 'uploaded', attempts: 2}],
    requests: 2,
  });
  const error = expect.objectContaining({
    name: 'MediaError',
    hint: 'Try again later, or allow more tries with retries.',
  });
  expect(told).toEqual([[0, 'a.ico', error, expect.any(Number)]]);
});

test('`retryMaxWaitMs`: a longer Retry-After is not waited for', async () => {
  const answers = [refuse(429, {'Retry-After': '2'}), store];
  expect(await outcomeOf(answers, {retryMaxWaitMs: 1_000})).toMatchObject({
    results: [{status: 'failed', attempts: 1}],
    requests: 1,
  });
});

test('a single file and a service that is away: its retries, then its own failure', async () => {
  const client = clientAt(await deadPort());
  const options = {client, retries: 1, retryMaxWaitMs: 1};
  expect(await collect(uploadAll([sourceOf('a.ico', icon)], options))).toMatchObject([
    {status: 'failed', attempts: 2, error: {code: 'connection_refused'}},
  ]);
});

test('`timeoutMs`: an attempt ends when nothing more is taken for so long', async () => {
  const client = await clientOf(createServer(request => void request.pause()));
  const source = sourceOf('a.png', Buffer.concat([png, Buffer.alloc(64 * 2 ** 20)]));
  const results = await collect(uploadAll([source], {client, timeoutMs: 300, retries: 0}));
  expect(results).toMatchObject([{status: 'failed', error: {code: 'stalled'}}]);
  expect(results[0]).toMatchObject({error: {message: expect.stringContaining('for 300 ms')}});
});

test('`timeoutMs`: a source that yields nothing for so long is what is said to be slow', async () => {
  const client = await clientOf(createServer(request => void request.resume()));
  const opened: OpenSource = {
    size: 2 * png.length,
    read: async position => (position === 0 ? png : new Promise<never>(() => {})),
    verify: async () => 'unchanged',
    close: async () => {},
  };
  const source = {name: 'a.png', open: async () => opened};
  const results = await collect(uploadAll([source], {client, timeoutMs: 300, retries: 0}));
  const message = 'Nothing more could be read from the file for 300 ms.';
  expect(results).toMatchObject([{status: 'failed', error: {code: 'stalled', message}}]);
});

test('`timeoutMs`: a file without a response for so long is unknown', async () => {
  const {results} = await outcomeOf([() => {}], {timeoutMs: 300});
  expect(results).toMatchObject([
    {status: 'unknown', error: {message: expect.stringContaining('within 300 ms')}},
  ]);
});

test('`limitRate`: all files together take at least the time that it stands for', async () => {
  const {client} = await answering(store);
  const sources = ['a.png', 'b.png'].map(name => sourceOf(name, Buffer.concat([png, Buffer.alloc(150_000)])));
  const start = performance.now();
  await collect(uploadAll(sources, {client, limitRate: 200_000, concurrency: 2}));
  // 300,000 bytes; a quarter of a second may be saved up.
  expect(performance.now() - start).toBeGreaterThan(900);
});

test('`onUnknown`: an unknown upload stays so, or is sent again', async () => {
  expect(await outcomeOf([reset, store], {})).toMatchObject({results: [{status: 'unknown'}], requests: 1});
  expect(await outcomeOf([reset, store], {onUnknown: 'hold'})).toMatchObject({requests: 1});
  expect(await outcomeOf([reset, store], {onUnknown: 'retry'})).toMatchObject({
    results: [{status: 'uploaded', attempts: 2}],
    requests: 2,
  });
});

test.each([
  [{}, {results: [{status: 'uploaded', warning: expect.any(String)}], types: ['image/jpeg']}],
  [{types: 'extension'}, {types: ['image/jpeg']}],
  [{types: 'content'}, {results: [{status: 'uploaded', contentType: 'image/png'}], types: ['image/png']}],
  [{types: 'strict'}, {results: [{status: 'failed', error: {code: 'type_mismatch'}}], types: []}],
  [{contentType: 'image/x-other'}, {results: [{contentType: 'image/x-other'}], types: ['image/x-other']}],
] as const)('the type of PNG bytes in a file a.jpg with %j', async (options, expected) => {
  expect(await outcomeOf([store], options, [sourceOf('a.jpg', png)])).toMatchObject(expected);
});

test('`verify`: a record that differs is a warning, or `mismatched`, with the record', async () => {
  const differing: Answer = response => {
    response.writeHead(200, {'Content-Type': 'application/json'});
    response.end(someRecord.replace('"IMAGE"', '"VIDEO"'));
  };
  const warned: unknown[][] = [];
  const observer = {warning: (...facts: unknown[]) => void warned.push(facts)};
  expect((await outcomeOf([differing], {observer})).results).toMatchObject([{status: 'uploaded'}]);
  expect(warned).toEqual([]);
  const says = expect.stringContaining('type VIDEO instead of IMAGE');
  const warning = {results: [{status: 'uploaded', warning: says}]};
  expect(await outcomeOf([differing], {verify: 'warn', observer})).toMatchObject(warning);
  expect(warned).toEqual([['a.ico', says]]);
  const both = {
    results: [{warning: expect.stringMatching(/bytes say image\/png.* type VIDEO instead of IMAGE/)}],
  };
  const misnamed = [sourceOf('a.jpg', png)];
  expect(await outcomeOf([differing], {verify: 'warn'}, misnamed)).toMatchObject(both);
  expect(await outcomeOf([differing], {verify: 'strict'})).toMatchObject({
    results: [{status: 'mismatched', record: {id: 'm_1'}, error: {code: 'record_mismatch', message: says}}],
  });
  // Sizes of pictures are compared, too.
  const wide: Answer = response => {
    response.writeHead(200, {'Content-Type': 'application/json'});
    response.end(someRecord.replace('{', '{"width":7,"height":7,'));
  };
  const {client} = await answering(wide);
  expect(await collect(uploadAll([photo], {client, verify: 'strict'}))).toMatchObject([
    {status: 'mismatched', verified: ['type', 'width', 'height']},
  ]);
  // What neither knows is not verified.
  const clip = await answering(differing);
  const clips = uploadAll([fixture('clip.wmv')], {client: clip.client, verify: 'strict'});
  expect(await collect(clips)).toMatchObject([{status: 'uploaded', verified: ['type']}]);
});

test('`geotags`: kept without a word, warned of, or stripped', async () => {
  const exif = Buffer.concat([Buffer.from('Exif\0\0'), tiffOf(true, [[[0x88_25, 4, [-1]]], position])]);
  const tagged = [sourceOf('a.jpg', await jpegWith([1, exif]))];
  for (const [geotags, expected] of [
    ['keep', undefined],
    ['warn', 'present'],
    ['strip', 'stripped'],
  ] as const) {
    const {results} = await outcomeOf([store], {geotags}, tagged);
    expect(results[0]?.geotags).toBe(expected);
    expect(results[0]?.warning).toBe(geotags === 'warn' ? 'It tells where it was taken.' : undefined);
  }
});

test('`concurrency`: so many at a time, and no more', async () => {
  const held: ServerResponse[] = [];
  const hold: Answer = (response, number) => {
    held.push(response);
    // The fourth can only come when one of the first three has its response.
    if (number >= 2) for (const one of held.splice(0)) store(one, number);
  };
  const sources = Array.from({length: 6}, (_, index) => sourceOf(`${index}.ico`, icon));
  let most = 0;
  let started = 0;
  const observer = {
    started: () => {
      started += 1;
      most = Math.max(most, started);
    },
    finished: () => {
      started -= 1;
    },
  };
  expect((await outcomeOf([hold], {concurrency: 3, observer}, sources)).results).toHaveLength(6);
  expect(most).toBe(3);
});

test.each(['an array', 'a stream'])(
  '%s: the observer is told how many bytes were sent, and that the service is away and back',
  async kind => {
    const told: unknown[][] = [];
    const {server} = await answering(store);
    await new Promise(resolve => server.close(resolve));
    const port = await freePort();
    const client = clientAt(port);
    const observer = {
      progress: (...facts: unknown[]) => void told.push(['progress', ...facts]),
      unavailable: (...facts: unknown[]) => {
        told.push(['unavailable', ...facts]);
        if (!server.listening) server.listen(port, '127.0.0.1');
      },
    };
    const sources = ['a.ico', 'b.ico', 'c.ico'].map(name => sourceOf(name, icon));
    async function* stream() {
      yield* sources;
    }
    await collect(uploadAll(kind === 'an array' ? sources : stream(), {client, concurrency: 3, observer}));
    expect(told).toContainEqual(['progress', 0, icon.length]);
    expect(told.filter(([name]) => name === 'unavailable')).toEqual([
      ['unavailable', expect.any(Number)],
      ['unavailable', undefined],
    ]);
  },
);

test('a journal that cannot be used ends the iteration: in use, of another service, no journal', async () => {
  const {client, requests} = await answering(store);
  const directory = await temporaryDirectory();
  const journal = join(directory, 'a.journal');
  const upload = (given: Partial<UploadOptions>) => collect(uploadAll([photo], {client, journal, ...given}));
  const holding = uploadAll([photo, photo], {client, journal});
  await holding.next();
  await expect(upload({})).rejects.toMatchObject({name: 'MediaError', code: 'journal_in_use'});
  await holding.return();
  const other = new MediaClient({baseUrl: `${client.baseUrl}/other`, apiKey: 'key-of-the-test'});
  for (const dryRun of [false, true])
    await expect(upload({client: other, dryRun})).rejects.toMatchObject({code: 'journal_of_other_service'});
  await expect(upload({journal: photo})).rejects.toMatchObject({code: 'journal_unusable'});
  expect(requests).toHaveLength(1);
});

test('`signal`, aborted while the call waits for a journal that another machine may use: its reason, and nothing else', async () => {
  const {client, requests} = await answering(store);
  const directory = await temporaryDirectory();
  const journal = join(directory, 'a.journal');
  const elsewhere = {...holderHere(systemHost()), hostName: 'elsewhere'};
  await writeFile(`${journal}.lock`, JSON.stringify(elsewhere));
  const [caller, reason] = [new AbortController(), new Error('enough')];
  let waitedMs = 0;
  const clock: Clock = {
    ...systemClock,
    monotonic: () => systemClock.monotonic() + waitedMs,
    async sleep(_ms, stop) {
      caller.abort(reason);
      stop?.throwIfAborted();
      waitedMs += staleMs;
    },
  };
  const options = {client, journal, signal: caller.signal};
  const run = collect(uploadOn([photo], options, {...systemHost(), clock}));
  await expect(run).rejects.toBe(reason);
  // Aborted before the call, it opens nothing at all.
  await expect(collect(uploadAll([photo], {...options, journal: `${journal}-2`}))).rejects.toBe(reason);
  expect(await readdir(directory)).toEqual(['a.journal.lock']);
  expect(requests).toEqual([]);
});

test('a journal that is lost: in the result of a file that is stored; at the end of the call: it rejects', async () => {
  const directory = await temporaryDirectory();
  const journal = join(directory, 'a.journal');
  const {client} = await answering((response, number) => {
    if (number === 0) rmSync(journal);
    store(response, number);
  });
  const [result] = await collect(uploadAll([photo], {client, journal}));
  expect(result).toMatchObject({status: 'uploaded', unrecorded: {code: 'journal_failed'}});
  const {unrecorded} = result as Extract<UploadResult, {unrecorded?: unknown}>;
  expect(unrecorded?.hint).toEqual(expect.stringMatching(/^Its record is printed/));
  let isBroken = false;
  const files = wrappedJournals(handle =>
    changedHandle(handle, {
      datasync: () => (isBroken ? Promise.reject(new Error('EIO')) : handle.datasync()),
    }),
  );
  const results = uploadOn([photo], {client, journal}, {...systemHost(), files});
  expect((await results.next()).value).toMatchObject({status: 'uploaded'});
  isBroken = true;
  await expect(results.next()).rejects.toMatchObject({code: 'journal_failed'});
});

test('`contentType`, another than that in the journal: the file is sent as that', async () => {
  const {client, requests} = await answering(store);
  const journal = join(await temporaryDirectory(), 'sent.journal');
  for (const contentType of ['image/png', 'image/gif', 'image/gif'])
    await collect(uploadAll([photo], {client, journal, contentType}));
  expect(requests.map(({headers}) => headers['content-type'])).toEqual(['image/png', 'image/gif']);
});

test('a client of your own: only `upload` and `host` are needed; a journal identifies the service by its host', async () => {
  const {client} = await answering(store);
  const journal = join(await temporaryDirectory(), 'a.journal');
  const own = (host: string) => ({
    host,
    upload: (request: Parameters<MediaClient['upload']>[0]) => client.upload(request),
  });
  expect(await collect(uploadAll([photo], {client: own('one.example'), journal}))).toMatchObject([
    {status: 'uploaded'},
  ]);
  expect(await collect(uploadAll([photo], {client: own('one.example'), journal}))).toMatchObject([
    {status: 'skipped'},
  ]);
  await expect(collect(uploadAll([photo], {client: own('two.example'), journal}))).rejects.toMatchObject({
    code: 'journal_of_other_service',
  });
});

test('another store behind the URL of a journal is refused, and nothing is skipped', async () => {
  const {client} = await answering(store);
  const journal = join(await temporaryDirectory(), 'a.journal');
  /** A client of a service that says which store is behind it. */
  const storing = (serviceId: string) => ({
    host: 'one.example',
    serviceId: async () => serviceId,
    async upload(request: Parameters<MediaClient['upload']>[0]) {
      const answer = await client.upload(request);
      return answer.kind === 'stored' ? {...answer, received: {...answer.received, serviceId}} : answer;
    },
  });
  const [first, second] = [storing('store-1'), storing('store-2')];
  expect(await collect(uploadAll([photo], {client: first, journal}))).toMatchObject([{status: 'uploaded'}]);
  expect(await collect(uploadAll([photo], {client: first, journal}))).toMatchObject([{status: 'skipped'}]);
  for (const dryRun of [false, true])
    await expect(collect(uploadAll([photo], {client: second, journal, dryRun}))).rejects.toMatchObject({
      code: 'journal_of_other_service',
    });
});

test.each([new Error('There are no more.'), undefined])(
  'inputs that reject with %s: that, after the results of what was taken',
  async broken => {
    const {client} = await answering(store);
    async function* inputs() {
      yield photo;
      throw broken;
    }
    const results: UploadResult[] = [];
    const iterate = async () => {
      for await (const result of uploadAll(inputs(), {client})) results.push(result);
    };
    await expect(iterate()).rejects.toBe(broken);
    expect(results).toMatchObject([{status: 'uploaded'}]);
  },
);

test('aborted by its inputs: the one that comes with that has its result, too', async () => {
  const {client} = await answering(store);
  const caller = new AbortController();
  async function* inputs() {
    yield sourceOf('a.ico', icon);
    await undefined;
    caller.abort(new Error('enough'));
    yield sourceOf('b.ico', icon);
  }
  const names: string[] = [];
  const uploads = (async () => {
    for await (const {file: name} of uploadAll(inputs(), {client, signal: caller.signal})) names.push(name);
  })();
  await expect(uploads).rejects.toThrow('enough');
  expect(names.sort()).toEqual(['a.ico', 'b.ico']);
});

test('left while a file waits for its response: that is awaited, and the journal knows it', async () => {
  let respond = () => {};
  const {client, requests} = await answering((response, number) => {
    if (number === 0) respond = () => store(response, number);
    else store(response, number);
  });
  const journal = join(await temporaryDirectory(), 'a.journal');
  const slow = sourceOf('slow.ico', Buffer.concat([icon, Buffer.from('slow')]));
  const sources = async function* () {
    yield slow;
    await eventually(() => requests.length === 1);
    yield sourceOf('quick.ico', icon);
  };
  const results = uploadAll(sources(), {client, journal, concurrency: 2});
  expect((await results.next()).value).toMatchObject({file: 'quick.ico'});
  const left = results.return();
  respond();
  await left;
  expect(await collect(uploadAll([slow], {client, journal}))).toMatchObject([{status: 'skipped'}]);
  // The client stays open.
  expect(await collect(uploadAll([photo], {client}))).toMatchObject([{status: 'uploaded'}]);
  expect(requests).toHaveLength(3);
});

test('a record keeps every digit in `json`; size, attempts and position are facts of each result', async () => {
  const long: Answer = response => {
    response.writeHead(200, {'Content-Type': 'application/json'});
    response.end(someRecord.replace('{', '{"size":22,"large":12345678901234567890.10,'));
  };
  const {results} = await outcomeOf([long], {});
  expect(results).toMatchObject([{position: 0, size: 22, attempts: 1, record: {id: 'm_1', size: 22}}]);
  expect(results[0]).toHaveProperty('json', expect.stringContaining('12345678901234567890.10'));
  expect(results[0]).not.toHaveProperty('received');
});

test('files of a directory: what is media by its bytes is started, and what is not has no result', async () => {
  const {client} = await answering(store);
  const cwd = await temporaryDirectory();
  await writeFile(join(cwd, 'notes.txt'), 'no media');
  await copyFile(photo, join(cwd, 'photo'));
  const started: string[] = [];
  const observer = {started: (_position: number, name: string) => void started.push(name)};
  const given = {client, observer, cwd};
  expect(await collect(uploadAll(filesOf(['.'], {cwd, recursive: true}), given))).toMatchObject([
    {file: 'photo'},
  ]);
  expect(started).toEqual(['photo']);
  expect(await collect(uploadAll(['notes.txt'], given))).toMatchObject([{status: 'failed'}]);
});
