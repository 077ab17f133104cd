import {readdirSync, readFileSync} from 'node:fs';
import {readdir, readFile} from 'node:fs/promises';
import {createServer as createHttpServer, type IncomingMessage, type ServerResponse} from 'node:http';
import {type AddressInfo, connect, createServer, type Server, type Socket} from 'node:net';
import {join} from 'node:path';
import {expect, onTestFinished} from 'vitest';
import {connectedSandbox, embeddedService} from '../../support/embedded.ts';
import {exampleService} from '../../support/example-service.ts';
import {experiment} from '../../support/experiment/experiment.ts';
import {fixture, type Sandbox, sandbox} from '../../support/media.ts';
import {scriptedServer, someRecord} from '../../support/scripted-server.ts';
import {runOnPlainTerminal} from './terminal.ts';

const photo = fixture('photo.png');

/** Keys to look for: one as services make them, and one of every character that somebody escapes. */
const canaries = ['mk_canary7dE2u9Qx41LmZs', 'mk_Ca"n\\a/ry+%41<&>\'=7d~E2u9'];

/** Whether a text holds the key, or half of it, spelled in any way that gives it away. */
function holdsKey(text: string | Buffer, key: string): boolean {
  const lower = text.toString('latin1').toLowerCase();
  const parts = [key, key.slice(0, Math.ceil(key.length / 2) + 2), key.slice(-Math.ceil(key.length / 2) - 2)];
  return parts.some(part =>
    [
      part,
      JSON.stringify(part).slice(1, -1),
      JSON.stringify(part).slice(1, -1).replaceAll('/', '\\/'),
      escapedWholly(part),
      encodeURIComponent(part),
      Buffer.from(part).toString('hex'),
      Buffer.from(`Bearer ${part}`).toString('base64').slice(0, -4),
    ].some(spelling => lower.includes(spelling.toLowerCase())),
  );
}

function escapedWholly(text: string): string {
  return [...text].map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The command lines of all processes, as everybody on this machine may read them. */
function commandLines(): string {
  const processes =
    process.platform === 'linux' ? readdirSync('/proc').filter(name => /^\d+$/.test(name)) : [];
  return processes
    .map(pid => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    })
    .join('\n');
}

/** How a server may repeat what it was sent. */
const echoes: Record<string, (authorization: string, headers: string, response: ServerResponse) => void> = {
  'an error message': (authorization, _headers, response) =>
    answer(response, 400, JSON.stringify({code: 400, message: `No: ${authorization}`})),
  'all headers in an error message': (_authorization, headers, response) =>
    answer(response, 422, JSON.stringify({code: 422, message: headers, headers})),
  'a message of escapes': (authorization, _headers, response) =>
    answer(response, 400, `{"code":400,"message":"${escapedWholly(authorization)}"}`),
  'a message with escaped slashes': (authorization, _headers, response) =>
    answer(response, 400, JSON.stringify({message: authorization}).replaceAll('/', '\\/')),
  'a message in capitals': (authorization, _headers, response) =>
    answer(response, 400, JSON.stringify({message: authorization.toUpperCase()})),
  'a message past what is shown': (authorization, _headers, response) =>
    answer(response, 400, JSON.stringify({message: `${'x'.repeat(490)} ${authorization}`})),
  'a refusal of the key': (authorization, _headers, response) =>
    answer(response, 401, JSON.stringify({code: 401, message: `${authorization} is unknown`})),
  'every field of the record': (authorization, headers, response) =>
    answer(
      response,
      200,
      JSON.stringify({
        id: `m_1 ${authorization}`,
        type: headers,
        urls: [{variant: 'PUBLIC', url: `https://cdn.example/?key=${encodeURIComponent(authorization)}`}],
        fileUrl: `https://cdn.example/${authorization}`,
        [authorization]: {[authorization]: authorization},
      }),
    ),
  'a GraphQL error': (authorization, headers, response) =>
    answer(response, 200, JSON.stringify({data: {me: authorization}, errors: [{message: headers}]})),
  'a redirect': (authorization, _headers, response) => {
    response.setHeader('location', `https://${authorization.slice(7).replace(/\W/g, '-')}.evil.example/`);
    answer(response, 307, '');
  },
  'a redirect to a path': (authorization, _headers, response) => {
    response.setHeader('location', `/${encodeURIComponent(authorization)}`);
    answer(response, 308, '');
  },
  'a Retry-After': (authorization, _headers, response) => {
    response.setHeader('retry-after', authorization);
    answer(response, 503, JSON.stringify({message: authorization}));
  },
  'a page': (_authorization, headers, response) => answer(response, 500, `<pre>${headers}</pre>`),
  '1 MB of quotes around the key': (authorization, _headers, response) =>
    answer(response, 200, `"${authorization}${'\\"'.repeat(400_000)}`),
};

