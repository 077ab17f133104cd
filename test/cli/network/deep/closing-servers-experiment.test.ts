import {copyFile, mkdir} from 'node:fs/promises';
import {type AddressInfo, createServer, type Server, type Socket} from 'node:net';
import {join} from 'node:path';
import {onTestFinished} from 'vitest';
import {sandboxFor} from '../../../engine/service/program.ts';
import {experiment, onlyLong} from '../../../support/experiment/experiment.ts';
import {pause} from '../../../support/experiment/fault-proxy.ts';
import {KeepingServer} from '../../../support/experiment/keeping-server.ts';
import {missingPeer, startPeer} from '../../../support/experiment/peers.ts';
import {concurrently} from '../../../support/experiment/tally.ts';
import {whatIsMissing} from '../../../support/installed.ts';
import {fixture, type Sandbox} from '../../../support/media.ts';
import {slowTest} from '../../../support/patience.ts';
import {someRecord} from '../../../support/scripted-server.ts';
import {startGo} from './early-servers.ts';

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
  ['closes after 100 ms', '1.1', '', socket => setTimeout(() => socket.end(), 100)],
  ['resets after 5 ms', '1.1', '', socket => setTimeout(() => socket.resetAndDestroy(), 5)],
  ['speaks HTTP/1.0', '1.0', '', socket => socket.end()],
  ['says Connection: close', '1.1', 'Connection: close\r\n', socket => socket.end()],
];

/** A sandbox with so many files in `files`. */
async function withFiles(url: string, count: number): Promise<Sandbox> {
  const box = await sandboxFor(url);
  await mkdir(join(box.directory, 'files'));
  for (let index = 1; index <= count; index += 1)
    await copyFile(fixture('favicon.ico'), join(box.directory, `files/${index}.ico`));
  return box;
}

/** Uploads so many files; expects that at most as many are unknown as are sent at a time, and none has failed. */
async function uploadTo(url: string, count: number) {
  const box = await withFiles(url, count);
  const {stderr} = await box.run(['upload', '-r', 'files', '-c', String(workers), '--template', '{id}\\n']);
  // Progress, if it took long, has the same form.
  const summary = stderr.trimEnd().split('\n').at(-1) ?? '';
  const [, uploaded, unknown] = /^(\d+) uploaded, 0 skipped, 0 failed, (\d+) unknown$/.exec(summary) ?? [];
  const isRight = Number(uploaded) + Number(unknown) === count && Number(unknown) <= workers;
  const broken = isRight ? [] : [stderr.slice(-300)];
  return {tried: count, held: isRight ? count : Number(uploaded ?? 0), broken, note: `${unknown} unknown`};
}

for (const [kind, version, field, close] of kinds) {
  experiment(`a server that answers and ${kind}: at most as many unknown as workers`, async ({scale}) => {
    const {port} = (await server(version, field, close)).address() as AddressInfo;
    return uploadTo(`http://127.0.0.1:${port}`, scale === 'long' ? 400 : 60);
  });
}

for (const name of ['nginx that closes', 'Apache that closes'] as const) {
  experiment(
    `${name} connections after 1 s or 3 requests: at most as many unknown as workers`,
    async ({scale}) => {
      const keeping = await KeepingServer.start();
      const {plainUrl} = await startPeer(name, keeping.url);
      return uploadTo(plainUrl, scale === 'long' ? 400 : 60);
    },
    missingPeer(name) ?? (name === 'Apache that closes' ? onlyLong() : undefined),
  );
}

/** Uploads files one after the other, each about so long after the answer to the last; how many were uploaded. */
async function withGaps(url: string, count: number, gapMs: () => number): Promise<number> {
  const box = await withFiles(url, count);
  const upload = box.start(['upload', '-c', '1', '--files-from', '-', '--ndjson'], {
    stdin: 'pipe',
    ...slowTest,
  });
  let [uploaded, fed, done] = [0, 0, 0];
  const feed = () => {
    fed += 1;
    if (fed <= count) upload.stdin?.write(`files/${fed}.ico\n`);
    else upload.stdin?.end();
  };
  // It begins when it knows whether there are several.
  feed();
  feed();
  for await (const line of upload) {
    if (JSON.parse(line as string).status === 'uploaded') uploaded += 1;
    done += 1;
    if (done < 2) continue;
    if (done < count) await pause(gapMs());
    feed();
  }
  return uploaded;
}

experiment(
  'a server in Go that closes what has been idle for 1 s, and files 1 s apart: none is unknown',
  async ({random}) => {
    const url = await startGo(200);
    const [streams, each] = [8, 30];
    let held = 0;
    await concurrently(Array(streams).keys(), streams, async () => {
      const uploaded = await withGaps(url, each, () => 985 + 18 * random());
      held += uploaded;
    });
    return {tried: streams * each, held};
  },
  whatIsMissing(['go']) ?? onlyLong(),
);
