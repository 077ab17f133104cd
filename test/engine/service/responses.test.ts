import {createServer} from 'node:net';
import {describe, expect, test} from 'vitest';
import {accountOfKey, verifyKey, whoOwnsKey} from '../../../src/engine/service/key-identity.ts';
import {listen, urlOf} from '../../support/loopback.ts';
import {fixture} from '../../support/media.ts';
import {scriptedServer, someRecord} from '../../support/scripted-server.ts';
import {sandboxFor, testKey} from './program.ts';
import {answerText, clientOf, deadUrl, memorySource, uploadEach} from './support.ts';

const key = 'key-of-the-test';

function answering(status: number, body: string, headers: Record<string, string> = {}) {
  return scriptedServer(async connection => {
    await connection.request();
    connection.answer(status, body, headers);
  });
}

test.each([`https://${testKey}.example/a`, `https://elsewhere.example/${testKey}/v1/media/upload`])(
  'a redirect to %s, which repeats the key: it is not shown',
  async location => {
    const {url} = await answering(302, '', {location});
    const {stderr, exitCode} = await (await sandboxFor(url)).run([
      'upload',
      fixture('photo.png'),
      '--verbose',
    ]);
    expect(stderr).toContain('redirects to');
    expect(stderr).not.toContain(testKey);
    expect(exitCode).toBe(1);
  },
);

test('an error record in UTF-8 that repeats the key: the key is removed, every other character stays', async () => {
  const {url} = await answering(
    400,
    JSON.stringify({code: 1, message: `Schlüssel „${key}“ gehört 写真 nicht.`}),
  );
  const [outcome] = await uploadEach([memorySource('a.png', Buffer.from('a'))], clientOf(url));
  expect(outcome).toMatchObject({
    error: {message: expect.stringContaining('Schlüssel „[secret]“ gehört 写真 nicht.')},
  });
});

test('a record whose URLs share most characters with the key, and one with the whole key: only that is removed', async () => {
  for (const [path, shown] of [
    ['key-of-the-tes', 'key-of-the-tes'],
    [encodeURIComponent(key), '[secret]'],
    [Buffer.from(`:${key}`).toString('base64url'), 'Om[secret]'],
  ]) {
    const record = {id: 'm_1', type: 'IMAGE', fileUrl: `https://cdn.example/${path}/1.gif`};
    const {url} = await answering(200, JSON.stringify(record));
    const [outcome] = await uploadEach([memorySource('a.png', Buffer.from('a'))], clientOf(url));
    expect(outcome).toMatchObject({json: expect.stringContaining(`/${shown}`)});
  }
});

test('503 with an error record, cut off by a gateway after it: unknown, not sent again', async () => {
  const record = '{"code":1,"message":"later"}';
  const {url, requests} = await answering(503, record, {'content-length': String(record.length + 1)});
  const source = memorySource('a.png', Buffer.from('a'));
  const outcomes = await uploadEach([source], clientOf(url), {retries: 2});
  expect(outcomes).toMatchObject([{status: 'unknown', attempts: 1}]);
  expect(requests).toHaveLength(1);
});

test.each([500, 502])(
  '%i whose body has errors like a GraphQL response: the key is not accepted',
  async status => {
    const {url} = await answering(status, '{"errors":[{"message":"broken"}],"data":null}');
    const verdict = await verifyKey(clientOf(url), new AbortController().signal);
    expect(verdict).toMatchObject({status: 'unclear', httpStatus: status});
  },
);

describe('the account of a key, by which journals know it', () => {
  const scalar = (name: string, kind = 'SCALAR') => ({name, args: [], type: {kind}});
  const viewer = (name: string, ...fields: unknown[]) => ({name, args: [], type: {kind: 'OBJECT', fields}});
  const all = ['name', 'username', 'email', 'id'].map(name => scalar(name));
  const ada = {id: 17, name: 'Ada', email: 'ada@example.com', username: 'ada'};

  /** A client of a service with these queries, each of which returns this. */
  async function clientWith(fields: unknown[], account: object | null) {
    const queries: string[] = [];
    const {url} = await scriptedServer(async connection => {
      const {query} = JSON.parse((await connection.request()).body.toString());
      queries.push(query);
      const [field = '', ...asked] = query.match(/\w+/g) ?? [];
      const known =
        account && Object.fromEntries(Object.entries(account).filter(([name]) => asked.includes(name)));
      const data = query.includes('__schema') ? {__schema: {queryType: {fields}}} : {[field]: known};
      connection.answer(200, JSON.stringify({data}));
    });
    return {client: clientOf(url), queries};
  }

  const {signal} = new AbortController();

  test.each<[string, unknown[], object | null, string | undefined, string | undefined]>([
    ['all fields', [viewer('me', ...all)], ada, '{me{id name email username}}', '17'],
    ['no id', [viewer('me', ...all)], {...ada, id: null}, '{me{id name email username}}', 'ada@example.com'],
    [
      'only names',
      [viewer('me', ...all)],
      {name: 'Ada', username: 'ada'},
      '{me{id name email username}}',
      'ada',
    ],
    [
      'only a name that others may have',
      [viewer('me', ...all)],
      {name: 'Ada'},
      '{me{id name email username}}',
      undefined,
    ],
    [
      'several viewers',
      [viewer('currentUser', ...all), viewer('me', scalar('email')), viewer('viewer', scalar('username'))],
      ada,
      '{viewer{username}}',
      'ada',
    ],
    [
      'a viewer without fields and another',
      [viewer('viewer'), viewer('me', scalar('email'))],
      ada,
      '{me{email}}',
      'ada@example.com',
    ],
    [
      'a field that is an object',
      [viewer('me', scalar('id', 'OBJECT'), scalar('email'))],
      ada,
      '{me{email}}',
      'ada@example.com',
    ],
    ['an id that is no text', [viewer('me', scalar('id'))], {id: {}}, '{me{id}}', undefined],
    ['nobody', [viewer('me', scalar('id'))], null, '{me{id}}', undefined],
    ['no viewer', [viewer('other', scalar('id'))], ada, undefined, undefined],
  ])('%s', async (_what, fields, account, query, expected) => {
    const {client, queries} = await clientWith(fields, account);
    expect(await accountOfKey(client, signal)).toBe(expected);
    expect(queries.slice(1)).toEqual(query === undefined ? [] : [query]);
  });

  test('a service out of reach: nobody is named', async () => {
    expect(await whoOwnsKey(clientOf(await deadUrl()), signal)).toBeUndefined();
  });
});

test('a service that resets each connection at its second request: as many unknown as workers', async () => {
  const server = createServer(socket => {
    let requests = 0;
    socket
      .on('error', () => {})
      .on('data', () => {
        requests += 1;
        if (requests === 1) socket.write(answerText(200, someRecord));
        else socket.resetAndDestroy();
      });
  });
  await listen(server);
  const sources = Array.from({length: 12}, (_, index) => memorySource(`${index}`, Buffer.from(`${index}`)));
  const outcomes = await uploadEach(sources, clientOf(urlOf(server)));
  const count = (wanted: string) => outcomes.filter(({status}) => status === wanted).length;
  expect({unknown: count('unknown'), uploaded: count('uploaded')}).toEqual({unknown: 1, uploaded: 11});
});
