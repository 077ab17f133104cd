import {readFile} from 'node:fs/promises';
import {createServer, type Socket} from 'node:net';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {sandboxFor} from '../../../engine/service/program.ts';
import {writeSparsePng} from '../../../engine/service/support.ts';
import {listen, urlOf} from '../../../support/loopback.ts';

/** A server that does this with each connection when the head of a request has come; it reads nothing more. */
async function serverThat(act: (socket: Socket) => void): Promise<string> {
  const server = createServer(socket => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.pause();
      act(socket);
    });
  });
  await listen(server);
  return urlOf(server);
}

test.each([
  ['the connection ends', (socket: Socket) => void socket.end()],
  ['the connection is reset', (socket: Socket) => void socket.resetAndDestroy()],
  [
    'the request is refused, and the rest of it not read',
    (socket: Socket) => void socket.write('HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n'),
  ],
])('%s before the last bytes: the journal has it as failed, not as unknown', async (_how, act) => {
  const box = await sandboxFor(await serverThat(act));
  // More than the buffers of both sockets hold, however late the server is.
  await writeSparsePng(box.directory, 'a.png', 32 * 2 ** 20);
  const {exitCode, stderr} = await box.run(['upload', 'a.png', '--journal', 'j', '--retries', '0']);
  expect(exitCode, stderr).toBe(1);
  const events = (await readFile(join(box.directory, 'j'), 'utf8')).trimEnd().split('\n').slice(1);
  const ofFile = events.map(line => JSON.parse(line)).filter(({idempotencyKey}) => idempotencyKey);
  expect(ofFile.at(-1)?.event).toBe('failed');
  const {stdout} = await box.run(['journal', 'list', '--json', 'j']);
  expect(JSON.parse(stdout).status).toBe('failed');
});
