import {getEventListeners} from 'node:events';
import {createReadStream, openAsBlob} from 'node:fs';
import {appendFile, copyFile, link, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {createServer} from 'node:http';
import {join} from 'node:path';
import {Readable} from 'node:stream';
import {expect, onTestFinished, test} from 'vitest';
import {MediaError as EngineError} from '../../src/errors.ts';
import {command, hint, option, variable} from '../../src/hint.ts';
import {
  type ErrorCode,
  errorCodes,
  filesOf,
  MediaClient,
  MediaError,
  sourceOf,
  startService,
  type UploadOptions,
  upload,
  uploadAll,
} from '../../src/index.ts';
import {Stop} from '../../src/lib/stop.ts';
import {inLibraryWords} from '../../src/library/library-face.ts';
import {embeddedService} from '../support/embedded.ts';
import {eventually} from '../support/eventually.ts';
import {listen, portOf} from '../support/loopback.ts';
import {fixture, temporaryDirectory} from '../support/media.ts';
import {canListOpenFiles, openFiles} from '../support/open-files.ts';
import {collect} from '../support/results.ts';
import {someRecord} from '../support/scripted-server.ts';

const photo = fixture('photo.png');

async function connected() {
  const {service, key} = await embeddedService();
  const client = new MediaClient({baseUrl: service.url, apiKey: key});
  onTestFinished(() => client.close());
  return {service, client};
}

/** A client whose service responds to each upload with this status. */
async function refusing(status: number, body = `{"code":${status},"message":"No."}`) {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    response.writeHead(status, {'Content-Type': 'application/json'});
    request.resume().on('end', () => response.end(body));
  });
  await listen(server);
  const client = new MediaClient({baseUrl: `http://127.0.0.1:${portOf(server)}`, apiKey: 'key'});
  onTestFinished(() => client.close());
  return {client, requests: () => requests};
}

/** A web stream that gives a content in pieces, and knows whether it was cancelled. */
function pieces(content: Uint8Array, end: 'closes' | 'breaks' | 'waits' = 'closes') {
  const state = {cancelled: undefined as unknown, taken: 0};
  const size = Math.ceil(content.length / 5);
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = content.subarray(state.taken, state.taken + size);
      state.taken += piece.length;
      if (piece.length > 0) controller.enqueue(piece);
      else if (end === 'closes') controller.close();
      else if (end === 'breaks') controller.error(new Error('The line broke.'));
      else return new Promise(() => {});
      return undefined;
    },
    cancel(reason) {
      state.cancelled = reason;
    },
  });
  return {stream, state};
}

test('a Blob, a File, bytes, web and Node.js streams: the same bytes are stored, each once', async () => {
  const {service, client} = await connected();
  const directory = await temporaryDirectory();
  const bytes = Buffer.concat([await readFile(photo), Buffer.alloc(700_000, 'x')]);
  await writeFile(join(directory, 'disk.png'), bytes);
  const inputs = [
    sourceOf('bytes.png', bytes),
    sourceOf('blob.png', new Blob([bytes])),
    sourceOf('disk-blob', await openAsBlob(join(directory, 'disk.png'))),
    new File([bytes], 'file.png'),
    sourceOf('web.png', pieces(bytes).stream),
    sourceOf('response.png', new Response(bytes).body as ReadableStream),
    sourceOf('node.png', Readable.from([bytes.subarray(0, 9), bytes.subarray(9)])),
  ];
  const results = await collect(uploadAll(inputs, {client, concurrency: 2}));
  expect(results.map(({status, size, contentType}) => [status, size, contentType])).toEqual(
    inputs.map(() => ['uploaded', bytes.length, 'image/png']),
  );
  expect(new Set(results.map(({file: name}) => name)).size).toBe(inputs.length);
  const streams = results.filter(({isOnce}) => isOnce).map(({file: name}) => name);
  expect(streams.sort()).toEqual(['node.png', 'response.png', 'web.png']);
  const stored = await service.records();
  expect(stored).toHaveLength(inputs.length);
  for (const {path} of stored) expect((await readFile(path)).equals(bytes)).toBe(true);
});

