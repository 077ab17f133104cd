import {mkdir, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {EmbeddedService} from '../support/embedded-service.ts';
import {eventually} from '../support/eventually.ts';
import {aliases, everyField} from './queries.ts';
import {
  namesIn,
  png,
  query,
  rawConnection,
  serviceWithKey,
  sha256,
  startedService,
  upload,
} from './support.ts';

async function uploadedIds(service: EmbeddedService, key: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let width = 1; width <= count; width += 1) {
    ids.push(((await (await upload(service, key, png(width, 1))).json()) as {id: string}).id);
  }
  return ids;
}

test('viewer: the owner of the key', async () => {
  const {service, key} = await serviceWithKey();
  const labelled = await service.createKey({label: 'serve'});
  const text = '{viewer {id name email permissions}}';
  expect(await query(service, key, text)).toEqual({
    data: {
      viewer: {id: expect.any(String), name: 'local', email: null, permissions: ['upload', 'graphql']},
    },
  });
  const before = await query(service, labelled, text);
  expect(before).toMatchObject({data: {viewer: {name: 'serve'}}});
  await service.revokeKeys('serve');
  expect(await query(service, await service.createKey({label: 'serve'}), text)).toEqual(before);
});

test('media: its record, what those of /graphql have besides; what is not known is null', async () => {
  const {service, key} = await serviceWithKey();
  const record = (await (await upload(service, key, png(6, 4))).json()) as {id: string};
  const [stored] = await service.records();
  expect(stored?.sha256).toBe(sha256(png(6, 4)));
  const besides = {contentType: 'image/png', sha256: stored?.sha256, createdAt: stored?.createdAt};
  const media = `query ($id: ID!) {media(id: $id) {${everyField}}}`;
  expect(await query(service, key, media, {id: record.id})).toEqual({
    data: {media: {duration: null, thumbnailUrl: null, hlsUrl: null, ...record, ...besides}},
  });
  for (const id of [`m_${'0'.repeat(29)}`, 'm_1', '../keys', '']) {
    expect(await query(service, key, media, {id})).toEqual({data: {media: null}});
  }
});

test('mediaList: newest first, page by page', async () => {
  const {service, key} = await serviceWithKey();
  const ids = (await uploadedIds(service, key, 5)).reverse();
  const list = async (args: string) => {
    const text = `{mediaList${args} {
      edges {cursor node {id}} nodes {id} totalCount pageInfo {hasNextPage hasPreviousPage startCursor endCursor}
    }}`;
    return (await query(service, key, text)).data;
  };
  const page = (from: number, to: number) => {
    const here = ids.slice(from, to);
    return {
      mediaList: {
        edges: here.map(id => ({cursor: id, node: {id}})),
        nodes: here.map(id => ({id})),
        totalCount: 5,
        pageInfo: {
          hasNextPage: to < 5,
          hasPreviousPage: from > 0,
          startCursor: here[0] ?? null,
          endCursor: here.at(-1) ?? null,
        },
      },
    };
  };
  expect(await list('')).toEqual(page(0, 5));
  expect(await list('(first: 2)')).toEqual(page(0, 2));
  expect(await list(`(first: 2, after: "${ids[1]}")`)).toEqual(page(2, 4));
  expect(await list(`(first: 2, after: "${ids[3]}")`)).toEqual(page(4, 5));
  expect(await list(`(after: "${ids[4]}")`)).toEqual(page(5, 5));
});

test('mediaList with a damaged record: a page without it, whose cursors lead on', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  const ids = (await uploadedIds(service, key, 3)).reverse();
  await writeFile(join(dataDirectory, 'records', `${ids[0]}.json`), '{');
  const seen: string[] = [];
  let after = '';
  for (let isLast = false; !isLast; ) {
    const text = `{mediaList(first: 1${after}) {nodes {id} pageInfo {hasNextPage endCursor}}}`;
    const {data} = await query<{mediaList: MediaPage}>(service, key, text);
    const {nodes, pageInfo} = data?.mediaList ?? expect.fail('no page');
    seen.push(...nodes.map(({id}) => id));
    expect(seen.length).toBeLessThan(4);
    after = `, after: "${pageInfo.endCursor}"`;
    isLast = !pageInfo.hasNextPage;
  }
  expect(seen).toEqual(ids.slice(1));
});

