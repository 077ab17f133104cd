import {constants, readFileSync} from 'node:fs';
import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect, test} from 'vitest';
import {sandboxFor} from '../../engine/service/program.ts';
import {eventually} from '../../support/eventually.ts';
import {fixture, mediaCommand} from '../../support/media.ts';
import {patienceMs} from '../../support/patience.ts';
import {scriptedServer} from '../../support/scripted-server.ts';
import {untilTaken} from './stopped-uploads.ts';

const photo = fixture('photo.png');

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
export async function uploading(before?: string) {
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
export async function abandoned(upload: Awaited<ReturnType<typeof inPipes>>, signal: NodeJS.Signals) {
  process.kill(upload.pid, signal);
  await untilTaken(upload.pid);
  process.kill(upload.pid, signal);
  return upload.left();
}

/** Declares the tests that each command leaves its pipes blocking when this signal ends it. */
export function leavesPipesBlocking(signal: NodeJS.Signals): void {
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
}