test('a stream that breaks, also before its turn, is empty, was used, or never ends: a result, and nothing stays behind', async () => {
  const {service, client} = await connected();
  const temporary = await temporaryDirectory();
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = temporary;
  onTestFinished(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  });
  const bytes = await readFile(photo);
  const used = new Response(bytes).body as ReadableStream;
  used.getReader();
  const inputs = [
    sourceOf('broken.png', pieces(bytes, 'breaks').stream),
    sourceOf('empty.png', new Response('').body as ReadableStream),
    sourceOf('used.png', used),
    sourceOf('blob.png', new Blob([])),
    new File([], 'file.png'),
    sourceOf('text.png', createReadStream(photo, 'latin1')),
    sourceOf('gone.png', createReadStream(join(temporary, 'gone.png'))),
  ];
  const results = await collect(uploadAll(inputs, {client, concurrency: 1}));
  expect(results.map(result => 'error' in result && result.error.code)).toEqual([
    'file_unreadable',
    'empty_file',
    'file_unreadable',
    'empty_file',
    'empty_file',
    'usage',
    'file_unreadable',
  ]);
  expect(results.at(-1)).toMatchObject({error: {message: 'gone.png could not be read: ENOENT.'}});
  expect(results[0]).toMatchObject({error: {message: expect.stringMatching(/^broken\.png .*broke/)}});
  const endless = pieces(bytes, 'waits');
  const caller = new AbortController();
  const waiting = upload(sourceOf('endless.png', endless.stream), {client, signal: caller.signal});
  waiting.catch(() => {});
  await eventually(() => endless.state.taken === bytes.length);
  caller.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  expect(endless.state.cancelled).toBeDefined();
  expect(await readdir(temporary)).toEqual([]);
  if (canListOpenFiles) expect(await openFiles(temporary)).toEqual([]);
  expect(await service.records()).toEqual([]);
});

test('a large Blob is read in parts, as it is sent', async () => {
  const {service, client} = await connected();
  const bytes = Buffer.concat([await readFile(photo), Buffer.alloc(5_000_000, 'x')]);
  let most = 0;
  const blob = {
    size: bytes.length,
    slice(from?: number, to?: number) {
      const part = new Blob([bytes.subarray(from, to)]);
      most = Math.max(most, part.size);
      return part;
    },
    arrayBuffer: () => Promise.reject(new Error('read as a whole')),
  };
  await upload(sourceOf('a.png', blob), {client});
  expect(most).toBeLessThan(2_000_000);
  expect(await service.records()).toMatchObject([{record: {size: bytes.length}}]);
});

test('a file behind a Blob that changes before it is sent is not stored', async () => {
  const {service, client} = await connected();
  const path = join(await temporaryDirectory(), 'a.png');
  await copyFile(photo, path);
  const blob = await openAsBlob(path);
  await writeFile(path, 'another content, of another length');
  await expect(upload(sourceOf('a.png', blob), {client})).rejects.toMatchObject({code: 'file_unreadable'});
  expect(await service.records()).toEqual([]);
});

test('one stream in two sources, or twice: uploaded once, and refused then', async () => {
  const {service, client} = await connected();
  const bytes = await readFile(photo);
  const [node, web] = [createReadStream(photo), pieces(bytes).stream];
  const twice = sourceOf('twice.png', createReadStream(photo));
  const inputs = [sourceOf('1.png', node), sourceOf('2.png', node), sourceOf('3.png', web)];
  inputs.push(sourceOf('4.png', web), twice, twice);
  const results = await collect(uploadAll(inputs, {client, concurrency: 1}));
  expect(results.map(result => ('error' in result ? result.error.message : result.size))).toEqual(
    ['2.png', '4.png', 'twice.png'].flatMap(name => [
      bytes.length,
      `The stream of ${name} was already read.`,
    ]),
  );
  expect(await service.records()).toHaveLength(3);
});

