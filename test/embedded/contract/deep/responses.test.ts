import {describe, expect, it} from 'vitest';
import {ask, jsonOf, testUploads} from '../asking.ts';
import {send, validatedApp} from '../support.ts';

describe('what the embedded service responds keeps to the contract', () => {
  testUploads(
    ['photo.svg', 'image/svg+xml', {type: 'IMAGE'}],
    ['clip.mp4', 'video/mp4', {type: 'VIDEO', width: 320, height: 180}],
    ['unrecognised.png', 'image/png', {type: 'IMAGE'}],
  );

  it.each([
    ['GET', '/v1/media/upload', 405],
    ['PUT', '/v1/media/upload', 405],
    ['POST', '/v2/media/upload', 404],
    ['GET', '/nothing', 404],
  ])(
    '%s %s, which the contract does not have: an error record all the same',
    async (method, path, status) => {
      const {answer} = await ask(path, method, {authorization: 'key'});
      expect(answer.status).toBe(status);
      expect(jsonOf(answer)).toEqual({code: status, message: expect.any(String)});
    },
  );
});

describe('the validator tells a wrong response', () => {
  it.each([
    ['a record whose width is text', 200, {id: 'm_1', width: '640'}],
    ['a record whose size is a fraction', 200, {id: 'm_1', size: 1.5}],
    ['a record whose urls are no list', 200, {id: 'm_1', urls: 'https://c/1'}],
    ['an error record without a code', 401, {message: 'no'}],
    ['an error record whose code is text', 403, {code: 'E1', message: 'no'}],
    ['an error record without a message, under a status that has no entry', 415, {code: 1}],
  ])('%s', async (_name, status, body) => {
    const options = {validateRequests: false, validateResponses: true, validateSecurity: false};
    const {url, complaints} = await validatedApp(options, app => {
      app.post('/v1/media/upload', (_request, response) => {
        response.status(status).json(body);
      });
    });
    const headers = {'content-type': 'image/png', 'content-length': 1};
    expect((await send(`${url}/v1/media/upload`, 'POST', headers, 'x')).status).toBe(500);
    expect(complaints).toHaveLength(1);
  });
});