interface MediaPage {
  nodes: {id: string}[];
  pageInfo: {hasNextPage: boolean; endCursor: string};
}

for (const args of ['(first: 0)', '(first: 1001)', '(after: "../keys")']) {
  test(`mediaList${args}: a GraphQL error`, async () => {
    const {service, key} = await serviceWithKey();
    const {errors} = await query(service, key, `{mediaList${args} {nodes {id}}}`);
    expect(errors).toHaveLength(1);
  });
}

test('a response has one Content-Type', async () => {
  const {service, key} = await serviceWithKey();
  const {socket, text} = await rawConnection(service);
  const body = '{"query":"{__typename}"}';
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await eventually(() => text().endsWith('}'));
  expect(text().match(/^content-type:.*$/gim)).toEqual(['content-type: application/json; charset=utf-8']);
});

for (const [name, text, variables, cost] of [
  ['25 aliases of a page of 1,000', aliases(25, 'mediaList(first: 1000) {nodes {id}}'), {}, 25_050],
  [
    'the same by the items of its edges',
    aliases(25, 'mediaList(first: 1000) {edges {node {id}}}'),
    {},
    50_050,
  ],
  [
    'a page of a variable length, twice in a fragment of a fragment',
    'query ($n: Int!) {...A} fragment A on Query {...B ...B} fragment B on Query {mediaList(first: $n) {nodes {id type}}}',
    {n: 9000},
    36_004,
  ],
  [
    '25 pages whose length is the default of a variable',
    `query ($n: Int! = 1000) ${aliases(25, 'mediaList(first: $n) {nodes {id}}')}`,
    {},
    25_050,
  ],
  [
    'a page of 1,000, its fields under 21 names',
    `{mediaList(first: 1000) {nodes ${aliases(21, 'id')}}}`,
    {},
    21_002,
  ],
] as const) {
  test(`${name}: MAX_COST_EXCEEDED`, async () => {
    const {service, key} = await serviceWithKey();
    const {data, errors} = await query(service, key, text, variables);
    expect(data).toBeUndefined();
    expect(errors).toMatchObject([
      {
        message: `The cost of the query is ${cost}, which exceeds the maximum of 20000.`,
        extensions: {code: 'MAX_COST_EXCEEDED', value: cost, maximum: 20_000},
      },
    ]);
  });
}

test('introspection: the fields of Media', async () => {
  const {service, key} = await serviceWithKey();
  const text = '{__type(name: "Media") {fields {name}}}';
  const {data} = await query<{__type: {fields: {name: string}[]}}>(service, key, text);
  const names = data?.__type.fields.map(field => field.name);
  expect(names).toEqual(everyField.replace(/ \{.*?\}/, '').split(' '));
});

test('a chunked body', async () => {
  const {service, key} = await serviceWithKey();
  const {socket, text} = await rawConnection(service);
  const body = '{"query":"{__typename}"}';
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\nAuthorization: Bearer ${key}\r\n` +
      'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n' +
      `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  );
  await eventually(() => text().includes('{"data":{"__typename":"Query"}}'));
  expect(text()).toMatch(/^HTTP\/1\.1 200 /);
});

for (const [name, init, status] of [
  ['another content type', {headers: {'Content-Type': 'text/plain'}, body: '{"query":"{__typename}"}'}, 415],
  ['an answer type that is not to be had', {headers: {Accept: 'text/html'}, body: '{}'}, 406],
] as const) {
  test(`${name}: ${status} as an error record`, async () => {
    const {service, key} = await serviceWithKey();
    const response = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      ...init,
      headers: {Authorization: `Bearer ${key}`, ...init.headers},
    });
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({code: status, message: expect.any(String)});
  });
}

