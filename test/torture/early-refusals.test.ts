import {randomBytes} from 'node:crypto';
import {mkdir, writeFile} from 'node:fs/promises';
import {type AddressInfo, createServer} from 'node:net';
import {join} from 'node:path';
import {execa} from 'execa';
import {onTestFinished} from 'vitest';
import {sandboxFor} from '../service/program.ts';
import {whatIsMissing} from '../support/installed.ts';
import {experiment} from './experiment.ts';

/** A server that answers as soon as it has read the head of a request, and closes, as many do. */
async function refusingAtOnce(status: number) {
  const seen = {requests: 0};
  const record = '{"code":1,"message":"No."}';
  const answer = `HTTP/1.1 ${status} No\r\nContent-Type: application/json\r\nContent-Length: ${record.length}\r\nConnection: close\r\n\r\n${record}`;
  const server = createServer(socket => {
    let head = '';
    socket.on('error', () => {});
    socket.on('data', chunk => {
      head += chunk.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      seen.requests += 1;
      socket.removeAllListeners('data').pause();
      socket.write(answer, () => socket.destroy());
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
  });
  return {url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen};
}

/** A sandbox with so many files of 5 MiB in `files`. */
async function withLargeFiles(url: string, count: number) {
  const box = await sandboxFor(url);
  await mkdir(join(box.directory, 'files'));
  const bytes = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), randomBytes(5 * 1024 * 1024)]);
  const names = Array.from({length: count}, (_, index) => `files/${index}.png`);
  for (const name of names) await writeFile(join(box.directory, name), bytes);
  return {box, names};
}

experiment(
  'a 413 before the whole body, and a closed connection: seen as often as curl sees it',
  async ({scale}) => {
    const count = scale === 'long' ? 100 : 20;
    const {url} = await refusingAtOnce(413);
    const {box, names} = await withLargeFiles(url, count);
    const {stdout} = await box.run(['upload', ...names, '-c', '1', '--retries', '0', '--ndjson']);
    const ours = stdout.match(/"code":"rejected"/g)?.length ?? 0;
    let curls = 0;
    for (const name of names) {
      const command = [
        '-s',
        '-o',
        join(box.directory, 'answer'),
        '-w',
        '%{http_code}',
        '-H',
        'Expect:',
        '-T',
        name,
      ];
      const end = await execa('curl', [...command, '-X', 'POST', url], {cwd: box.directory, reject: false});
      if (end.stdout === '413') curls += 1;
    }
    const note = `seen ${ours} times, by curl ${curls} times`;
    const held = ours >= curls - count / 10;
    return {tried: 1, held: held ? 1 : 0, broken: held ? [] : [note], note: `${note}, of ${count}`};
  },
  whatIsMissing(['curl']),
);

experiment('a bad key and 30 files of 5 MiB: at most 10 attempts', async () => {
  const {url, seen} = await refusingAtOnce(401);
  const {box} = await withLargeFiles(url, 30);
  const {exitCode} = await box.run(['upload', '-r', 'files', '--format', 'id']);
  const held = exitCode === 4 && seen.requests <= 10;
  const note = `${seen.requests} attempts, exit status ${exitCode}`;
  return {tried: 1, held: held ? 1 : 0, broken: held ? [] : [note], note};
});
