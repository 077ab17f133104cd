import {
  chmod,
  copyFile,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {execa, type Options} from 'execa';
import {describe, expect, onTestFinished, test} from 'vitest';
import {errorLines, sandboxFor} from '../../../engine/service/program.ts';
import {
  deadUrl,
  mebibyte,
  sinkServer,
  unbufferable,
  writePng,
  writeSparsePng,
} from '../../../engine/service/support.ts';
import {eventually} from '../../../support/eventually.ts';
import {
  fixture,
  mediaCommand,
  mediaInShell,
  mediaUrl,
  type Sandbox,
  sandbox,
  temporaryDirectory,
} from '../../../support/media.ts';
import {scriptedServer, someRecord} from '../../../support/scripted-server.ts';

const photo = fixture('photo.png');

async function writeAt(path: string, position: number, bytes: Buffer): Promise<void> {
  const file = await open(path, 'r+');
  await file.write(bytes, 0, bytes.length, position);
  await file.close();
}

/** Changes the content, and puts back when that was, to the nanosecond. */
async function rewriteUnseen(path: string, rewrite: () => Promise<void>): Promise<void> {
  const times = `${path}.times`;
  await execa('touch', ['-r', path, times]);
  await rewrite();
  await execa('touch', ['-r', times, path]);
  await unlink(times);
}

function rewritten(path: string): Promise<void> {
  return rewriteUnseen(path, () => writeAt(path, 10, Buffer.from('other bytes')));
}

/** Starts to upload a big file, changes it when a part of it has arrived, and lets the upload go on. */
async function uploadChanging(change: (path: string) => Promise<void>, options: readonly string[] = []) {
  const directory = await temporaryDirectory();
  const path = await writeSparsePng(directory, 'big.png', unbufferable);
  const sink = await sinkServer({pauseAfter: mebibyte});
  const machine = await sandboxFor(sink.url);
  const upload = machine.run(['upload', path, '--ndjson', '--retries', '3', ...options]);
  await sink.paused;
  await change(path);
  sink.resume();
  const {stdout, stderr, exitCode} = await upload;
  await eventually(() => sink.requests.every(({closed}) => closed));
  return {path, sink, exitCode, outcome: JSON.parse(stdout), stderr};
}

describe('a file that changes while it is uploaded', () => {
  test.each<[string, (path: string) => Promise<void>, string]>([
    ['grew', path => writeAt(path, unbufferable, Buffer.from('x')), 'it grew'],
    [
      'shrank by its last byte',
      path => open(path, 'r+').then(file => file.truncate(unbufferable - 1).finally(() => file.close())),
      'it shrank',
    ],
    ['was truncated to nothing', path => writeFile(path, ''), 'it shrank'],
    ['was rewritten in place', path => writeAt(path, 10, Buffer.from('other bytes')), 'it was rewritten'],
    [
      'was rewritten near its end',
      path => writeAt(path, unbufferable - 10, Buffer.from('x')),
      'it was rewritten',
    ],
    ['was rewritten, and its mtime put back', rewritten, 'it was rewritten'],
    [
      'was rewritten, its mtime put back, and chmodded',
      path => rewritten(path).then(() => chmod(path, 0o600)),
      'it was rewritten',
    ],
    [
      'was rewritten, its mtime put back, and given a second name',
      path => rewritten(path).then(() => link(path, `${path}.link`)),
      'it was rewritten',
    ],
    [
      'was rewritten, its mtime put back, and removed',
      path => rewritten(path).then(() => unlink(path)),
      'it was rewritten',
    ],
    [
      'was replaced by renaming another of its size onto it',
      async path => {
        await rename(
          await writeSparsePng(await temporaryDirectoryBeside(path), 'new.png', unbufferable),
          path,
        );
      },
      'it was replaced by another file',
    ],
    [
      'was deleted and written anew',
      async path => {
        await rename(path, `${path}.old`);
        await writeSparsePng(join(path, '..'), 'big.png', unbufferable);
      },
      'it was replaced by another file',
    ],
  ])('%s: source_changed, exit 1, the last byte never sent, no other try', async (_, change, how) => {
    const {path, sink, exitCode, outcome, stderr} = await uploadChanging(change);
    const error = {
      code: 'source_changed',
      message: `${path} changed while it was being uploaded: ${how}.`,
      hint: 'Nothing was stored. Upload it again when no program is writing to it.',
    };
    expect(outcome).toMatchObject({status: 'failed', error, attempts: 1});
    expect(stderr).toBe(`media: ${error.message}\n  ${error.hint}\n`);
    expect(exitCode).toBe(1);
    expect(sink.requests).toHaveLength(1);
    expect(sink.requests[0]?.bodyBytes).toBeLessThan(unbufferable);
  });

  test('is read: its content is the same, so it is uploaded whole', async () => {
    const {sink, exitCode, outcome} = await uploadChanging(path => readFile(path).then(() => {}));
    expect(outcome).toMatchObject({status: 'uploaded', attempts: 1});
    expect(exitCode).toBe(0);
    expect(sink.requests.map(({bodyBytes}) => bodyBytes)).toEqual([unbufferable]);
  });

  test.each<[string, (path: string) => Promise<void>]>([
    ['unlinked', path => unlink(path)],
    ['renamed', path => rename(path, `${path}.moved`)],
    ['given other permissions', path => chmod(path, 0)],
    ['given other permissions, and its own again', path => chmod(path, 0).then(() => chmod(path, 0o644))],
    ['given a second name', path => link(path, `${path}.link`)],
    [
      'rewritten where it was sent and in one byte, its mtime put back, and chmodded',
      path =>
        rewriteUnseen(path, () => writeAt(path, 100_001, Buffer.from('x'))).then(() => chmod(path, 0o600)),
    ],
  ])('is %s: sent again while it is hashed, and compared with what is there', async (_, change) => {
    const {sink, exitCode, outcome} = await uploadChanging(change);
    expect(outcome).toMatchObject({status: 'uploaded', attempts: 2});
    expect(exitCode).toBe(0);
    const [first, second] = sink.requests;
    expect(first?.bodyBytes).toBeLessThan(unbufferable);
    expect(second?.bodyBytes).toBe(unbufferable);
  });

  test('is chmodded, for a journal, which knows the hash of what was sent: not sent again', async () => {
    const {sink, exitCode, outcome} = await uploadChanging(path => chmod(path, 0), ['--journal', 'j']);
    expect(outcome).toMatchObject({status: 'uploaded', attempts: 1});
    expect(exitCode).toBe(0);
    expect(sink.requests.map(({bodyBytes}) => bodyBytes)).toEqual([unbufferable]);
  });

  test('is rewritten in one byte, its mtime put back, and chmodded, for a journal: source_changed', async () => {
    const {sink, exitCode, outcome} = await uploadChanging(
      path =>
        rewriteUnseen(path, () => writeAt(path, 100_001, Buffer.from('x'))).then(() => chmod(path, 0o600)),
      ['--journal', 'j'],
    );
    expect(outcome).toMatchObject({status: 'failed', error: {code: 'source_changed'}, attempts: 1});
    expect(exitCode).toBe(1);
    expect(sink.requests[0]?.bodyBytes).toBeLessThan(unbufferable);
  });

  describe('and is small, between two attempts', () => {
    /** Uploads a photo to a service that asks for another try, and does this to the photo meanwhile. */
    async function uploadTwice(change: (path: string) => Promise<void>) {
      const path = join(await temporaryDirectory(), 'photo.png');
      await copyFile(photo, path);
      const {url, requests} = await scriptedServer(
        async connection => {
          await connection.request();
          await change(path);
          connection.answer(429, '', {'retry-after': '0'});
        },
        async connection => {
          await connection.request();
          connection.answer(200, someRecord);
        },
      );
      const {stdout, exitCode} = await (await sandboxFor(url)).run(['upload', path, '--ndjson']);
      return {outcome: JSON.parse(stdout), exitCode, bodies: requests.map(({body}) => body)};
    }

    test('rewritten, its mtime put back, and chmodded: source_changed, not sent again', async () => {
      const {outcome, exitCode, bodies} = await uploadTwice(path =>
        rewritten(path).then(() => chmod(path, 0o600)),
      );
      expect(outcome).toMatchObject({status: 'failed', error: {code: 'source_changed'}, attempts: 2});
      expect({exitCode, requests: bodies.length}).toEqual({exitCode: 1, requests: 1});
    });

    test.each<[string, (path: string) => Promise<void>]>([
      ['chmodded', path => chmod(path, 0o600)],
      ['removed', path => unlink(path)],
    ])('%s: its content is the same, so it is sent again', async (_, change) => {
      const {outcome, exitCode, bodies} = await uploadTwice(change);
      expect(outcome).toMatchObject({status: 'uploaded', attempts: 2});
      expect(exitCode).toBe(0);
      const bytes = await readFile(photo);
      expect(bodies.map(body => body.equals(bytes))).toEqual([true, true]);
    });
  });

  test('behind a symbolic link that is pointed elsewhere: source_changed', async () => {
    const directory = await temporaryDirectory();
    const target = await writeSparsePng(directory, 'a.png', unbufferable);
    const other = await writeSparsePng(directory, 'b.png', unbufferable);
    const path = join(directory, 'link.png');
    await symlink(target, path);
    const sink = await sinkServer({pauseAfter: mebibyte});
    const upload = (await sandboxFor(sink.url)).run(['upload', path, '--json']);
    await sink.paused;
    await unlink(path);
    await symlink(other, path);
    sink.resume();
    const {stderr, exitCode} = await upload;
    expect(errorLines(stderr)).toMatchObject([{code: 'source_changed'}]);
    expect(exitCode).toBe(1);
    expect(sink.requests[0]?.bodyBytes).toBeLessThan(unbufferable);
  });
});

/** A directory on the file system of `path`, so that a rename can move from one to the other. */
async function temporaryDirectoryBeside(path: string): Promise<string> {
  const directory = join(path, '..', 'beside');
  await mkdir(directory);
  return directory;
}

describe('what is no readable regular file', () => {
  /** Uploads these, and expects that no connection was even tried. */
  async function refused(
    prepare: (directory: string) => Promise<string>,
    change: (machine: Sandbox) => void = () => {},
  ) {
    let connections = 0;
    const {url} = await scriptedServer(() => {
      connections += 1;
    });
    const machine = await sandboxFor(url);
    change(machine);
    const name = await prepare(machine.directory);
    const {stdout, stderr, exitCode} = await machine.run(['upload', name, '--json']);
    expect({stdout, exitCode, connections}).toEqual({stdout: '', exitCode: 1, connections: 0});
    const errors = errorLines(stderr);
    expect(errors).toHaveLength(1);
    return errors[0];
  }

  test('a missing file: file_missing', async () => {
    expect(await refused(async () => 'missing.png')).toMatchObject({
      file: 'missing.png',
      code: 'file_missing',
      message: 'missing.png does not exist.',
    });
  });

  test.each(['https://media.example/a.png', 'https://media.example/a.png?size=1', 'HTTP://media.example/'])(
    'a URL, %s: said so, with the command that downloads it',
    async url => {
      const box = await sandboxFor(await deadUrl());
      for (const command of ['upload', 'rewrite']) {
        const {stderr, exitCode} = await box.run([command, url]);
        expect(stderr).toContain(`${url} is a URL, not a file.\n  Download it first: curl -LO `);
        expect(exitCode).toBe(1);
      }
      const editor = await execa(mediaUrl, [url], {...{cwd: box.directory, env: box.env}, reject: false});
      expect(editor.stderr).toContain(`${url} is a URL, not a file.\n  Download it first: curl -LO `);
    },
  );

  test('a path through a file: file_missing', async () => {
    expect(await refused(async () => join(photo, 'x.png'))).toMatchObject({code: 'file_missing'});
  });

  test('a dangling symbolic link: file_missing', async () => {
    const error = await refused(async directory => {
      await symlink('nowhere', join(directory, 'link.png'));
      return 'link.png';
    });
    expect(error).toMatchObject({
      code: 'file_missing',
      message: 'link.png links to a file that does not exist.',
    });
  });

  test('a symbolic link to itself: file_unreadable', async () => {
    const error = await refused(async directory => {
      await symlink('loop.png', join(directory, 'loop.png'));
      return 'loop.png';
    });
    expect(error).toMatchObject({
      code: 'file_unreadable',
      message: 'loop.png is a symbolic link that leads to itself.',
    });
  });

  test.each([300, 5_000])('a name of %i characters: file_missing, shortened', async length => {
    const error = await refused(async () => `${'a'.repeat(length)}.png`);
    expect(error).toMatchObject({code: 'file_missing'});
    expect(error?.message).toBe(`${'a'.repeat(60)}... is too long to be the name of a file.`);
  });

  test('a directory: not_a_file', async () => {
    expect(await refused(async directory => directory)).toMatchObject({
      code: 'not_a_file',
      message: expect.stringMatching(/ is a directory, not a file\.$/),
    });
  });

  test('a FIFO that nobody writes to: not_a_file, no hang', async () => {
    const error = await refused(async directory => {
      await execa('mkfifo', [join(directory, 'pipe.png')]);
      return 'pipe.png';
    });
    expect(error).toMatchObject({
      code: 'not_a_file',
      message: 'pipe.png is a FIFO, not a regular file.',
      hint: expect.stringContaining(' - --name FILE'),
    });
  });

  test('a socket: not_a_file', async () => {
    const error = await refused(async directory => {
      const server = createServer();
      await new Promise<void>(resolve => {
        server.listen(join(directory, 's.png'), resolve);
      });
      onTestFinished(() => {
        server.close();
      });
      return 's.png';
    });
    expect(error).toMatchObject({code: 'not_a_file', message: 's.png is a socket, not a regular file.'});
  });

  test.each(['/dev/null', '/dev/zero'])('%s: not_a_file', async device => {
    expect(await refused(async () => device)).toMatchObject({
      code: 'not_a_file',
      message: `${device} is a device, not a regular file.`,
    });
  });

  test('an empty file: empty_file', async () => {
    const error = await refused(async directory => {
      await writeFile(join(directory, 'empty.png'), '');
      return 'empty.png';
    });
    expect(error).toMatchObject({
      code: 'empty_file',
      message: 'empty.png is empty: there is nothing to upload.',
    });
  });

  test('a file without permission to read, for a user who is not root: file_unreadable', async () => {
    const machine = await sandboxFor(await deadUrl());
    await chmod(machine.directory, 0o755);
    await writeFile(join(machine.directory, 'secret.png'), 'x', {mode: 0});
    const {stdout, stderr, exitCode} = await machine.run(
      ['upload', 'secret.png', '--json'],
      process.getuid?.() === 0 ? {uid: 65_534, gid: 65_534} : {},
    );
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(errorLines(stderr)).toMatchObject([
      {code: 'file_unreadable', message: 'secret.png could not be read: permission denied.'},
    ]);
  });

  test('a symbolic link to a file: uploaded', async () => {
    const {url, requests} = await scriptedServer(async connection => {
      await connection.request();
      connection.answer(200, someRecord);
    });
    const machine = await sandboxFor(url);
    await symlink(photo, join(machine.directory, 'link.png'));
    const {exitCode} = await machine.run(['upload', 'link.png']);
    expect(exitCode).toBe(0);
    expect(requests[0]?.body.equals(await readFile(photo))).toBe(true);
  });
});

/** Options of a run whose standard input is a pipe that this file goes through. */
function fromFile(path: string): Options {
  return {stdin: ['pipe', {file: path}]};
}

describe('standard input', () => {
  /** A machine whose temporary files have a directory of their own, and a service that stores. */
  async function spooling() {
    const {url, requests} = await scriptedServer(async connection => {
      await connection.request();
      connection.answer(200, someRecord);
    });
    const temporary = await temporaryDirectory();
    return {requests, temporary, machine: await sandboxFor(url, {TMPDIR: temporary})};
  }

  test('a PNG without a name: its bytes decide the type, nothing is left in TMPDIR', async () => {
    const {requests, temporary, machine} = await spooling();
    const {stderr, exitCode} = await machine.run(['upload', '-'], fromFile(photo));
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    const bytes = await readFile(photo);
    expect(requests[0]?.body.equals(bytes)).toBe(true);
    expect(requests[0]?.head).toContain('content-type: image/png');
    expect(requests[0]?.head).toContain(`content-length: ${bytes.length}`);
    expect(await readdir(temporary)).toEqual([]);
  });

  test('12 MiB through a pipe: the same bytes', async () => {
    const {requests, machine} = await spooling();
    const path = await writePng(await temporaryDirectory(), 'a.png', 12 * mebibyte);
    const {exitCode} = await machine.run(['upload', '-'], fromFile(path));
    expect(exitCode).toBe(0);
    expect(requests[0]?.body.equals(await readFile(path))).toBe(true);
  });

  test.each([
    ['clip.webm', 'video/webm'],
    ['dir/photo.JPG', 'image/jpeg'],
    ['no-extension', 'image/png'],
  ])('--name %s: sent as %s', async (name, type) => {
    const {requests, machine} = await spooling();
    const {exitCode} = await machine.run(['upload', '-', '--name', name], fromFile(photo));
    expect(exitCode).toBe(0);
    expect(requests[0]?.head).toContain(`content-type: ${type}`);
  });

  test.each([
    ['nothing', {stdin: 'pipe' as const, input: ''}],
    ['/dev/null', {stdin: 'ignore' as const}],
  ])('%s: empty_file, exit 1, no request', async (_, options) => {
    const {requests, temporary, machine} = await spooling();
    const {stdout, stderr, exitCode} = await machine.run(['upload', '-', '--json'], options);
    expect({stdout, exitCode, requests}).toEqual({stdout: '', exitCode: 1, requests: []});
    expect(errorLines(stderr)).toMatchObject([{file: '-', code: 'empty_file'}]);
    expect(await readdir(temporary)).toEqual([]);
  });

  test('a retry sends the same bytes again', async () => {
    const {url, requests} = await scriptedServer(
      async connection => {
        await connection.request();
        connection.answer(429, '', {'retry-after': '0'});
      },
      async connection => {
        await connection.request();
        connection.answer(200, someRecord);
      },
    );
    const {exitCode} = await (await sandboxFor(url)).run(['upload', '-'], fromFile(photo));
    expect(exitCode).toBe(0);
    const bytes = await readFile(photo);
    expect(requests.map(({body}) => body.equals(bytes))).toEqual([true, true]);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'] as const)(
    '%s while it is spooled: ends by it, no request, nothing left in TMPDIR',
    async signal => {
      const {requests, temporary, machine} = await spooling();
      const upload = machine.start(['upload', '-'], {stdin: 'pipe'});
      upload.stdin?.write('\x89PNG and the rest is still to come');
      await untilSpooling(upload.pid, temporary);
      upload.kill(signal);
      const {stdout, signal: endedBy} = await upload;
      expect({stdout, endedBy, requests}).toEqual({stdout: '', endedBy: signal, requests: []});
      expect(await readdir(temporary)).toEqual([]);
    },
  );

  /** Waits until the program has the nameless file open that standard input goes to, and has removed its directory too. */
  async function untilSpooling(pid: number | undefined, temporary: string): Promise<void> {
    const descriptors = `/proc/${pid}/fd`;
    let seen = false;
    const look = async () => {
      for (const descriptor of await readdir(descriptors)) {
        const target = await readlink(join(descriptors, descriptor)).catch(() => '');
        if (target.endsWith('/spool (deleted)')) seen ||= (await readdir(temporary)).length === 0;
      }
    };
    await eventually(() => {
      void look().catch(() => {});
      return seen;
    });
  }

  test('a disk that takes no more: local_failure, exit 1, no request, nothing left', async () => {
    const {requests, temporary, machine} = await spooling();
    const path = await writePng(await temporaryDirectory(), 'a.png', 2 * mebibyte);
    // A limit on the size of files, in 512-byte blocks, is the disk's end without a disk.
    const {stdout, stderr, exitCode} = await execa(
      'sh',
      ['-c', 'ulimit -f 1024; exec "$@"', 'sh', ...mediaCommand, 'upload', '-', '--json', '--no-progress'],
      {
        cwd: machine.directory,
        env: machine.env,
        extendEnv: false,
        reject: false,
        stripFinalNewline: false,
        inputFile: path,
      },
    );
    expect({stdout, exitCode, requests}).toEqual({stdout: '', exitCode: 1, requests: []});
    expect(errorLines(stderr)).toMatchObject([
      {
        code: 'local_failure',
        message: expect.stringContaining(`Standard input could not be stored in ${temporary}`),
        hint: 'Set TMPDIR to a directory with enough space.',
      },
    ]);
    expect(await readdir(temporary)).toEqual([]);
  });

  test('a TMPDIR that does not exist: local_failure, exit 1', async () => {
    const {machine, temporary} = await spooling();
    await rm(temporary, {recursive: true});
    const {stderr, exitCode} = await machine.run(['upload', '-', '--json'], fromFile(photo));
    expect(exitCode).toBe(1);
    expect(errorLines(stderr)).toMatchObject([
      {code: 'local_failure', message: expect.stringContaining(temporary)},
    ]);
  });

  test('the same with other files: what fails on this machine ends the run, which does not try them', async () => {
    const {machine, temporary, requests} = await spooling();
    await rm(temporary, {recursive: true});
    const upload = ['upload', '-', photo, '-c', '1', '--ndjson'];
    const {stdout, exitCode} = await machine.run(upload, fromFile(photo));
    const codes = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).error?.code);
    expect({codes, exitCode, requests}).toEqual({
      codes: ['local_failure', 'not_tried'],
      exitCode: 1,
      requests: [],
    });
  });

  test.each([
    [['upload', '-'], 1],
    [['upload', '--files-from', '-'], 1],
    [['graphql', '-'], 2],
    [['login', '--key-stdin', '--no-verify'], 2],
  ])('%s with a directory on standard input: said so, not taken for an empty file', async (words, status) => {
    const key = words[0] === 'login' ? '' : 'mk_some-key-for-tests';
    const box = await sandbox({MEDIA_BASE_URL: 'http://127.0.0.1:9', MEDIA_API_KEY: key});
    const line = `exec ${mediaInShell} "$@" < .`;
    const {stdout, stderr, exitCode} = await execa('sh', ['-c', line, 'sh', ...words], {
      cwd: box.directory,
      env: box.env,
      extendEnv: false,
      reject: false,
    });
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: status});
    expect(stderr).toMatch(/^media: Standard input could not be read.*: it is a directory\.$/m);
  });
});