test('GET without a key: 403, before the query is looked at', async () => {
  const service = await startedService();
  const response = await fetch(`${service.url}/graphql?query={`);
  expect(response.status).toBe(403);
  expect(await response.json()).toEqual({code: 403, message: expect.any(String)});
});

test('mediaList with a damaged record, and one that cannot be read: the others, and the log names both', async () => {
  const errors: unknown[] = [];
  const {service, key, dataDirectory} = await serviceWithKey({onError: error => errors.push(error)});
  const [first, damaged, unreadable, last] = await uploadedIds(service, key, 4);
  const pathOf = (id = '') => join(dataDirectory, 'records', `${id}.json`);
  await writeFile(pathOf(damaged), '{');
  await rm(pathOf(unreadable));
  await mkdir(pathOf(unreadable));
  expect(await query(service, key, '{mediaList {nodes {id} totalCount}}')).toEqual({
    data: {mediaList: {nodes: [{id: last}, {id: first}], totalCount: 4}},
  });
  expect(errors).toHaveLength(2);
  expect(errors).toContainEqual(
    expect.objectContaining({name: 'DamagedFile', message: expect.stringContaining(`${damaged}`)}),
  );
  expect(errors).toContainEqual(
    expect.objectContaining({
      message: `${pathOf(unreadable)} is damaged: it cannot be read (it is a directory).`,
    }),
  );
});

test('a failure inside a resolver: an error that names no path of this machine', async () => {
  const {service, key, dataDirectory} = await serviceWithKey();
  const [id = ''] = await uploadedIds(service, key, 1);
  const path = join(dataDirectory, 'records', `${id}.json`);
  await rm(path);
  await mkdir(path);
  const {data, errors} = await query(service, key, `{media(id: "${id}") {id}}`);
  expect(data).toEqual({media: null});
  expect(errors).toMatchObject([{message: 'Internal error.'}]);
  expect(JSON.stringify(errors)).not.toContain(dataDirectory);
});