test('a stream is not touched before its turn, and not at all when the loop is left', async () => {
  const {client} = await connected();
  const bytes = await readFile(photo);
  const [first, second] = [pieces(bytes), pieces(bytes)];
  // A stream reads its first piece by itself.
  await new Promise(setImmediate);
  const untouched = second.state.taken;
  const inputs = [sourceOf('1.png', first.stream), sourceOf('2.png', second.stream)];
  for await (const {status} of uploadAll(inputs, {client, concurrency: 1})) {
    expect(status).toBe('uploaded');
    break;
  }
  const stopped = new Stop<Error>();
  stopped.abort(new Error('enough'));
  await expect(sourceOf('2.png', second.stream).open(stopped)).rejects.toThrow('enough');
  expect(second.state).toEqual({cancelled: undefined, taken: untouched});
  expect(second.stream.locked).toBe(false);
});

test('content that is none, and a source without a name: usage, with the way to give one', async () => {
  const {client} = await connected();
  for (const content of ['text', undefined, {}, 7, new ArrayBuffer(4)])
    expect(() => sourceOf('a.png', content as never)).toThrow(
      'Content is given as bytes, a Blob or a stream',
    );
  expect(() => sourceOf('', new Uint8Array(1))).toThrow('The name of a source');
  await expect(collect(uploadAll([new Blob(['x']) as never], {client}))).rejects.toMatchObject({
    code: 'usage',
    hint: 'Give content a name: sourceOf(name, content).',
  });
});

test('with a manifest: known by its path from there, sent once, and neither with a journal nor for another service', async () => {
  const {service, client} = await connected();
  const cwd = await temporaryDirectory();
  await copyFile(photo, join(cwd, 'a.png'));
  const manifest = 'media.json';
  const {record} = await upload('a.png', {client, cwd, manifest});
  const text = await readFile(join(cwd, manifest), 'utf8');
  expect(JSON.parse(text)).toMatchObject({service: service.url, files: {'a.png': {record}}});
  await copyFile(photo, join(cwd, 'b.png'));
  const outcomes = [];
  const inputs = ['a.png', 'b.png', sourceOf('c.png', await readFile(photo))];
  for await (const {status} of uploadAll(inputs, {client, cwd, manifest})) outcomes.push(status);
  expect(outcomes).toEqual(['skipped', 'skipped', 'skipped']);
  const {files} = JSON.parse(await readFile(join(cwd, manifest), 'utf8'));
  expect(Object.keys(files)).toEqual(['a.png', 'b.png', 'c.png']);
  expect([files['b.png'].stdin, files['c.png'].stdin]).toEqual([undefined, true]);
  expect(await readdir(cwd)).toEqual(['a.png', 'b.png', 'media.json']);
  await expect(upload('a.png', {client, cwd, manifest, journal: 'j'})).rejects.toMatchObject({code: 'usage'});
  for (const other of [
    text.replace(service.url, 'https://other.example'),
    text.replace('"serviceId": "', '$&0'),
  ]) {
    await writeFile(join(cwd, manifest), other);
    await expect(upload('a.png', {client, cwd, manifest})).rejects.toMatchObject({
      code: 'journal_of_other_service',
    });
  }
  expect(await service.records()).toHaveLength(1);
});

test('with a manifest: a dry run writes and locks nothing, and a call that is left early writes it', async () => {
  const {client} = await connected();
  const cwd = await temporaryDirectory();
  for (const name of ['a.png', 'b.png']) await copyFile(photo, join(cwd, name));
  await appendFile(join(cwd, 'b.png'), 'another');
  const options = {client, cwd, manifest: 'media.json'};
  const dryRun = async () => {
    const results = await collect(uploadAll(['a.png', 'b.png'], {...options, dryRun: true}));
    return results.map(({file, status}) => `${file} ${status}`).sort();
  };
  const oneKnown = ['a.png skipped', 'b.png checked'];
  expect(await dryRun()).toEqual(['a.png checked', 'b.png checked']);
  expect(await readdir(cwd)).toEqual(['a.png', 'b.png']);
  for await (const {status} of uploadAll(['a.png'], options)) {
    expect(status).toBe('uploaded');
    expect(await dryRun()).toEqual(oneKnown);
    break;
  }
  expect(await readdir(cwd)).toEqual(['a.png', 'b.png', 'media.json']);
  expect(await dryRun()).toEqual(oneKnown);
});

