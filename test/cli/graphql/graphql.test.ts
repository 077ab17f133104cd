import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {stripVTControlCharacters} from 'node:util';
import {describe, expect, it} from 'vitest';
import {deadUrl} from '../../engine/service/support.ts';
import {connectedSandbox, denyingWith, embeddedService} from '../../support/embedded.ts';
import {fixture, type Sandbox, sandbox} from '../../support/media.ts';
import {type RawRequest, scriptedServer} from '../../support/scripted-server.ts';
import {runOnTerminal} from '../../support/terminal.ts';

const key = 'mk_some-key-for-tests';

/** A sandbox for a server that answers every request in this way, and what was sent to it. */
async function answering(
  status: number,
  body: string,
  headers: Record<string, string> = {},
): Promise<{box: Sandbox; requests: RawRequest[]; sent: () => unknown}> {
  const {url, requests} = await scriptedServer(async connection => {
    await connection.request();
    connection.answer(status, body, headers);
  });
  const box = await sandbox({MEDIA_BASE_URL: `${url}/prefix`, MEDIA_API_KEY: key});
  return {box, requests, sent: () => JSON.parse(requests[0]?.body.toString() ?? 'null')};
}

describe('media graphql against the embedded service', () => {
  it('a query as the argument: the response, exit 0', async () => {
    const {sandbox} = await connectedSandbox();
    const {stdout, stderr, exitCode} = await sandbox.run(['graphql', '{viewer{name permissions}}']);
    expect(JSON.parse(stdout)).toEqual({data: {viewer: {name: 'local', permissions: ['upload', 'graphql']}}});
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  });

  it('a query with variables: the record that was uploaded', async () => {
    const {service, sandbox} = await connectedSandbox();
    const {stdout: id} = await sandbox.run(['upload', fixture('photo.png'), '--template', '{id}\\n']);
    const query = 'query($id: ID!){media(id: $id){type size fileUrl}}';
    const {stdout, exitCode} = await sandbox.run(['graphql', query, '-f', `id=${id.trim()}`]);
    const [stored] = await service.records();
    expect(JSON.parse(stdout)).toEqual({
      data: {media: {type: 'IMAGE', size: 13582, fileUrl: stored?.record.fileUrl}},
    });
    expect(exitCode).toBe(0);
  });

  it.each([
    ['a field that does not exist', '{nothing}'],
    ['a syntax error', '{viewer'],
  ])('%s: the response on stdout, exit 1', async (_name, query) => {
    const {sandbox} = await connectedSandbox();
    const {stdout, stderr, exitCode} = await sandbox.run(['graphql', query]);
    expect(JSON.parse(stdout).errors).toHaveLength(1);
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 1});
  });

  it('--base-url embedded: with nothing set up', async () => {
    const {stdout, exitCode} = await (await sandbox()).run([
      'graphql',
      '{mediaList{totalCount}}',
      '--base-url',
      'embedded',
    ]);
    expect({stdout, exitCode}).toEqual({stdout: '{"data":{"mediaList":{"totalCount":0}}}\n', exitCode: 0});
  });

  it.each([
    [401, 403 as const, 'does not know this API key (401)'],
    [403, 403 as const, 'lacks the permission "read" or "graphql"'],
    [404, 404 as const, 'returned 404'],
  ])('a key that is refused with %i: exit 4', async (status, deniedStatus, sentence) => {
    const {service} = await embeddedService(deniedStatus === 404 ? denyingWith(404) : {});
    const secret = status === 401 ? key : await service.createKey({permissions: ['upload']});
    const box = await sandbox({MEDIA_BASE_URL: service.url, MEDIA_API_KEY: secret});
    const {stdout, stderr, exitCode} = await box.run(['graphql', '{__typename}']);
    expect(stderr).toContain(sentence);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 4});
  });
});

describe('what a response counts as', () => {
  it.each([
    [200, '{"data":{},"errors":[]}', 0, ''],
    [200, '{"data":{},"errors":null}', 0, ''],
    [200, '{"data":{},"errors":[{"message":"no"}]}', 1, ''],
    [200, '{"data":{},"errors":{}}', 1, ''],
    [400, '{"errors":[{"message":"no"}]}', 1, ''],
    [502, '{"data":{"a":1}}', 1, 'failed (502)'],
    [503, '{"data":{"a":1},"errors":[]}', 1, 'is unavailable (503)'],
    [302, '{"data":{}}', 1, 'redirects to'],
  ])('%i with %s: printed as it came, exit %i', async (status, body, expected, sentence) => {
    const {box} = await answering(status, body);
    const {stdout, stderr, exitCode} = await box.run(['graphql', '{a}']);
    expect({stdout, exitCode}).toEqual({stdout: `${body}\n`, exitCode: expected});
    expect(stderr).toContain(sentence);
    expect(stderr === '').toBe(sentence === '');
  });
});

