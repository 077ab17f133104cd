import {describe, expect, it} from 'vitest';
import {deadUrl} from '../../engine/service/support.ts';
import {connectedSandbox, denyingWith, embeddedService, unknownKey} from '../../support/embedded.ts';
import {type Sandbox, sandbox} from '../../support/media.ts';
import {type RawRequest, scriptedServer} from '../../support/scripted-server.ts';

const key = 'mk_some-key-for-tests';

async function sandboxFor(url: string): Promise<Sandbox> {
  return sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: key});
}

/** A GraphQL service: answers each request by its query. */
async function graphqlServer(answerTo: (query: string) => unknown, headers: Record<string, string> = {}) {
  return scriptedServer(async connection => {
    const {body} = await connection.request();
    connection.answer(200, JSON.stringify(answerTo(JSON.parse(body.toString()).query)), headers);
  });
}

function queriesOf(requests: RawRequest[]): string[] {
  return requests.map(({body}) => JSON.parse(body.toString()).query);
}

describe('media whoami', () => {
  it('a key that is accepted: who it belongs to, exit 0', async () => {
    const {service, key, sandbox} = await connectedSandbox();
    const {stdout, stderr, exitCode} = await sandbox.run(['whoami']);
    expect(stdout).toBe(
      'profile   default\n' +
        `base URL  ${service.url}/, from MEDIA_BASE_URL\n` +
        `key       ********${key.slice(-4)}, from MEDIA_API_KEY\n` +
        'status    accepted\n' +
        `${stdout.split('\n').find(line => line.startsWith('id'))}\n` +
        'name      local\n',
    );
    expect(stdout).toMatch(/^id {8}[0-9a-f]{16}$/m);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  });

  it('--json: the same report as one JSON object', async () => {
    const {service, key, sandbox} = await connectedSandbox();
    const {stdout, stderr, exitCode} = await sandbox.run(['whoami', '--json']);
    expect(JSON.parse(stdout)).toEqual({
      profile: 'default',
      baseUrl: `${service.url}/`,
      baseUrlSource: 'MEDIA_BASE_URL',
      key: {masked: `********${key.slice(-4)}`, source: 'environment'},
      status: 'accepted',
      identity: {id: expect.stringMatching(/^[0-9a-f]{16}$/), name: 'local'},
    });
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  });

  it('a stored key: where it came from and its profile', async () => {
    const {service, key} = await embeddedService();
    const box = await sandbox();
    await box.run(['login', '--base-url', service.url, '--key-stdin', '--profile', 'work'], {
      stdin: 'pipe',
      input: key,
    });
    const {stdout, exitCode} = await box.run(['whoami', '--profile', 'work', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({profile: 'work', key: {source: 'profile'}, status: 'accepted'});
    expect(exitCode).toBe(0);
  });

  it('--base-url embedded: accepted, with a key made for this run', async () => {
    const {stdout, exitCode} = await (await sandbox()).run(['whoami', '--base-url', 'embedded']);
    expect(stdout).toContain(
      'base URL  embedded, from --base-url\nkey       ********, made for this run\nstatus    accepted\n',
    );
    expect(exitCode).toBe(0);
  });

  it('nothing configured: the report says so, exit 4', async () => {
    const box = await sandbox();
    const {stdout, stderr, exitCode} = await box.run(['whoami']);
    expect(stdout).toBe(
      'profile   default\nbase URL  none\nkey       none\n' +
        'status    missing: Nothing is configured yet: profile default has no base URL and no API key.\n' +
        'next      Try it on this machine with --base-url embedded, or store a key: media login --key-stdin --base-url URL\n',
    );
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 4});
    const json = await box.run(['whoami', '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({baseUrl: null, key: null, status: 'missing'});
    expect(json).toMatchObject({stderr: '', exitCode: 4});
  });

  it('a key without a base URL: the key is shown, the base URL is missing', async () => {
    const {stdout, exitCode} = await (await sandbox({MEDIA_API_KEY: key})).run(['whoami', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      baseUrl: null,
      key: {masked: '********ests', source: 'environment'},
      status: 'missing',
      message: 'There is an API key but no base URL to send it to.',
      hint: 'Set the service with --base-url URL or MEDIA_BASE_URL.',
    });
    expect(exitCode).toBe(4);
  });

  it.each([
    ['k', '********'],
    ['12345678901', '********'],
    ['123456789012', '********9012'],
  ])('the key %s: shown as %s', async (secret, masked) => {
    const box = await sandbox({MEDIA_API_KEY: secret});
    expect(JSON.parse((await box.run(['whoami', '--json'])).stdout).key.masked).toBe(masked);
  });

  it('an unknown key (401): rejected, exit 4', async () => {
    const {service} = await embeddedService();
    const box = await sandboxFor(service.url);
    const {stdout, stderr, exitCode} = await box.run(['whoami', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'rejected',
      httpStatus: 401,
      message: unknownKey(service.url),
    });
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 4});
    expect((await box.run(['whoami'])).stdout).toContain(
      `status    rejected: the key is not accepted (401): ${unknownKey(service.url)}\n`,
    );
  });

  it.each([403, 404] as const)('a key for uploads alone (%i): denied, exit 4', async deniedStatus => {
    const {service} = await embeddedService(denyingWith(deniedStatus));
    const box = await sandbox({
      MEDIA_BASE_URL: service.url,
      MEDIA_API_KEY: await service.createKey({permissions: ['upload']}),
    });
    const {stdout, stderr, exitCode} = await box.run(['whoami', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({status: 'denied', httpStatus: deniedStatus});
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 4});
  });

  it('a port where nobody listens: unreachable, exit 6', async () => {
    const url = await deadUrl();
    const {stdout, stderr, exitCode} = await (await sandboxFor(url)).run(['whoami', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'unreachable',
      message: expect.stringContaining('refused'),
    });
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 6});
  });

  it.each([
    ['500 with an error record', 500, '{"code":3,"message":"broken"}', 'broken'],
    ['a redirect', 301, '', 'the response (301) is not a GraphQL response'],
    ['a web page with 200', 200, '<html>', 'the response (200) is not a GraphQL response'],
    ['JSON with 200 that is no GraphQL', 200, '{"ok":true}', 'the response (200) is not a GraphQL response'],
  ])('%s: unclear, exit 1', async (_name, status, body, message) => {
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      connection.answer(status, body, {location: 'https://elsewhere.example/'});
    });
    const {stdout, stderr, exitCode} = await (await sandboxFor(url)).run(['whoami', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({status: 'unclear', httpStatus: status, message});
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 1});
  });

  it('a connection that breaks: unclear, exit 1', async () => {
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      connection.reset();
    });
    const {stdout, exitCode} = await (await sandboxFor(url)).run(['whoami', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({status: 'unclear', message: 'the connection broke'});
    expect(exitCode).toBe(1);
  });

  it.each(['application/json', 'application/graphql-response+json'])(
    'GraphQL errors with 400 as %s: the key was accepted, exit 0',
    async contentType => {
      const {url} = await scriptedServer(async connection => {
        await connection.request();
        connection.answer(400, '{"errors":[{"message":"introspection is off"}]}', {
          'content-type': contentType,
        });
      });
      const {stdout, exitCode} = await (await sandboxFor(url)).run(['whoami', '--json']);
      const report = JSON.parse(stdout);
      expect(report.status).toBe('accepted');
      expect(report).not.toHaveProperty('identity');
      expect(exitCode).toBe(0);
    },
  );
});

