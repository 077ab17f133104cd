import {
  buildClientSchema,
  buildSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
  parse,
  printSchema,
  visit,
} from 'graphql/index.js';
import {serverAudits} from 'graphql-http';
import {describe, expect, test} from 'vitest';
import {eventually} from '../../support/eventually.ts';
import {aliases, everyField} from '../queries.ts';
import {parseAnswer, query, rawConnection, serviceWithKey} from '../support.ts';

const anId = `m_${'0'.repeat(29)}`;

test('the audits of graphql-http: every one passes', async () => {
  const {service, key} = await serviceWithKey();
  const audits = serverAudits({
    url: `${service.url}/graphql`,
    fetchFn: (url: string, init: RequestInit = {}) =>
      fetch(url, {
        ...init,
        headers: {...(init.headers as Record<string, string>), Authorization: `Bearer ${key}`},
      }),
  });
  expect(audits.length).toBeGreaterThan(50);
  const failures: string[] = [];
  for (const audit of audits) {
    const result = await audit.fn();
    if (result.status !== 'ok') failures.push(`${audit.id} ${audit.name}: ${result.reason}`);
  }
  expect(failures).toEqual([]);
});

test('25,000 aliases of one field, or the field 25,000 times: not even parsed', async () => {
  const {service, key} = await serviceWithKey();
  for (const text of [aliases(25_000, 'media(id: "m_1") {id}'), `{${'__typename '.repeat(25_000)}}`]) {
    const {data, errors} = await query(service, key, text);
    expect(data).toBeUndefined();
    expect(errors).toMatchObject([{message: expect.stringContaining('more that 10000 tokens')}]);
  }
});

test('a page of 1,000 with all fields, one of a default length with all of them twice, 800 media by their IDs, introspection: within the limits', async () => {
  const {service, key} = await serviceWithKey();
  for (const text of [
    `{mediaList(first: 1000) {edges {cursor node {${everyField}}} pageInfo {endCursor}}}`,
    `query ($n: Int! = 20) {mediaList(first: $n) {nodes {${everyField}} edges {cursor node {${everyField}}}}}`,
    aliases(800, `media(id: "${anId}") {id}`),
    getIntrospectionQuery(),
  ]) {
    expect(await query(service, key, text)).not.toHaveProperty('errors');
  }
});

test('introspection of itself: refused', async () => {
  const {service, key} = await serviceWithKey();
  const fields = (inner: string) => `fields {type {${inner}}}`;
  const text = `{__type(name: "Media") {${fields(fields(fields('name')))}}}`;
  const {data, errors} = await query(service, key, text);
  expect(data).toBeUndefined();
  expect(errors).toMatchObject([{message: 'Maximum introspection depth exceeded'}]);
});

test('GET of ?sdl: all types as text, each of their parts described; the same as by introspection', async () => {
  const {service, key} = await serviceWithKey();
  const url = `${service.url}/graphql?sdl`;
  expect((await fetch(url)).status).toBe(403);
  const response = await fetch(url, {headers: {Authorization: `Bearer ${key}`}});
  expect(response.headers.get('content-type')).toBe('application/graphql; charset=utf-8');
  const text = await response.text();
  const {data} = await query<IntrospectionQuery>(service, key, getIntrospectionQuery());
  if (data === undefined) throw new Error('There is no introspection.');
  const schema = buildSchema(text);
  const introspected = buildClientSchema(data);
  expect(printSchema(schema)).toBe(printSchema(introspected));
  const undescribed: string[] = [];
  visit(parse(text), {
    enter: node => {
      if (!('description' in node || node.kind.endsWith('Definition')) || !('name' in node)) return;
      const isRoot = ['Query', 'Mutation'].includes(node.name?.value ?? '');
      if (!isRoot && !('description' in node && node.description)) undescribed.push(node.name?.value ?? '');
    },
  });
  expect(undescribed).toEqual([]);
});

test('a body of more than 1 MiB, declared or chunked: 413', async () => {
  const {service, key} = await serviceWithKey();
  const body = JSON.stringify({query: '{__typename}', variables: {x: 'x'.repeat(1024 * 1024)}});
  const response = await fetch(`${service.url}/graphql`, {
    method: 'POST',
    headers: {Authorization: `Bearer ${key}`, 'Content-Type': 'application/json'},
    body,
  });
  expect(response.status).toBe(413);
  expect(await response.json()).toEqual({code: 413, message: expect.any(String)});

  const {socket, text} = await rawConnection(service);
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\nAuthorization: Bearer ${key}\r\n` +
      'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
  );
  socket.write(`${body.length.toString(16)}\r\n${body}\r\n`);
  const answer = await eventually(() => parseAnswer(text()));
  expect(answer.status).toBe(413);
});

describe('mutations', () => {
  test('400 keys in one request: MAX_COST_EXCEEDED, and none is created', async () => {
    const {service, key} = await serviceWithKey();
    const text = `mutation ${aliases(400, 'createApiKey(name: "x", permissions: [READ]) {key}')}`;
    const {errors} = await query(service, key, text);
    expect(errors).toMatchObject([{extensions: {code: 'MAX_COST_EXCEEDED', value: 20_400}}]);
    expect((await query(service, key, '{viewer {apiKeys {id}}}')).data).toMatchObject({
      viewer: {apiKeys: [{}]},
    });
  });
});