describe('what media graphql sends', () => {
  it('the query alone: to /graphql at the root, with the key', async () => {
    const {box, requests, sent} = await answering(200, '{"data":{}}');
    expect(await box.run(['graphql', '{a}'])).toMatchObject({stdout: '{"data":{}}\n', exitCode: 0});
    expect(sent()).toEqual({query: '{a}'});
    expect(requests[0]?.head[0]).toBe('POST /graphql HTTP/1.1');
    expect(requests[0]?.head).toContain(`authorization: Bearer ${key}`);
    expect(requests[0]?.head).toContain('content-type: application/json');
  });

  it.each([
    ['-', ['-']],
    ['--input -', ['--input', '-']],
  ])('%s: the query from standard input', async (_name, parameters) => {
    const {box, sent} = await answering(200, '{"data":{}}');
    await box.run(['graphql', ...parameters], {stdin: 'pipe', input: '{a}\n'});
    expect(sent()).toEqual({query: '{a}\n'});
  });

  it('--input query.graphql: the query from the file', async () => {
    const {box, sent} = await answering(200, '{"data":{}}');
    await writeFile(join(box.directory, 'query.graphql'), 'query Ü{a}');
    await box.run(['graphql', '--input', 'query.graphql']);
    expect(sent()).toEqual({query: 'query Ü{a}'});
  });

  it('-f and -F: strings, and typed values', async () => {
    const {box, sent} = await answering(200, '{"data":{}}');
    await writeFile(join(box.directory, 'note.txt'), 'true\n"quoted"\n');
    const raw = ['a=1', 'b=x=y', 'c=', 'd=@note.txt'];
    const typed = [
      'e=true',
      'f=false',
      'g=null',
      'h=-12',
      'i=1.5e3',
      'j=007',
      'k=text',
      'l=@note.txt',
      'm=9007199254740993',
      'n=1e400',
    ];
    await box.run([
      'graphql',
      '{a}',
      ...raw.flatMap(field => ['-f', field]),
      ...typed.flatMap(field => ['-F', field]),
    ]);
    expect(sent()).toEqual({
      query: '{a}',
      variables: {
        a: '1',
        b: 'x=y',
        c: '',
        d: '@note.txt',
        e: true,
        f: false,
        g: null,
        h: -12,
        i: 1500,
        j: '007',
        k: 'text',
        l: 'true\n"quoted"\n',
        m: '9007199254740993',
        n: '1e400',
      },
    });
  });

  it('--variables, and fields with brackets as gh api has them: lists, objects, lists of objects', async () => {
    const {box, sent} = await answering(200, '{"data":{}}');
    // Windows tools start text files with a byte order mark.
    const text = '\ufeff{"n": 1, "o": {"a": "kept"}, "__proto__": {"x": 1}}';
    await writeFile(join(box.directory, 'v.json'), text);
    const fields = [
      'p[]=UPLOAD',
      'p[]=2',
      'o[k]=true',
      'o[deep][er]=x',
      'empty[]',
      'emptyInList[][]',
      'l[][a]=1',
      'l[][b]=2',
      'l[][a]=3',
    ];
    const typed = fields.flatMap(field => ['-F', field]);
    const run = (...more: string[]) => box.run(['graphql', '{a}', '--variables', 'v.json', ...more]);
    expect(await run(...typed, '-f', 'p[]=3', '-f', 'n=text')).toMatchObject({stderr: '', exitCode: 0});
    expect((sent() as {variables: object}).variables).toEqual({
      ['__proto__']: {x: 1},
      n: 'text',
      o: {a: 'kept', k: true, deep: {er: 'x'}},
      p: ['3', 'UPLOAD', 2],
      empty: [],
      emptyInList: [[]],
      l: [{a: 1, b: 2}, {a: 3}],
    });
    for (const wrong of ['n[]=1', 'o[]=1', 'o[a][b]=1', 'o[k]', 'o[k', '[k]=1'])
      expect(await run('-F', wrong)).toMatchObject({stdout: '', exitCode: 2});
    await writeFile(join(box.directory, 'v.json'), '[1]');
    const refused = await run();
    expect(refused.stderr).toBe(
      'media: v.json is not a JSON object.\n  Write the variables as JSON, such as {"first": 10}.\n',
    );
  });

  it('--variables with numbers that JavaScript cannot hold: their digits as text, as -F sends them', async () => {
    const {box, sent} = await answering(200, '{"data":{}}');
    const input = '{"id": 9007199254740993, "l": [-1e400, 1.5e3, "1e400"], "n": 12}';
    await box.run(['graphql', '{a}', '--variables', '-'], {stdin: 'pipe', input});
    expect(sent()).toEqual({
      query: '{a}',
      variables: {id: '9007199254740993', l: ['-1e400', 1500, '1e400'], n: 12},
    });
  });

  it('on a terminal: on indented lines and coloured, with every digit; in a pipe as it was received', async () => {
    const body = '{"data": {"a":[],"n":12345678901234567890,"s":"x, {y}: \\"z\\""}}';
    const {box} = await answering(200, body);
    expect((await box.run(['graphql', '{a}'])).stdout).toBe(`${body}\n`);
    const {output} = await runOnTerminal(box, ['graphql', '{a}']);
    const lines = ['{', '  "data": {', '    "a": [],', '    "n": 12345678901234567890,'];
    lines.push('    "s": "x, {y}: \\"z\\""', '  }', '}', '');
    expect(stripVTControlCharacters(output)).toBe(lines.join('\r\n'));
    expect(output).toContain('\u001b[1m"data"\u001b[22m');
  });

  it.each([
    [[], 'There is no query to send.'],
    [['  '], 'There is no query to send.'],
    [['{a}', '--input', 'q'], 'The query was given twice'],
    [['--input', 'gone.graphql'], 'gone.graphql could not be read: ENOENT.'],
    [['{a}', '-f', 'novalue'], '"novalue" does not set a variable.'],
    [['{a}', '-F', '1a=2'], '"1a=2" does not set a variable.'],
    [['{a}', '-F', 'a=@gone.txt'], 'gone.txt could not be read: ENOENT.'],
    [['-', '--variables', '-'], 'Standard input (-) was given twice'],
    [['--input', '-', '-F', 'a=@-'], 'Standard input (-) was given twice'],
    [['{a}', '--variables', '-', '-F', 'a=@-'], 'Standard input (-) was given twice'],
    [['{a}', '-F', 'a=@-', '-F', 'b=@-'], 'Standard input (-) was given twice'],
  ])('%j: a usage error, nothing sent', async (parameters, sentence) => {
    const {box, requests} = await answering(200, '{"data":{}}');
    const {stdout, stderr, exitCode} = await box.run(['graphql', ...parameters]);
    expect(stderr).toContain(sentence);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 2});
    expect(requests).toEqual([]);
  });
});