function answer(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {'content-type': 'application/json'}).end(body);
}

/** A server that repeats the key in one way, and looks at what the machine shows meanwhile. */
async function echoServer(echo: keyof typeof echoes, key: string) {
  const seen = {requests: 0, argv: 0};
  const server = createHttpServer((request: IncomingMessage, response) => {
    request.resume().on('end', () => {
      seen.requests += 1;
      if (holdsKey(commandLines(), key)) seen.argv += 1;
      echoes[echo]?.(request.headers.authorization ?? '', request.rawHeaders.join('\n'), response);
    });
  });
  return {url: `http://${await listen(server)}`, seen};
}

/** The files below a directory, other than those that keep the key, in which it is. */
async function filesWithKey(directory: string, key: string): Promise<string[]> {
  const entries = await readdir(directory, {recursive: true, withFileTypes: true});
  const paths = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name));
  const found: string[] = [];
  for (const path of paths) {
    if (!path.endsWith('config/config.json') && holdsKey(await readFile(path), key)) found.push(path);
  }
  return found;
}

type Commands = Record<string, readonly string[]>;

const uploads: Commands = {
  words: ['upload', photo, '--retries', '1', '--journal', 'words.journal'],
  verbose: ['upload', photo, '--retries', '1', '--verbose', '--format', 'markdown'],
  several: ['upload', photo, fixture('photo.jpg'), '--retries', '0', '--template', '{record}\\n'],
  ndjson: ['upload', photo, '--retries', '0', '--ndjson', '--journal', 'ndjson.journal'],
};
const others: Commands = {
  json: ['upload', photo, '--retries', '0', '--json'],
  url: ['upload', photo, '--retries', '0', '--format', 'url'],
  id: ['upload', photo, '--retries', '0', '--template', '{id}\\n'],
  graphql: ['graphql', '{me}', '--verbose'],
  whoami: ['whoami'],
  'whoami as JSON': ['whoami', '--json', '--verbose'],
};

async function keyShownBy(box: Sandbox, key: string, parameters: readonly string[], input?: string) {
  // A login would be refused beside the environment's key.
  const env = parameters[0] === 'login' ? {...box.env, MEDIA_API_KEY: undefined} : box.env;
  const {stdout, stderr} = await box.run(
    parameters,
    input === undefined ? {env} : {stdin: 'pipe', input, env},
  );
  return holdsKey(stdout, key) || holdsKey(stderr, key);
}

