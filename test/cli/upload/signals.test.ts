import {constants, readFileSync} from 'node:fs';
import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, test} from 'vitest';
import {sandboxFor} from '../../engine/service/program.ts';
import {mebibyte, sinkServer, unbufferable, writeSparsePng} from '../../engine/service/support.ts';
import {eventually} from '../../support/eventually.ts';
import {fixture, mediaCommand, temporaryDirectory} from '../../support/media.ts';
import {patienceMs} from '../../support/patience.ts';
import {type ScriptedConnection, scriptedServer, someRecord} from '../../support/scripted-server.ts';

const photo = fixture('photo.png');
const stopping = 'Stopping: waiting for responses to finished uploads.';
const ending = `${stopping} Press Ctrl-C again to quit now.\n`;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Waits until the process has taken every signal and gone back to sleep. */
async function untilTaken(pid: number | undefined): Promise<void> {
  let calm = 0;
  await eventually(() => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    calm = /^ShdPnd:\s*0+$/m.test(status) && /^State:\s*S/m.test(status) ? calm + 1 : 0;
    return calm > 5;
  });
}

/** Waits until no signal waits for the process, so that the next one is not merged with it. */
async function untilNonePending(pid: number | undefined): Promise<void> {
  await eventually(() => /^ShdPnd:\s*0+$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')), {pauseMs: 0});
}

/** Waits until the process has taken a signal, and so long that the next one does not count as its repetition. */
async function untilSecondCounts(pid: number | undefined): Promise<void> {
  await untilTaken(pid);
  await new Promise(resolve => setTimeout(resolve, 110));
}

/** An upload whose last byte has been sent and which waits for its answer. */
async function unanswered(parameters: string[] = []) {
  let connection: ScriptedConnection | undefined;
  const {url} = await scriptedServer(async arrived => {
    await arrived.request();
    connection = arrived;
  });
  const upload = (await sandboxFor(url)).start(['upload', ...parameters, photo]);
  return {upload, host: new URL(url).host, connection: await eventually(() => connection)};
}

describe.each(signals)('%s', signal => {
  test('while bytes are held back: the request is dropped, the last byte never sent', async () => {
    const path = await writeSparsePng(await temporaryDirectory(), 'big.png', unbufferable);
    const sink = await sinkServer({pauseAfter: mebibyte});
    const upload = (await sandboxFor(sink.url)).start(['upload', '-c', '1', path, photo]);
    await sink.paused;
    upload.kill(signal);
    const {stdout, stderr, signal: endedBy, exitCode} = await upload;
    sink.resume();
    await eventually(() => sink.requests.every(({closed}) => closed));
    expect(sink.requests).toHaveLength(1);
    expect(sink.requests[0]?.bodyBytes).toBeLessThan(unbufferable);
    expect({endedBy, exitCode}).toEqual({endedBy: signal, exitCode: undefined});
    expect(stderr).toContain(`The run was stopped by ${signal}.`);
    expect(stderr).toContain('0 uploaded, 0 skipped, 1 failed, 0 unknown');
    expect(stdout).not.toContain('m_1');
  });

  test('after the last byte: the response is waited for, its record printed, then it ends by the signal', async () => {
    const {upload, connection} = await unanswered(['--json', '--no-progress']);
    upload.kill(signal);
    await untilTaken(upload.pid);
    connection.answer(200, someRecord);
    const {stdout, stderr, signal: endedBy} = await upload;
    expect(stderr).toMatch(/^Stopping: waiting for responses to finished uploads\. .*\n$/);
    expect({stdout, endedBy}).toEqual({stdout: `${someRecord}\n`, endedBy: signal});
  });

  test('twice, after the last byte: ends at once by the signal', async () => {
    const {upload} = await unanswered();
    upload.kill(signal);
    await untilSecondCounts(upload.pid);
    upload.kill(signal);
    const {stdout, stderr, signal: endedBy} = await upload;
    // Nothing is said of the outcome, since the wait for the answer was cut short.
    expect({stdout, stderr, endedBy}).toEqual({
      stdout: '',
      stderr: signal === 'SIGINT' ? ending : `${stopping} Send the signal again to quit now.\n`,
      endedBy: signal,
    });
  });
});

test('SIGTERM to the program and at once to its group, as GNU timeout sends it: one signal, the record is printed', async () => {
  const {upload, connection} = await unanswered(['--json', '--no-progress']);
  for (let count = 0; count < 5; count += 1) {
    upload.kill('SIGTERM');
    await untilNonePending(upload.pid);
  }
  connection.answer(200, someRecord);
  const {stdout, signal} = await upload;
  expect({stdout, signal}).toEqual({stdout: `${someRecord}\n`, signal: 'SIGTERM'});
});

test('SIGINT twice: a file that has failed before is told', async () => {
  const {upload} = await unanswered(['gone.png', '--concurrency', '1']);
  upload.kill('SIGINT');
  await untilSecondCounts(upload.pid);
  upload.kill('SIGINT');
  const {stderr, signal} = await upload;
  expect(stderr).toContain('media: gone.png does not exist.\n');
  expect(signal).toBe('SIGINT');
});

test('SIGINT after the last byte, and no response within the grace: the outcome is unknown', async () => {
  const {upload, host} = await unanswered();
  upload.kill('SIGINT');
  const {stdout, stderr, signal} = await upload;
  expect({stdout, signal}).toEqual({stdout: '', signal: 'SIGINT'});
  expect(stderr.slice(ending.length)).toMatch(
    /^media: The run was stopped by SIGINT\. The whole file had been sent, so it may or may not be stored\.\n/,
  );
  expect(stderr).not.toContain(host);
});

test('SIGTERM while a retry is waited for: ends by it', async () => {
  let answers = 0;
  const {url} = await scriptedServer(async connection => {
    await connection.request();
    connection.answer(429, '', {'retry-after': '200'});
    answers += 1;
  });
  const upload = (await sandboxFor(url)).start(['upload', photo, '--verbose']);
  let told = '';
  upload.stderr?.on('data', text => {
    told += text;
  });
  await eventually(() => told.includes('Next try in 200000 ms.'));
  upload.kill('SIGTERM');
  const {signal, stderr} = await upload;
  expect({signal, answers}).toEqual({signal: 'SIGTERM', answers: 1});
  expect(stderr).toContain('received too many requests (429)');
});

describe('the pipes that the next program of a shell has too, after a signal', () => {
  /** For each of standard input, output and error: whether it is non-blocking, as that file about it says. */
  function areNonBlocking(fdinfo: (fd: number) => string): boolean[] {
    return [0, 1, 2].map(fd => {
      const [, octal = ''] = /^flags:\s*(\d+)$/m.exec(readFileSync(fdinfo(fd), 'latin1')) ?? [];
      return (Number.parseInt(octal, 8) & constants.O_NONBLOCK) !== 0;
    });
  }

  /** Starts `media` between two pipes, in a shell that looks at them then; `before` is a command of that shell. */
  async function inPipes(parameters: string[], url: string, before = ':') {
    const box = await sandboxFor(url);
    await mkdir(join(box.directory, 'fdinfo'));
    const media = `sh -c 'echo $$ >&2; exec "$@"' sh "$@"`;
    const look = 'cp /proc/self/fdinfo/0 /proc/self/fdinfo/1 /proc/self/fdinfo/2 fdinfo';
    const script = `cat | { ${before}; ${media}; ${look}; } 2>&1 | cat`;
    const {directory: cwd, env} = box;
    const options = {cwd, env, extendEnv: false, timeout: patienceMs, killSignal: 'SIGKILL'} as const;
    const shell = execa('sh', ['-c', script, 'sh', ...mediaCommand, ...parameters], options);
    shell.stdin.write(`${photo}\n`);
    let output = '';
    shell.stdout.on('data', chunk => {
      output += chunk;
    });
    const pid = Number(await eventually(() => /(\d+)\n/.exec(output)?.[1]));
    return {
      pid,
      /** Resolves once it has opened a pipe and printed the text. */
      hasPrinted: (text: string) =>
        eventually(
          () => output.includes(text) && areNonBlocking(fd => `/proc/${pid}/fdinfo/${fd}`).includes(true),
        ),
      async left() {
        // What feeds the pipe sees that nobody reads it any more.
        shell.stdin.end('\n');
        await shell;
        return areNonBlocking(fd => join(box.directory, 'fdinfo', String(fd)));
      },
    };
  }

  /** An upload that has read its standard input, and written to standard error, and waits for a response. */
  async function uploading(before?: string) {
    let isAwaited = false;
    const {url} = await scriptedServer(async connection => {
      await connection.request();
      isAwaited = true;
    });
    const upload = await inPipes(['upload', '--files-from', '-', '--verbose'], url, before);
    await eventually(() => isAwaited);
    return upload;
  }

  /** Sends the signal twice, so that the run is abandoned. */
  async function abandoned(upload: Awaited<ReturnType<typeof inPipes>>, signal: NodeJS.Signals) {
    process.kill(upload.pid, signal);
    await untilTaken(upload.pid);
    process.kill(upload.pid, signal);
    return upload.left();
  }

  describe.each(signals)('%s', signal => {
    test.each([
      ['serve', ['serve', '--port', '0'], 'open http'],
      ['watch', ['watch', '.'], 'Watching'],
      ['graphql, which does not wait for signals', ['graphql', '--input', '-'], ''],
    ])('%s: blocking', async (_name, parameters, text) => {
      const run = await inPipes(parameters, 'http://127.0.0.1:9');
      await run.hasPrinted(text);
      process.kill(run.pid, signal);
      expect(await run.left()).toEqual([false, false, false]);
    });

    test('an upload that is abandoned: blocking', async () => {
      expect(await abandoned(await uploading(), signal)).toEqual([false, false, false]);
    });
  });

  test('they were non-blocking before: they still are', async () => {
    const opener = `new (require('net').Socket)({fd: 1}); process.kill(process.pid, 'SIGKILL')`;
    const before = `'${process.execPath}' -e "${opener}"`;
    expect(await abandoned(await uploading(before), 'SIGTERM')).toEqual([false, true, true]);
  });
});