describe('what media graphql makes of the response', () => {
  it('numbers past 2^53: printed as they came; control characters escaped', async () => {
    const {box} = await answering(200, '{"data":{"size":9007199254740993,"name":"a\u009b\u202eb"}}\n\n');
    const {stdout} = await box.run(['graphql', '{a}']);
    expect(stdout).toBe('{"data":{"size":9007199254740993,"name":"a\\u009b\\u202eb"}}\n');
  });

  it.each([
    ['errors beside data with 200', 200, '{"data":{"a":1},"errors":[{"message":"no b"}]}'],
    ['errors with 400', 400, '{"errors":[{"message":"no"}]}'],
    ['errors with 500', 500, '{"errors":[{"message":"no"}]}'],
  ])('%s: printed, exit 1', async (_name, status, body) => {
    const {box} = await answering(status, body);
    expect(await box.run(['graphql', '{a}'])).toMatchObject({stdout: `${body}\n`, stderr: '', exitCode: 1});
  });

  it.each([401, 403, 404])('GraphQL errors with %i: printed, exit 4', async status => {
    const {box} = await answering(status, '{"errors":[{"message":"who are you?"}]}');
    const {stdout, stderr, exitCode} = await box.run(['graphql', '{a}']);
    expect(stdout).toBe('{"errors":[{"message":"who are you?"}]}\n');
    expect(stderr).toContain(String(status));
    expect(exitCode).toBe(4);
  });

  it.each([
    ['a web page with 200', 200, '<html>', 'returned 200, but the response was not a GraphQL response'],
    ['JSON that is no object', 200, '[1]', 'not a GraphQL response'],
    ['an error record with 500', 500, '{"code":9,"message":"out of order"}', 'failed (500): out of order'],
    ['a redirect', 307, '', 'redirects to elsewhere.example (307)'],
    ['a web page with 502', 502, '<html>', 'failed (502)'],
  ])('%s: a sentence on stderr, exit 1', async (_name, status, body, sentence) => {
    const {box} = await answering(status, body, {location: 'https://elsewhere.example/'});
    const {stdout, stderr, exitCode} = await box.run(['graphql', '{a}']);
    expect(stderr).toContain(sentence);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
  });

  it('a response that is cut off: exit 1, nothing printed', async () => {
    const {box} = await answering(200, '{"data":{}}', {'content-length': '100'});
    const {stdout, stderr, exitCode} = await box.run(['graphql', '{a}']);
    expect(stderr).toContain('the response was cut off');
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
  });

  it('a connection that breaks: exit 1', async () => {
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      connection.reset();
    });
    const {stderr, exitCode} = await (await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: key})).run([
      'graphql',
      '{a}',
    ]);
    expect(stderr).toBe(`media: The connection to ${new URL(url).host} broke.\n`);
    expect(exitCode).toBe(1);
  });

  it('a port where nobody listens: exit 6', async () => {
    const url = await deadUrl();
    const {exitCode} = await (await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: key})).run([
      'graphql',
      '{a}',
    ]);
    expect(exitCode).toBe(6);
  });

  it('nothing configured: exit 4', async () => {
    const {stderr, exitCode} = await (await sandbox()).run(['graphql', '{a}']);
    expect(stderr).toContain('Nothing is configured yet');
    expect(exitCode).toBe(4);
  });
});