experiment('the key: a service that repeats it in every way', async ({scale}) => {
  const broken: string[] = [];
  let tried = 0;
  const keys = scale === 'long' ? canaries : canaries.slice(1);
  for (const key of keys) {
    await Promise.all(
      Object.keys(echoes).map(async (echo, index) => {
        const {url, seen} = await echoServer(echo, key);
        const box = await sandbox({MEDIA_BASE_URL: url, MEDIA_API_KEY: key});
        const commands = Object.entries(
          scale === 'long' && key !== canaries[0] ? {...uploads, ...others} : pick(index),
        );
        for (const [name, parameters] of commands) {
          tried += 1;
          const where = `${name}, repeated in ${echo}`;
          if (await keyShownBy(box, key, parameters)) broken.push(where);
        }
        if (scale === 'long' || index % 4 === 0) {
          tried += 1;
          const {output} = await runOnPlainTerminal(box, ['upload', '-v', '--retries', '0', photo]);
          if (holdsKey(output, key)) broken.push(`on a terminal, repeated in ${echo}`);
        }
        if (scale === 'long' || index % 4 === 2) {
          tried += 1;
          const login = ['login', '--key-stdin', '-v'];
          if (await keyShownBy(box, key, login, `${key}\n`)) broken.push(`login, repeated in ${echo}`);
        }
        broken.push(...(await filesWithKey(box.directory, key)).map(path => `${path}, repeated in ${echo}`));
        expect(seen.requests).toBeGreaterThan(0);
        if (seen.argv > 0) broken.push('in a command line');
      }),
    );
  }
  return {
    tried,
    held: tried - broken.length,
    broken,
    note: `${Object.keys(echoes).length} ways to repeat it`,
  };
});

/** One of the commands, another for each index, so that all of them have their turn. */
function pick(index: number): Commands {
  const all = Object.entries({...uploads, ...others});
  return Object.fromEntries(all.filter((_, turn) => turn === index % all.length));
}

/** Ends the program in the ways that it does not choose. */
const crashes: Record<string, string> = {
  'an uncaught error': "setTimeout(() => { throw new Error('boom') }, 150)",
  'a rejection that nobody handles': "setTimeout(() => Promise.reject(new Error('boom')), 150)",
  'an error from within':
    "Object.defineProperty(process.stdout, 'columns', {get() { throw new TypeError('boom') }}); process.stdout.isTTY = true",
  'an abort': 'setTimeout(() => process.abort(), 150)',
};

experiment('the key: crashes, failures to connect, proxies, and a service that is well', async () => {
  const broken: string[] = [];
  let tried = 0;
  const check = (name: string, text: string | Buffer, key: string) => {
    tried += 1;
    if (holdsKey(text, key)) broken.push(name);
  };
  const [key = ''] = canaries;
  const silent: Socket[] = [];
  const silence = await listen(createServer(socket => void silent.push(socket.on('error', () => {}))));
  onTestFinished(() => {
    for (const socket of silent) socket.destroy();
  });
  const box = await sandbox({MEDIA_BASE_URL: `http://${silence}`, MEDIA_API_KEY: key});
  const {url: answering} = await scriptedServer(async connection => {
    await connection.request();
    connection.answer(200, someRecord);
  });
  const crash = async ([name, script]: [string, string]) => {
    const env = {
      ...box.env,
      // Its error comes with the first line that is printed.
      ...(name === 'an error from within' && {MEDIA_BASE_URL: answering}),
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}`,
    };
    const {stdout, stderr, exitCode, signal} = await box.run(['upload', '-v', photo], {env});
    expect([exitCode, signal], name).not.toContain(0);
    // It has not waited until its time was over.
    expect(signal, name).not.toBe('SIGKILL');
    check(name, stdout + stderr, key);
  };
  const failures: Commands = {
    'a host that is none': [
      'upload',
      photo,
      '-v',
      '--base-url',
      'https://no-such-host.invalid',
      '--retries',
      '0',
    ],
    'TLS to a server without': [
      'upload',
      photo,
      '-v',
      '--base-url',
      `https://${silence}`,
      '--deadline',
      '500ms',
    ],
    'a key as an option': ['upload', photo, `--api-key=${key}`],
    'a key as an option of login': ['login', `--key=${key}`],
    'a port that is shut': [
      'upload',
      photo,
      '-v',
      '--base-url',
      'http://127.0.0.1:1',
      '--retries',
      '0',
      '--json',
    ],
  };
  const fail = async ([name, parameters]: [string, readonly string[]]) => {
    const {stdout, stderr, exitCode} = await box.run(parameters);
    expect(exitCode, name).not.toBe(0);
    check(name, stdout + stderr, key);
  };
  const [proxied, well] = await Promise.all([
    throughProxy(),
    wellService(),
    ...Object.entries(crashes).map(crash),
    ...Object.entries(failures).map(fail),
  ]);
  for (const [name, text] of proxied) check(name, text, proxyCanary);
  for (const [name, text, ownKey] of well) check(name, text, ownKey);
  return {tried, held: tried - broken.length, broken};
});

