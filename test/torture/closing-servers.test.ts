import {copyFile, mkdir} from 'node:fs/promises';
import {type AddressInfo, createServer, type Server, type Socket} from 'node:net';
import {join} from 'node:path';
import {onTestFinished} from 'vitest';
import {sandboxFor} from '../service/program.ts';
import {fixture} from '../support/media.ts';
import {someRecord} from '../support/scripted-server.ts';
import {experiment} from './experiment.ts';

/** A server that answers every request that comes whole, and then does this to the connection. */
async function server(version: string, field: string, close: (socket: Socket) => void): Promise<Server> {
  const server = createServer(socket => {
    let received = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', chunk => {
      received = Buffer.concat([received, chunk]);
      const end = received.indexOf('\r\n\r\n');
      const length = Number(
        /content-length: (\d+)/i.exec(received.toString('latin1', 0, Math.max(0, end)))?.[1],
      );
      if (end < 0 || received.length < end + 4 + length) return;
      received = received.subarray(end + 4 + length);
      socket.write(
        `HTTP/${version} 200 OK\r\nContent-Length: ${someRecord.length}\r\n${field}\r\n${someRecord}`,
        () => close(socket),
      );
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
  });
  return server;
}

const workers = 8;

const kinds: [string, string, string, (socket: Socket) => void][] = [
  ['closes without a word', '1.1', '', socket => socket.end()],
  ['resets', '1.1', '', socket => socket.resetAndDestroy()],
  ['closes after 1 ms', '1.1', '', socket => setTimeout(() => socket.end(), 1)],
  ['closes after 10 ms', '1.1', '', socket => setTimeout(() => socket.end(), 10)],
  ['resets after 5 ms', '1.1', '', socket => setTimeout(() => socket.resetAndDestroy(), 5)],
  ['speaks HTTP/1.0', '1.0', '', socket => socket.end()],
  ['says Connection: close', '1.1', 'Connection: close\r\n', socket => socket.end()],
];

for (const [kind, version, field, close] of kinds) {
  experiment(`a server that answers and ${kind}: at most as many unknown as workers`, async ({scale}) => {
    const count = scale === 'long' ? 400 : 120;
    const {port} = (await server(version, field, close)).address() as AddressInfo;
    const box = await sandboxFor(`http://127.0.0.1:${port}`);
    await mkdir(join(box.directory, 'files'));
    for (let index = 0; index < count; index += 1)
      await copyFile(fixture('favicon.ico'), join(box.directory, `files/${index}.ico`));
    const {stderr} = await box.run(['upload', '-r', 'files', '-c', String(workers), '--format', 'id']);
    const [, uploaded, unknown] = /(\d+) uploaded, 0 skipped, 0 failed, (\d+) unknown/.exec(stderr) ?? [];
    const isRight = Number(uploaded) + Number(unknown) === count && Number(unknown) <= workers;
    const broken = isRight ? [] : [stderr.slice(-300)];
    return {tried: count, held: isRight ? count : Number(uploaded ?? 0), broken, note: `${unknown} unknown`};
  });
}
