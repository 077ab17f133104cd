import {readFile} from 'node:fs/promises';
import type {OutgoingHttpHeaders} from 'node:http';
import type {Express, Request, Response} from 'express';
import {describe, expect, it} from 'vitest';
import {embeddedService} from '../../support/embedded.ts';
import {fixture} from '../../support/media.ts';
import {type Answer, send, validatedApp} from './support.ts';

/** Passes each request on to `service` as it came, and its answer back through the validator. */
async function validatingProxy(service: string) {
  const options = {
    validateRequests: false,
    validateResponses: true,
    validateSecurity: false,
    ignoreUndocumented: true,
  };
  return validatedApp(options, app => forward(app, service));
}

function forward(app: Express, service: string): void {
  app.use(async (request: Request, response: Response, next) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body =
      request.body === undefined || chunks.length > 0 ? Buffer.concat(chunks) : JSON.stringify(request.body);
    const {host: _host, ...headers} = request.headers;
    const answer = await send(`${service}${request.originalUrl}`, request.method, headers, body);
    response.status(answer.status).type(answer.contentType);
    try {
      if (answer.contentType.startsWith('application/json')) response.json(JSON.parse(answer.body));
      else response.send(answer.body);
    } catch (error) {
      next(error);
    }
  });
}

/** A request to the embedded service behind the validator. */
async function ask(path: string, method: string, headers: OutgoingHttpHeaders, body: Buffer | string = '') {
  const {service, key} = await embeddedService();
  const uploadOnly = await service.createKey({permissions: ['upload']});
  const graphqlOnly = await service.createKey({permissions: ['graphql']});
  const keys: Record<string, string> = {key, uploadOnly, graphqlOnly, unknown: 'mk_unknown'};
  const {url, complaints} = await validatingProxy(service.url);
  const {authorization, ...others} = headers;
  const bearer = authorization === undefined ? {} : {authorization: `Bearer ${keys[String(authorization)]}`};
  const answer = await send(`${url}${path}`, method, {...others, ...bearer}, body);
  return {answer, complaints, service};
}

function jsonOf(answer: Answer): unknown {
  expect(answer.contentType).toMatch(/^application\/json/);
  return JSON.parse(answer.body);
}

describe('what the embedded service responds keeps to the contract', () => {
  it.each([
    ['photo.png', 'image/png', {type: 'IMAGE', width: 640, height: 400, imageType: 'png'}],
    ['photo.svg', 'image/svg+xml', {type: 'IMAGE'}],
    ['clip.mp4', 'video/mp4', {type: 'VIDEO', width: 320, height: 180}],
    ['unrecognised.png', 'image/png', {type: 'IMAGE'}],
  ])('an upload of %s: 200 and a media record', async (file, contentType, facts) => {
    const bytes = await readFile(fixture(file));
    const headers = {authorization: 'key', 'content-type': contentType, 'content-length': bytes.length};
    const {answer, complaints, service} = await ask('/v1/media/upload', 'POST', headers, bytes);
    expect(complaints).toEqual([]);
    expect(answer.status).toBe(200);
    const [stored] = await service.records();
    expect(jsonOf(answer)).toEqual(stored?.record);
    expect(stored?.record).toMatchObject({...facts, size: bytes.length});
    expect(await readFile(stored?.path ?? '')).toEqual(bytes);
  });

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