const proxyCanary = 'proxyPass7dE2u9Qx41';

/** What a proxy and the program print and log of an upload to a https service through it. */
async function throughProxy(): Promise<[string, Buffer | string][]> {
  const {service, key} = await embeddedService();
  const {proxyUrl, certificate} = await exampleService(new URL(service.url), ['api.example.com']);
  const upstream = new URL(proxyUrl);
  const log: Buffer[] = [];
  const recorder = await listen(
    createServer(client => {
      const up = connect(Number(upstream.port), upstream.hostname);
      client.on('data', bytes => log.push(bytes)).on('error', () => up.destroy());
      up.on('error', () => client.destroy());
      client.pipe(up).pipe(client);
    }),
  );
  const box = await sandbox({
    MEDIA_BASE_URL: 'https://api.example.com',
    MEDIA_API_KEY: key,
    HTTPS_PROXY: `http://user:${proxyCanary}@${recorder}`,
    NODE_EXTRA_CA_CERTS: await writtenTo('ca.pem', certificate),
  });
  const {stdout, stderr, exitCode} = await box.run(['upload', '-v', photo]);
  expect(exitCode, stderr).toBe(0);
  const logged = Buffer.concat(log);
  expect(logged.toString('latin1')).toContain('CONNECT api.example.com:443');
  expect(holdsKey(logged, key)).toBe(false);
  const dead = await box.run(['upload', '-v', photo, '--retries', '0'], {
    env: {...box.env, HTTPS_PROXY: `http://user:${proxyCanary}@127.0.0.1:1`},
  });
  expect(dead.exitCode).toBe(6);
  return [
    ['through a proxy', stdout + stderr],
    ['through a proxy that is away', dead.stdout + dead.stderr],
    [
      'a proxy that is no URL',
      (await box.run(['upload', photo], {env: {...box.env, HTTPS_PROXY: `socks5://u:${proxyCanary}@h`}}))
        .stderr,
    ],
  ];
}

async function writtenTo(name: string, text: string): Promise<string> {
  const {directory} = await sandbox();
  const {writeFile} = await import('node:fs/promises');
  await writeFile(join(directory, name), text);
  return join(directory, name);
}

/** What is printed and kept when nothing goes wrong. */
async function wellService(): Promise<[string, string | Buffer, string][]> {
  const {sandbox: box, key} = await connectedSandbox();
  const commands: Commands = {
    login: ['login', '--key-stdin', '-v'],
    upload: ['upload', '-v', photo, '--journal', 'a.journal'],
    whoami: ['whoami', '-v', '--json'],
    config: ['config', 'list', '-v'],
    journal: ['journal', 'list', '--json', 'a.journal'],
    logout: ['logout', '-v'],
    embedded: ['upload', '-v', photo, '--base-url', 'embedded'],
  };
  const found: [string, string | Buffer, string][] = [];
  for (const [name, parameters] of Object.entries(commands)) {
    // A login would be refused beside the environment's key.
    const env = {...box.env, MEDIA_API_KEY: undefined};
    const options = name === 'login' ? {stdin: 'pipe' as const, input: `${key}\n`, env} : {};
    const {stdout, stderr, exitCode} = await box.run(parameters, options);
    expect(exitCode, `${name}: ${stderr}`).toBe(0);
    found.push([name, stdout + stderr, key]);
  }
  found.push(['files', (await filesWithKey(box.directory, key)).length > 0 ? key : '', key]);
  return found;
}
