// What an installed `media` must do, whichever Node runs it. Each check gets a machine of its own with a photo and a
// video in its directory, and `media(parameters, options)`, which resolves to {stdout, stderr, exitCode, signal}.
import {deepStrictEqual as equal, match} from 'node:assert/strict';
import {readFile, rm, writeFile} from 'node:fs/promises';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

const reporter = fileURLToPath(new URL('../../support/compile-reporter.cjs', import.meta.url));

/** The checks of what only the package has: options of Node, and a library. */
export const ofThePackage = ['compile cache', 'library'];

/** The checks by name, in the order in which they are run. */
export const checks = {
  async version({media, version}) {
    equal(await media(['--version']), {stdout: version, stderr: '', exitCode: 0, signal: undefined});
  },

  async help({media}) {
    for (const parameters of [['--help'], ['upload', '--help'], ['help', 'journal']]) {
      const {stdout, stderr, exitCode} = await media(parameters);
      match(stdout, /^Usage: media .*\nExamples:\n/s);
      equal({stderr, exitCode}, {stderr: '', exitCode: 0});
    }
  },

  async embedded({media}) {
    const {stdout, exitCode} = await media(['upload', 'photo.png', 'clip.mp4', '--base-url', 'embedded']);
    match(stdout, /photo\.png/);
    match(stdout, /clip\.mp4/);
    equal(exitCode, 0);
  },

  async json({media}) {
    const {stdout, stderr, exitCode} = await media([
      'upload',
      'photo.png',
      'clip.mp4',
      '--base-url',
      'embedded',
      '--json',
    ]);
    const records = stdout.split('\n').map(line => JSON.parse(line));
    equal(
      records.map(({type, width, height}) => ({type, width, height})),
      [
        {type: 'IMAGE', width: 640, height: 400},
        {type: 'VIDEO', width: 320, height: 180},
      ],
    );
    equal({stderr, exitCode}, {stderr: '', exitCode: 0});
  },

  async pipe({shell}) {
    const command = 'cat photo.png | media upload - --name photo.png --base-url embedded --ndjson | cat';
    const {stdout, exitCode} = await shell(command);
    const {file, status, contentType} = JSON.parse(stdout);
    equal({file, status, contentType}, {file: 'photo.png', status: 'uploaded', contentType: 'image/png'});
    equal(exitCode, 0);
  },

  async journal({media}) {
    const command = ['upload', 'photo.png', 'clip.mp4', '--base-url', 'embedded', '--journal', 'all.journal'];
    const first = await media([...command, '--template', '{id}\\n']);
    const second = await media([...command, '--template', '{id}\\n']);
    equal(second.stdout, first.stdout);
    match(second.stderr, /0 uploaded, 2 skipped/);
    equal((await media(['journal', 'check', 'all.journal', '--', 'photo.png', 'clip.mp4'])).exitCode, 0);
  },

  async 'compile cache'({media, directory}) {
    const report = join(directory, 'report');
    const env = {NODE_OPTIONS: `--require=${reporter}`, COMPILED_REPORT: report};
    for (const command of [
      ['config', 'list'],
      ['upload', '--dry-run', 'photo.png'],
    ]) {
      const first = await media(command, {env});
      await rm(report);
      equal(await media(command, {env}), first);
      const loaded = (await readFile(report, 'utf8')).trim().split('\n');
      equal(
        loaded.filter(line => !line.endsWith(' taken')),
        [],
      );
    }
  },

  async 'exit status'({media, directory}) {
    await writeFile(join(directory, 'empty.png'), '');
    const embedded = ['--base-url', 'embedded'];
    const free = `http://127.0.0.1:${await unusedPort()}`;
    const statuses = [
      await media(['upload', 'missing.png', ...embedded]),
      await media(['upload', 'photo.png', '--jsn', ...embedded]),
      await media(['upload', 'photo.png', 'empty.png', ...embedded]),
      await media(['upload', 'photo.png']),
      await media(['upload', 'photo.png', '--base-url', free, '--retries', '0'], {
        env: {MEDIA_API_KEY: 'key-of-the-smoke-test'},
      }),
    ].map(({exitCode}) => exitCode);
    equal(statuses, [1, 2, 3, 4, 6]);
  },

  async 'login, whoami'({media, serve}) {
    const {url, key, end} = await serve();
    equal((await media(['login', '--base-url', url, '--key-stdin'], {input: `${key}\n`})).exitCode, 0);
    const {stdout, exitCode} = await media(['whoami', '--json']);
    equal({baseUrl: JSON.parse(stdout).baseUrl, exitCode}, {baseUrl: `${url}/`, exitCode: 0});
    equal((await media(['upload', 'photo.png', '--format', 'url'])).stdout.startsWith(`${url}/`), true);
    equal((await media(['logout'])).exitCode, 0);
    equal((await media(['whoami'])).exitCode, 4);
    equal((await end('SIGTERM')).signal, 'SIGTERM');
  },

  async signals({media, serve}) {
    equal((await (await serve()).end('SIGINT')).signal, 'SIGINT');
    const silent = createServer(() => {});
    await new Promise(resolve => silent.listen(0, '127.0.0.1', resolve));
    const connected = new Promise(resolve => silent.once('connection', resolve));
    const env = {MEDIA_API_KEY: 'key-of-the-smoke-test'};
    const upload = media(
      ['upload', 'clip.mp4', '--base-url', `http://127.0.0.1:${silent.address().port}`, '--limit-rate', '1K'],
      {env},
    );
    const socket = await connected;
    upload.kill('SIGTERM');
    const {signal} = await upload;
    socket.destroy();
    silent.close();
    equal(signal, 'SIGTERM');
  },

  async library({run, directory, entry}) {
    const module = join(directory, 'library.mjs');
    await writeFile(
      module,
      `import {MediaClient, startService, uploadAll} from ${JSON.stringify(entry)};
       const service = await startService({dataDirectory: 'uploads'});
       const client = new MediaClient({baseUrl: service.url, apiKey: await service.createKey()});
       for await (const file of uploadAll(['photo.png'], {client})) console.log(file.status, file.record?.type);
       await client.close();
       await service.close();`,
    );
    equal(await run([module]), {stdout: 'uploaded IMAGE', stderr: '', exitCode: 0, signal: undefined});
  },
};

async function unusedPort() {
  const server = createServer();
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  const {port} = server.address();
  await new Promise(resolve => server.close(resolve));
  return port;
}