test('with a manifest that cannot be written: rejects after the result, and the next call writes it', async () => {
  const {service, client} = await connected();
  const cwd = await temporaryDirectory();
  await copyFile(photo, join(cwd, 'a.png'));
  const options = {client, cwd, manifest: 'media.json'};
  await writeFile(join(cwd, 'media.json'), `{"version": 1, "service": "${service.url}", "files": {}}`);
  await link(join(cwd, 'media.json'), join(cwd, 'copy.json'));
  const results: string[] = [];
  const run = async () => {
    for await (const {status} of uploadAll(['a.png'], options)) results.push(status);
  };
  await expect(run()).rejects.toMatchObject({code: 'journal_failed'});
  await rm(join(cwd, 'copy.json'));
  await run();
  expect(results).toEqual(['uploaded', 'skipped']);
  expect(await readdir(cwd)).toEqual(['a.png', 'media.json']);
});

test.each(['journal', 'manifest'])('a dry run with a %s that another call uses: reads it', async memory => {
  const {client} = await connected();
  const cwd = await temporaryDirectory();
  for (const [name, source] of Object.entries({'a.png': photo, 'b.mp4': fixture('clip.mp4')}))
    await copyFile(source, join(cwd, name));
  const options = {client, cwd, [memory]: 'known'};
  const using = uploadAll(['a.png', 'b.mp4'], {...options, concurrency: 1});
  expect((await using.next()).value).toMatchObject({status: 'uploaded'});
  const dry = await collect(uploadAll(['a.png'], {...options, dryRun: true}));
  expect(dry).toMatchObject([{status: 'skipped'}]);
  await using.return();
});

test('upload: resolves to the record, skips with a journal, and rejects with the error of the file', async () => {
  const {service, client} = await connected();
  const cwd = await temporaryDirectory();
  await copyFile(photo, join(cwd, 'a.png'));
  const journal = 'a.journal';
  const {record, status} = await upload('a.png', {client, cwd, journal});
  expect(await readdir(cwd)).toEqual(['a.journal', 'a.png']);
  expect([status, record.id]).toEqual(['uploaded', (await service.records())[0]?.record.id]);
  expect(await upload('a.png', {client, cwd, journal})).toMatchObject({status: 'skipped', record});
  await expect(upload('none.png', {client, cwd})).rejects.toMatchObject({code: 'file_missing'});
  await writeFile(join(cwd, 'notes.txt'), 'no picture');
  for await (const source of filesOf(['.'], {cwd, recursive: true, exclude: ['*.png', '*.journal']}))
    await expect(upload(source, {client})).rejects.toMatchObject({code: 'not_media'});
  const options = {client, dryRun: true} as Omit<UploadOptions, 'dryRun'>;
  await expect(upload(photo, options)).rejects.toThrow('There is no option "dryRun".');
  await expect(upload(photo, {client, signal: AbortSignal.abort('enough')})).rejects.toBe('enough');
  const strict = await refusing(200, someRecord.replace('"IMAGE"', '"VIDEO"'));
  await expect(upload(photo, {client: strict.client, verify: 'strict'})).rejects.toMatchObject({
    code: 'record_mismatch',
  });
  expect(await service.records()).toHaveLength(1);
});

