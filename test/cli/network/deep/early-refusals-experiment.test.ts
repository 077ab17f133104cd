import {randomBytes} from 'node:crypto';
import {mkdir, writeFile} from 'node:fs/promises';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {execa} from 'execa';
import {sandboxFor} from '../../../engine/service/program.ts';
import {experiment, onlyLong} from '../../../support/experiment/experiment.ts';
import {whatIsMissing} from '../../../support/installed.ts';
import {listen, urlOf} from '../../../support/loopback.ts';
import type {Sandbox} from '../../../support/media.ts';
import {type EarlyServer, earlyServers} from './early-servers.ts';

/** Answers as soon as it has read the head of a request, and resets the connection: less polite than any other here. */
const abrupt: EarlyServer = {
  name: 'a server that resets at once',
  missing: undefined,
  async start(status) {
    const record = '{"code":1,"message":"No."}';
    const answer = `HTTP/1.1 ${status} No\r\nContent-Type: application/json\r\nContent-Length: ${record.length}\r\nConnection: close\r\n\r\n${record}`;
    const server = createServer(socket => {
      let head = '';
      socket.on('error', () => {});
      socket.on('data', chunk => {
        head += chunk.toString('latin1');
        if (!head.includes('\r\n\r\n')) return;
        socket.removeAllListeners('data').pause();
        socket.write(answer, () => socket.destroy());
      });
    });
    await listen(server);
    return urlOf(server);
  },
};

const servers = [abrupt, ...earlyServers];

/** A sandbox with so many files of 5 MiB in `files`. */
async function withLargeFiles(url: string, count: number) {
  const box = await sandboxFor(url);
  await mkdir(join(box.directory, 'files'));
  const bytes = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), randomBytes(5 * 1024 * 1024)]);
  const names = Array.from({length: count}, (_, index) => `files/${index}.png`);
  for (const name of names) await writeFile(join(box.directory, name), bytes);
  return {box, names};
}

/** How often each of these files is seen to be refused with this status: by us, and by curl. */
async function seen(box: Sandbox, url: string, names: string[], status: number) {
  let [ours, curls] = [0, 0];
  for (const name of names) {
    // One by one: the first 401 would end a batch.
    const {stderr} = await box.run(['upload', name, '--retries', '0', '--json']);
    if (stderr.includes(`"status":${status}`)) ours += 1;
    const shown = ['-s', '-o', join(box.directory, 'answer'), '-w', '%{http_code}'];
    const sent = ['-H', 'Expect:', '-H', 'Content-Type: image/png', '-T', name, '-X', 'POST'];
    const {stdout} = await execa('curl', [...shown, ...sent, `${url}/v1/media/upload`], {
      cwd: box.directory,
      reject: false,
    });
    if (stdout === String(status)) curls += 1;
  }
  return {ours, curls};
}

for (const {name, missing, start} of servers) {
  experiment(
    `${name} answers 401 or 413 before it has the body, and closes: seen as often as by curl`,
    async () => {
      const count = 50;
      const broken: string[] = [];
      const notes: string[] = [];
      for (const status of [401, 413]) {
        const url = await start(status);
        const {box, names} = await withLargeFiles(url, count);
        const {ours, curls} = await seen(box, url, names, status);
        notes.push(`${status}: ${ours} times, by curl ${curls}`);
        if (ours < curls - count / 10) broken.push(`${status}: ${ours} times, by curl ${curls}, of ${count}`);
      }
      return {tried: 2 * count, held: 2 * count - broken.length, broken, note: notes.join('; ')};
    },
    missing ?? whatIsMissing(['curl']) ?? onlyLong(),
  );

  experiment(
    `${name}, a bad key and 30 files of 5 MiB: at most 16 attempts`,
    async () => {
      const {box, names} = await withLargeFiles(await start(401), 30);
      const {stdout, exitCode} = await box.run(['upload', ...names, '--ndjson']);
      const lines = stdout.trimEnd().split('\n');
      const attempts = lines.reduce((sum, line) => sum + JSON.parse(line).attempts, 0);
      // 8 are begun, and as many again if those are reset before the first response is read, since a file that waits to be
      // tried again makes room.
      const held = exitCode === 4 && attempts <= 16;
      const note = `${attempts} attempts, exit status ${exitCode}`;
      return {tried: 1, held: held ? 1 : 0, broken: held ? [] : [note], note};
    },
    missing ?? (name === abrupt.name ? undefined : onlyLong()),
  );
}
