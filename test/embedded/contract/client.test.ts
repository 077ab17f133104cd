import {readFile} from 'node:fs/promises';
import express, {type Express} from 'express';
import {describe, expect, it} from 'vitest';
import {fixture, sandbox} from '../../support/media.ts';
import {someRecord} from '../../support/scripted-server.ts';
import {send, validatedApp} from './support.ts';

const key = 'mk_some-key-for-tests';
const photo = fixture('photo.png');

/** Which bytes came under which type. */
interface Upload {
  contentType: string | undefined;
  body: Buffer;
}

/** The contract's service: validates each request, checks the bearer key, and keeps what is uploaded. */
async function validatingService() {
  const uploads: Upload[] = [];
  const queries: unknown[] = [];
  const options = {
    validateRequests: true,
    validateResponses: true,
    validateSecurity: {
      handlers: {
        bearerAuth: (request: {headers: Record<string, unknown>}) =>
          request.headers['authorization'] === `Bearer ${key}`,
      },
    },
  };
  const handlers = (app: Express) => {
    app.post('/v1/media/upload', express.raw({type: () => true, limit: '64mb'}), (request, response) => {
      uploads.push({contentType: request.headers['content-type'], body: request.body});
      response.type('application/json').json(JSON.parse(someRecord));
    });
    app.post('/graphql', (request, response) => {
      queries.push(request.body);
      response.json({data: {__typename: 'Query'}});
    });
  };
  const app = await validatedApp(options as never, handlers);
  const box = await sandbox({MEDIA_BASE_URL: app.url, MEDIA_API_KEY: key});
  return {...app, uploads, queries, box};
}

describe('what media sends keeps to the contract', () => {
  it.each(['photo.png', 'photo.svg', 'photo.heic', 'clip.mp4', 'clip.mkv', '.ts/clip.ts'])(
    'media upload %s',
    async file => {
      const {complaints, uploads, box} = await validatingService();
      const {stdout, stderr, exitCode} = await box.run(['upload', fixture(file), '--json']);
      expect(complaints).toEqual([]);
      expect({stdout, stderr, exitCode}).toEqual({stdout: `${someRecord}\n`, stderr: '', exitCode: 0});
      expect(uploads[0]?.contentType).toMatch(/^(image|video)\//);
      expect(uploads.map(({body}) => body)).toEqual([await readFile(fixture(file))]);
    },
  );

  it('several files over one run, and standard input', async () => {
    const {complaints, uploads, box} = await validatingService();
    const inputs = [photo, fixture('clip.mp4'), fixture('photo.jpg')];
    expect(await box.run(['upload', ...inputs])).toMatchObject({exitCode: 0});
    expect(
      await box.run(['upload', '-', '--name', 'x.png'], {stdin: 'pipe', inputFile: photo}),
    ).toMatchObject({exitCode: 0});
    expect(complaints).toEqual([]);
    expect(uploads).toHaveLength(4);
  });

  it('media whoami, media login and media graphql', async () => {
    const {complaints, queries, box, url} = await validatingService();
    const login = ['login', '--base-url', url, '--key-stdin'];
    const runs = await Promise.all([
      box.run(['whoami']),
      box.run(login, {stdin: 'pipe', input: key, env: {...box.env, MEDIA_API_KEY: undefined}}),
      box.run(['graphql', 'query($a: Int){b(c: $a)}', '-F', 'a=1']),
    ]);
    expect(runs.map(({exitCode}) => exitCode)).toEqual([0, 0, 0]);
    // login looks at the upload path by a request that the interface's rules refuse, so that nothing can be stored.
    expect(complaints).toMatchObject([{status: 415}]);
    expect(queries).toContainEqual({
      query: 'query($a: Int){b(c: $a)}',
      variables: {a: 1},
    });
  });

  it('a key that the service rejects: understood as such', async () => {
    const {box, url, uploads} = await validatingService();
    const {stdout, exitCode} = await box.run(['upload', photo, '--ndjson'], {
      env: {...box.env, MEDIA_API_KEY: 'mk_another', MEDIA_BASE_URL: url},
    });
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'failed',
      error: {code: 'unauthorized', status: 401, serviceCode: 401},
    });
    expect(exitCode).toBe(4);
    expect(uploads).toEqual([]);
  });
});

describe('the validator tells a wrong request', () => {
  const bytes = Buffer.from('x');
  const bearer = {authorization: `Bearer ${key}`};

  it.each([
    [
      'multipart/form-data',
      '/v1/media/upload',
      {...bearer, 'content-type': 'multipart/form-data; boundary=x'},
      415,
    ],
    ['text/plain', '/v1/media/upload', {...bearer, 'content-type': 'text/plain'}, 415],
    ['no key', '/v1/media/upload', {'content-type': 'image/png'}, 401],
    [
      'basic authentication',
      '/v1/media/upload',
      {authorization: 'Basic eDp5', 'content-type': 'image/png'},
      401,
    ],
    ['another path', '/v2/media/upload', {...bearer, 'content-type': 'image/png'}, 404],
    ['GraphQL that is no JSON', '/graphql', {...bearer, 'content-type': 'text/plain'}, 415],
  ])('%s', async (_name, path, headers, status) => {
    const {url, complaints, uploads} = await validatingService();
    const answer = await send(`${url}${path}`, 'POST', {...headers, 'content-length': bytes.length}, bytes);
    expect(answer.status).toBe(status);
    expect(complaints).toMatchObject([{status}]);
    expect(uploads).toEqual([]);
  });

  it('chunked instead of Content-Length', async () => {
    const {url, complaints} = await validatingService();
    const headers = {...bearer, 'content-type': 'image/png', 'transfer-encoding': 'chunked'};
    expect((await send(`${url}/v1/media/upload`, 'POST', headers, bytes)).status).toBe(400);
    expect(complaints).toEqual([{status: 400, message: expect.stringMatching(/content-length/i)}]);
  });
});