describe('whom the key belongs to', () => {
  const scalar = (name: string) => ({name, args: [], type: {kind: 'NON_NULL', ofType: {kind: 'SCALAR'}}});
  const schemaWith = (fields: unknown[]) => ({data: {__schema: {queryType: {fields}}}});
  const viewerType = (...names: string[]) => ({kind: 'OBJECT', fields: names.map(scalar)});

  it.each(['viewer', 'me', 'currentUser'])('a schema with %s: its fields', async name => {
    const {url, requests} = await graphqlServer(query => {
      if (query === '{__typename}') return {data: {__typename: 'Query'}};
      if (query.includes('__schema')) {
        return schemaWith([
          {name: 'other', args: [], type: viewerType('id')},
          {name, args: [], type: {kind: 'NON_NULL', ofType: viewerType('username', 'email', 'id', 'secret')}},
        ]);
      }
      return {data: {[name]: {id: 17, email: 'ada@example.com', username: 'ada', secret: 's'}}};
    });
    const {stdout, exitCode} = await (await sandboxFor(url)).run(['whoami', '--json']);
    expect(JSON.parse(stdout).identity).toEqual({id: '17', email: 'ada@example.com', username: 'ada'});
    expect(queriesOf(requests).at(-1)).toBe(`{${name}{id email username}}`);
    expect(exitCode).toBe(0);
  });

  it('a name that needs an argument: the other fields', async () => {
    const name = {...scalar('name'), args: [{type: {kind: 'NON_NULL'}}]};
    const type = {kind: 'OBJECT', fields: [scalar('id'), name]};
    const {url} = await graphqlServer(query => {
      if (query.includes('__schema')) return schemaWith([{name: 'viewer', args: [], type}]);
      return query.includes('name}') ? {errors: [{message: 'no format'}]} : {data: {viewer: {id: 17}}};
    });
    const {stdout} = await (await sandboxFor(url)).run(['whoami', '--json']);
    expect(JSON.parse(stdout).identity).toEqual({id: '17'});
  });

  it.each([
    ['introspection that is off', {errors: [{message: 'off'}]}],
    ['no such field', schemaWith([{name: 'media', args: [], type: viewerType('id')}])],
    [
      'a viewer that needs an argument',
      schemaWith([{name: 'viewer', args: [{type: {kind: 'NON_NULL'}}], type: viewerType('id')}]),
    ],
    ['a viewer without known fields', schemaWith([{name: 'viewer', args: [], type: viewerType('secret')}])],
    ['nonsense', {data: {__schema: [1, null]}}],
  ])('%s: accepted, nobody named', async (_name, schema) => {
    const {url, requests} = await graphqlServer(query =>
      query === '{__typename}' ? {data: {__typename: 'Q'}} : schema,
    );
    const {stdout, exitCode} = await (await sandboxFor(url)).run(['whoami', '--json']);
    const report = JSON.parse(stdout);
    expect(report.status).toBe('accepted');
    expect(report).not.toHaveProperty('identity');
    expect(exitCode).toBe(0);
    expect(requests).toHaveLength(2);
  });

  it('a name with control characters: escaped', async () => {
    const {url} = await graphqlServer(query =>
      query.includes('__schema')
        ? schemaWith([{name: 'viewer', args: [], type: viewerType('name')}])
        : {data: {viewer: {name: 'Ada\u001b[31m\nstatus    rejected'}}},
    );
    const {stdout} = await (await sandboxFor(url)).run(['whoami']);
    expect(stdout).toContain('name      Ada\\u001b[31m\\nstatus    rejected\n');
  });
});
