import {createServer} from 'node:net';
import {expect, test} from 'vitest';
import {verifyKey} from '../../../src/engine/service/key-identity.ts';
import {listen, urlOf} from '../../support/loopback.ts';
import {fixture} from '../../support/media.ts';
import {scriptedServer, someRecord} from '../../support/scripted-server.ts';
import {sandboxFor, testKey} from './program.ts';
import {answerText, clientOf, memorySource, uploadEach} from './support.ts';

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