test('upload, aborted when the file was sent: it is stored, or may be, and the caller hears of that', async () => {
  for (const isStored of [true, false]) {
    const caller = new AbortController();
    const server = createServer((request, response) => {
      request.resume().on('end', () => {
        caller.abort(new Error('enough'));
        if (!isStored) response.socket?.resetAndDestroy();
        else response.writeHead(200, {'Content-Type': 'application/json'}).end(someRecord);
      });
    });
    await listen(server);
    const client = new MediaClient({baseUrl: `http://127.0.0.1:${portOf(server)}`, apiKey: 'key'});
    const outcome = upload(photo, {client, signal: caller.signal});
    if (isStored) expect(await outcome).toMatchObject({status: 'uploaded', record: {id: 'm_1'}});
    else await expect(outcome).rejects.toMatchObject({code: 'outcome_unknown'});
    await client.close();
  }
});

test('the loop ended with throw(), while a file waits: it ends too', async () => {
  const {client} = await connected();
  const inputs = {[Symbol.asyncIterator]: () => ({next: () => new Promise<never>(() => {})})};
  const results = uploadAll(inputs, {client});
  const next = results.next();
  await expect(results.throw(new Error('enough'))).rejects.toThrow('enough');
  expect(await next).toEqual({done: true, value: undefined});
});

test('a call that has ended, or was left, keeps no listener of its signal and leaves its journal closed', async () => {
  const {client} = await connected();
  const cwd = await temporaryDirectory();
  for (const name of ['a.png', 'b.png']) await copyFile(photo, join(cwd, name));
  const {signal} = new AbortController();
  const given = {client, cwd, signal, journal: join(cwd, 'a.journal'), concurrency: 1};
  await collect(uploadAll(['a.png'], given));
  for await (const _ of uploadAll(['a.png', 'b.png'], given)) break;
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  await collect(uploadAll(['a.png', 'b.png'], {client, cwd, dryRun: true}));
  if (canListOpenFiles) expect(await openFiles(cwd)).toEqual([]);
  expect((await readdir(cwd)).sort()).toEqual(['a.journal', 'a.png', 'b.png']);
});

test('wrong and unknown options of every call: usage, at once', async () => {
  const url = 'https://api.example.com';
  const client = new MediaClient({baseUrl: url, apiKey: 'key'});
  const calls: [() => unknown, string][] = [
    [() => uploadAll([], undefined as never), 'The options are given as an object, not as undefined.'],
    [() => uploadAll([], {client, observer: 'all' as never}), 'observer must be an object, not "all".'],
    [() => uploadAll([], {client, journal: new URL('file:///a') as never}), 'journal must be a text'],
    [() => uploadAll([], {client, concurrency: '4' as never}), 'concurrency must be auto or a whole number'],
    [
      () => new MediaClient({baseUrl: url, apiKey: 'k', allowHttp: 'no' as never}),
      'allowHttp must be true or',
    ],
    [() => new MediaClient({baseUrl: url, apiKey: 7 as never}), 'apiKey must be a text, not 7.'],
    [() => uploadAll([], {client, constructor: 1} as never), 'There is no option "constructor".'],
    [() => new MediaClient({baseUrl: url} as never), 'apiKey must be a text, not undefined.'],
    [() => uploadAll([], {client, limitRate: 4n as never}), 'limitRate must be a number above 0, not 4n.'],
  ];
  for (const [call, message] of calls) expect(call).toThrow(message);
  const rejecting: [Promise<unknown>, string][] = [
    [startService({dataDirectory: 'x', datadir: 'y'} as never), 'There is no option "datadir".'],
    [startService({dataDirectory: 'x', exclusive: 1} as never), 'exclusive must be true or false, not 1.'],
    [filesOf(['.'], {exclude: '*.gif' as never}).next(), 'exclude must be an array of texts, not "*.gif".'],
    ...(
      [
        [{faults: ['upload:status=503']}, 'There is no option "0".'],
        [{faults: {list: 'upload:status=503'}}, 'list must be an array of texts'],
        [{seed: 'photos'}, 'seed must be an async generator, not "photos".'],
        [{port: 70_000}, 'port must be a whole number from 0 to 65535, not 70000.'],
        [{onRequest: 'log'}, 'onRequest must be a function, not "log".'],
        [{fixedKey: 'short'}, 'The key of the service must have at least 16 characters'],
      ] as const
    ).map(([options, message]): [Promise<unknown>, string] => [
      startService({dataDirectory: 'x', ...options} as never),
      message,
    ]),
    [upload('', {client}), 'A file is given as a path, a File or a source, not as "".'],
    [filesOf(['']).next(), 'A path must be a text, not "".'],
    [upload(photo, {client, observer: {onProgress() {}}} as never), 'There is no option "onProgress".'],
    [upload(photo, {client, concurrency: 2} as never), 'There is no option "concurrency".'],
    [client.graphql({qeury: '{ a }'} as never), 'There is no option "qeury".'],
  ];
  for (const [promise, message] of rejecting)
    await expect(promise).rejects.toMatchObject({code: 'usage', message: expect.stringContaining(message)});
  await expect(upload(photo, {baseUrl: url} as never)).rejects.toMatchObject({
    hint: expect.stringMatching(/baseUrl and apiKey are options of MediaClient\.$/),
  });
  await expect(upload('.', {client})).rejects.toMatchObject({
    hint: "To upload what is in it: filesOf(['.'], {recursive: true})",
  });
});

