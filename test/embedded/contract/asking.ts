import {readFile} from 'node:fs/promises';
import type {OutgoingHttpHeaders} from 'node:http';
import type {Express, Request, Response} from 'express';
import {expect, it} from 'vitest';
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
export async function ask(
  path: string,
  method: string,
  headers: OutgoingHttpHeaders,
  body: Buffer | string = '',
) {
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

export function jsonOf(answer: Answer): unknown {
  expect(answer.contentType).toMatch(/^application\/json/);
  return JSON.parse(answer.body);
}

/** Tests uploads of fixtures: the name, the content type, and what the record says. */
export function testUploads(...uploads: [file: string, contentType: string, facts: object][]): void {
  it.each(uploads)('an upload of %s: 200 and a media record', async (file, contentType, facts) => {
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
}
