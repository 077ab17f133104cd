import {createServer} from 'node:http';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {listen, portOf} from '../../support/loopback.ts';
import {temporaryDirectory} from '../../support/media.ts';
import {patienceMs, slowTest} from '../../support/patience.ts';
import {someRecord} from '../../support/scripted-server.ts';

/** What a process holds after its work. */
export interface Leaks {
  /** What it holds more of than before, each with the count before and after. */
  more: Record<string, [before: number, after: number]>;
  /** How many objects there are more than before, for each file, call, batch, journal or page. */
  objectsForEach: number;
  /** How many results there were of each kind. */
  results: Record<string, number>;
}

const refusals: Record<string, number> = {'image/gif': 422, 'text/plain': 415};

/**
 * Runs a program that uses the built package `things` times in a process of its own, next to a service that stores everything but
 * GIF pictures, which it refuses, and WebP pictures, at which it resets the connection.
 */
export async function leaksOf(program: URL, things: number): Promise<Leaks> {
  const directory = await temporaryDirectory();
  const server = createServer((request, response) => {
    if (request.headers['content-type'] === 'image/webp') request.socket.resetAndDestroy();
    const refusal = refusals[request.headers['content-type'] ?? ''];
    const respond = () => {
      response.writeHead(refusal ?? 200, {'Content-Type': 'application/json'});
      response.end(refusal === undefined ? someRecord : `{"code":${refusal},"message":"Not this type."}`);
    };
    // The check of the upload path sends no body.
    if (refusal === 415) respond();
    else request.resume().on('end', respond);
  });
  await listen(server);
  const {stdout} = await execa(process.execPath, [fileURLToPath(program)], {
    cwd: directory,
    env: {
      SERVICE: `http://127.0.0.1:${portOf(server)}`,
      THINGS: String(things),
      PATIENCE: String(patienceMs),
      HOME: directory,
      TMPDIR: `${directory}/tmp`,
    },
    extendEnv: false,
    timeout: slowTest.timeout,
    killSignal: 'SIGKILL',
  });
  return JSON.parse(stdout);
}