describe('mutations', () => {
  const create = `mutation ($name: String!, $permissions: [Permission!]!, $days: Int) {
    createApiKey(name: $name, permissions: $permissions, expiresInDays: $days) {
      key apiKey {id name masked permissions createdAt expiresAt lastUsedAt}
    }
  }`;
  type Created = {createApiKey: {key: string; apiKey: {id: string; masked: string}}};

  test('deleteMedia: its record, its file and its place in the list are gone', async () => {
    const {service, key, dataDirectory} = await serviceWithKey();
    const [first, second] = await uploadedIds(service, key, 2);
    const text = 'mutation ($id: ID!) {deleteMedia(id: $id)}';
    expect(await query(service, key, text, {id: first})).toEqual({data: {deleteMedia: first}});
    expect(await query(service, key, '{mediaList {nodes {id} totalCount}}')).toEqual({
      data: {mediaList: {nodes: [{id: second}], totalCount: 1}},
    });
    expect(await namesIn(dataDirectory, 'files')).toEqual([second]);
    for (const id of [first, '../keys']) {
      expect(await query(service, key, text, {id})).toMatchObject({
        data: {deleteMedia: null},
        errors: [{message: 'No image or video has this ID.', extensions: {status: 404}}],
      });
    }
  });

  test('updateProfile: the name of the viewer, on one line', async () => {
    const {service, key} = await serviceWithKey();
    const text = 'mutation ($name: String!) {updateProfile(name: $name) {name}}';
    const name = '  Ada\n\u202eLovelace <b>';
    expect(await query(service, key, text, {name})).toEqual({
      data: {updateProfile: {name: 'Ada Lovelace <b>'}},
    });
    expect(await query(service, key, '{viewer {name}}')).toEqual({
      data: {viewer: {name: 'Ada Lovelace <b>'}},
    });
    for (const wrong of [' ', 'x'.repeat(101)])
      expect(await query(service, key, text, {name: wrong})).toMatchObject({
        errors: [{extensions: {status: 422}}],
      });
  });

  test('createApiKey, then revokeApiKey: the key works until then', async () => {
    const {service, key, dataDirectory} = await serviceWithKey();
    const {data} = await query<Created>(service, key, create, {
      name: 'CI',
      permissions: ['UPLOAD', 'READ', 'READ'],
      days: 30,
    });
    const {key: created = '', apiKey} = data?.createApiKey ?? {};
    expect(apiKey).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{16}$/),
      name: 'CI',
      masked: `********${created.slice(-4)}`,
      permissions: ['UPLOAD', 'READ'],
      createdAt: expect.any(String),
      expiresAt: expect.any(String),
      lastUsedAt: null,
    });
    expect((await upload(service, created, png(1, 1))).status).toBe(200);
    const list = '{viewer {permissions apiKeys {name lastUsedAt}}}';
    expect(await query(service, created, list)).toEqual({
      data: {
        viewer: {
          permissions: ['upload', 'read'],
          apiKeys: [
            {name: null, lastUsedAt: expect.any(String)},
            {name: 'CI', lastUsedAt: expect.any(String)},
          ],
        },
      },
    });
    const revoke = 'mutation ($id: ID!) {revokeApiKey(id: $id)}';
    expect(await query(service, key, revoke, {id: apiKey?.id})).toEqual({data: {revokeApiKey: apiKey?.id}});
    expect((await upload(service, created, png(1, 1))).status).toBe(401);
    // Nor does the disk tell which program used it.
    expect(await namesIn(dataDirectory, 'key-uses')).not.toContain(`${apiKey?.id}.json`);
    expect(await query(service, key, revoke, {id: apiKey?.id})).toMatchObject({
      errors: [{extensions: {status: 404}}],
    });
  });

  test('a key with "read" alone: queries, but no mutation', async () => {
    const {service} = await serviceWithKey();
    const reader = await service.createKey({permissions: ['read']});
    expect(await query(service, reader, '{viewer {permissions}}')).toEqual({
      data: {viewer: {permissions: ['read']}},
    });
    for (const text of [
      'mutation {deleteMedia(id: "m_1")}',
      'mutation {updateProfile(name: "x") {name}}',
      'mutation {createApiKey(name: "x", permissions: [READ]) {key}}',
      'mutation {revokeApiKey(id: "x")}',
    ])
      expect(await query(service, reader, text)).toMatchObject({
        errors: [{message: 'The API key lacks the permission "graphql".', extensions: {status: 403}}],
      });
    expect((await query(service, reader, '{viewer {apiKeys {id}}}')).data).toMatchObject({
      viewer: {apiKeys: [{}, {}]},
    });
  });

  test.each([
    ['a permission that the key lacks', {permissions: ['UPLOAD']}, 403],
    ['no permissions', {permissions: []}, 422],
    ['no name', {name: ' '}, 422],
    ['no day', {days: 0}, 422],
    ['20 years', {days: 7300}, 422],
  ])('createApiKey with %s: %j is refused with %i, and there is no key', async (_, wrong, status) => {
    const {service} = await serviceWithKey();
    const key = await service.createKey({permissions: ['graphql']});
    const variables = {name: 'x', permissions: ['READ'], days: 1, ...wrong};
    expect(await query(service, key, create, variables)).toMatchObject({errors: [{extensions: {status}}]});
    expect((await query(service, key, '{viewer {apiKeys {id}}}')).data).toMatchObject({
      viewer: {apiKeys: [{}, {}]},
    });
  });

  test.each([undefined, 1, 30])(
    'createApiKey for %s days, with a key of one hour: a key of that hour',
    async days => {
      const {service} = await serviceWithKey();
      const key = await service.createKey({permissions: ['graphql'], validForMs: 60 * 60_000});
      const own = '{viewer {apiKeys {expiresAt}}}';
      expect(
        (await query<Created>(service, key, create, {name: 'x', permissions: ['GRAPHQL'], days})).errors,
      ).toBeUndefined();
      const {data} = await query<{viewer: {apiKeys: {expiresAt: string | null}[]}}>(service, key, own);
      const [, ours, made] = data?.viewer.apiKeys ?? [];
      expect(ours?.expiresAt).toEqual(expect.any(String));
      expect(made).toEqual(ours);
    },
  );
});