test('errors name the options of the library, not those of the program', async () => {
  const {client} = await refusing(415);
  const [result] = await collect(uploadAll([photo], {client}));
  expect(result).toMatchObject({
    error: {hint: "Set the type with contentType, or let the bytes decide with types: 'content'."},
  });
  const named = await collect(uploadAll([sourceOf('a.jpg', await readFile(photo))], {client}));
  expect(named[0]?.warning).toContain("(types: 'content' sends image/png)");
  expect(() => new MediaClient({baseUrl: 'http://media.example', apiKey: 'k'})).toThrow(
    expect.objectContaining({hint: expect.stringContaining('or add allowHttp: true if you trust')}),
  );
  const cause = new EngineError('stalled', 'It stalled.', {
    hint: hint`On a very slow link, raise ${option('timeout')}.`,
  });
  const unknown = new EngineError('outcome_unknown', 'a --timeout b', {
    hint: hint`Check it${command('sendAgain', 'option', true)} Send fewer: ${command('sendFewer', 8)}`,
    cause,
  });
  expect(inLibraryWords(unknown)).toMatchObject({
    code: 'outcome_unknown',
    message: 'a --timeout b',
    hint: "Check it. To send it again, add onUnknown: 'retry'. Send fewer: concurrency: 8",
    cause: {hint: 'On a very slow link, raise timeoutMs.'},
  });
});

test('what only the program has: the clause is left out, or all of the hint', async () => {
  const files = await temporaryDirectory();
  await expect(filesOf([]).next()).rejects.toMatchObject({code: 'nothing_matched', hint: 'Name files.'});
  const {client} = await connected();
  const [result] = await collect(uploadAll(filesOf([files]), {client}));
  expect(result && 'error' in result && result.error).toBeInstanceOf(MediaError);
  expect(result).toMatchObject({
    error: {hint: expect.stringMatching(/: filesOf\(\['.*'\], \{recursive: true\}\)$/)},
  });
  expect(() => new MediaClient({baseUrl: 'media.example', apiKey: 'k'})).toThrow(
    expect.objectContaining({hint: 'Use a URL with its scheme, such as https://api.example.com.'}),
  );
  const ofProgram = new EngineError('tls_failed', 'No.', {hint: hint`Set ${variable('clientCert')}.`});
  expect(inLibraryWords(ofProgram).hint).toBeUndefined();
});

test('every error code is exported, and no other', () => {
  const some: ErrorCode[] = ['usage', 'outcome_unknown', 'internal'];
  expect(errorCodes).toEqual(expect.arrayContaining(some));
  expect(new Set(errorCodes).size).toBe(errorCodes.length);
  expect(Object.isFrozen(errorCodes)).toBe(true);
});
