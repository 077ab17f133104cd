import {once} from 'node:events';
import {mkdir} from 'node:fs/promises';
import {type AddressInfo, createServer, type Socket} from 'node:net';
import {join} from 'node:path';
import {onTestFinished} from 'vitest';
import {sandboxFor} from '../../engine/service/program.ts';
import {writePng} from '../../engine/service/support.ts';
import {experiment} from '../../support/experiment/experiment.ts';

const page = '<title>Log in</title>';
const texts = [
  '',
  'SSH-2.0-OpenSSH_9.6\r\n',
  '220 mail.example ESMTP\r\n',
  'HTTP/1.1 200 OK\r\n\r\n',
  `HTTP/1.1 200 OK\r\n\r\n${page}`,
  `HTTP/1.1 200 OK\r\nContent-Length: ${page.length}\r\n\r\n${page}`,
  'HTTP/1.1 302 Found\r\nLocation: http://portal.example/\r\n\r\n',
  'HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n',
  '\x15\x03\x01\x00\x02\x02\x28',
  '\0'.repeat(70_000),
];

/** Says one of these texts, cut somewhere, at once or when it is spoken to, and closes, resets or stays. */
function peerOf(random: () => number): (socket: Socket) => void {
  const text = texts[Math.floor(random() * texts.length)] ?? '';
  const cut = random() < 0.3 ? Math.floor(random() * text.length) : text.length;
  const end = Math.floor(random() * 3);
  const speak = (socket: Socket) => {
    socket.write(text.slice(0, cut), 'latin1');
    socket.write(text.slice(cut), 'latin1', () => {
      if (end === 0) socket.end();
      if (end === 1) socket.resetAndDestroy();
    });
  };
  return random() < 0.5 ? speak : socket => void socket.once('data', () => speak(socket));
}

experiment(
  'peers that speak first, close at once or send garbage: no try opens more than one connection',
  async ({scale, random}) => {
    const count = scale === 'long' ? 300 : 4;
    const files = 5;
    const broken: string[] = [];
    for (let trial = 0; trial < count; trial += 1) {
      let connections = 0;
      const treat = peerOf(random);
      const server = createServer(socket => {
        connections += 1;
        treat(socket.on('error', () => {}));
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      onTestFinished(() => {
        server.close();
      });
      const {port} = server.address() as AddressInfo;
      const scheme = random() < 0.5 ? 'http' : 'https';
      const isProxy = random() < 0.5;
      const base = isProxy ? `${scheme}://media.invalid` : `${scheme}://127.0.0.1:${port}`;
      const box = await sandboxFor(base, {ALL_PROXY: `http://127.0.0.1:${port}`});
      await mkdir(join(box.directory, 'files'));
      for (let index = 0; index < files; index += 1)
        await writePng(join(box.directory, 'files'), `${index}.png`, index % 2 === 0 ? 99 : 200_000);
      const limits = ['--retries', '0', '--timeout', '1s', '--deadline', '3s'];
      const {exitCode} = await box.run(['upload', '-r', 'files', '--allow-http', ...limits, '-c', '2']);
      // Probes look whether the service is back: two requests each, of which only a few fit into the time.
      if (connections > files + 12 || exitCode === 0 || exitCode === 7)
        broken.push(`${base}${isProxy ? ' by a proxy' : ''}: ${connections} connections, exit ${exitCode}`);
    }
    return {tried: count, held: count - broken.length, broken};
  },
);
