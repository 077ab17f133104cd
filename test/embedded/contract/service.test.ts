import {describe, expect, it} from 'vitest';
import {ask, jsonOf, testUploads} from './asking.ts';

describe('what the embedded service responds keeps to the contract', () => {
  testUploads(['photo.png', 'image/png', {type: 'IMAGE', width: 640, height: 400, imageType: 'png'}]);

  it.each([
    ['no key', {}, 403],
    ['an unknown key', {authorization: 'unknown'}, 401],
    ['a key without the permission', {authorization: 'graphqlOnly'}, 403],
    ['text/plain', {authorization: 'key', 'content-type': 'text/plain'}, 415],
    ['multipart/form-data', {authorization: 'key', 'content-type': 'multipart/form-data; boundary=x'}, 415],
    ['no Content-Type', {authorization: 'key', 'content-type': ''}, 415],
  ])('an upload with %s: an error record', async (_name, headers, status) => {
    const body = {'content-type': 'image/png', 'content-length': 1, ...headers};
    const {answer, complaints, service} = await ask('/v1/media/upload', 'POST', body, 'x');
    expect(complaints).toEqual([]);
    expect(answer.status).toBe(status);
    expect(jsonOf(answer)).toEqual({code: status, message: expect.any(String)});
    expect(await service.records()).toEqual([]);
  });

  it('an upload without Content-Length (chunked): 411 and an error record', async () => {
    const headers = {authorization: 'key', 'content-type': 'image/png', 'transfer-encoding': 'chunked'};
    const {answer, complaints} = await ask('/v1/media/upload', 'POST', headers, 'x');
    expect(complaints).toEqual([]);
    expect(jsonOf(answer)).toEqual({code: 411, message: expect.any(String)});
  });

  it('an upload of nothing: 400 and an error record', async () => {
    const headers = {authorization: 'key', 'content-type': 'image/png', 'content-length': 0};
    const {answer, complaints} = await ask('/v1/media/upload', 'POST', headers);
    expect(complaints).toEqual([]);
    expect(jsonOf(answer)).toEqual({code: 400, message: expect.any(String)});
  });

  it.each([
    ['a query', {authorization: 'key'}, '{"query":"{viewer{id}}"}', 200],
    ['no key', {}, '{"query":"{viewer{id}}"}', 403],
    ['an unknown key', {authorization: 'unknown'}, '{"query":"{viewer{id}}"}', 401],
    ['a key without the permission', {authorization: 'uploadOnly'}, '{"query":"{viewer{id}}"}', 403],
  ])('GraphQL with %s', async (_name, headers, body, status) => {
    const all = {'content-type': 'application/json', 'content-length': body.length, ...headers};
    const {answer, complaints} = await ask('/graphql', 'POST', all, body);
    expect(complaints).toEqual([]);
    expect(answer.status).toBe(status);
    if (status === 200) expect(JSON.parse(answer.body)).toEqual({data: {viewer: {id: expect.any(String)}}});
    else expect(jsonOf(answer)).toEqual({code: status, message: expect.any(String)});
  });
});
