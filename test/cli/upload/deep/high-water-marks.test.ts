import {readFile} from 'node:fs/promises';
import {createServer} from 'node:http';
import {createServer as createTlsServer} from 'node:https';
import {setTimeout as delay} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {describe, expect, test} from 'vitest';
import {sandboxFor} from '../../../engine/service/program.ts';
import {mebibyte, writePng} from '../../../engine/service/support.ts';
import {listen, portOf} from '../../../support/loopback.ts';
import {needNode, temporaryDirectory} from '../../../support/media.ts';
import {readingRequests} from '../../../support/read-requests.ts';
import {someRecord} from '../../../support/scripted-server.ts';
import {loopbackNames, makeCertificate, pemFile} from '../../../support/tls.ts';

const preload = fileURLToPath(new URL('../../../support/high-water-mark.cjs', import.meta.url));

/** A service that reads slowly, so that what is sent waits in the sender's socket; `stored` is what it got. */
async function slowReader(scheme: 'http' | 'https') {
  const bodies: Buffer[] = [];
  const take = readingRequests(async (request, response) => {
    const chunks: Buffer[] = [];
    // The sender fills all buffers first.
    await delay(300);
    for await (const chunk of request) {
      chunks.push(chunk as Buffer);
      if (chunks.length % 8 === 0) await delay(1);
    }
    bodies.push(Buffer.concat(chunks));
    response.end(someRecord);
  });
  const {certificate, key} = await makeCertificate(loopbackNames);
  const server = scheme === 'http' ? createServer(take) : createTlsServer({cert: certificate, key}, take);
  await listen(server);
  return {
    url: `${scheme}://127.0.0.1:${portOf(server)}`,
    authority: await pemFile(certificate),
    bodies,
  };
}

// A socket that takes more than one chunk at a time still holds the memory of the first when it is asked for the next.
describe.each(['http', 'https'] as const)('a slow reader over %s', scheme => {
  test.for([
    ['16 KiB', 16 * 1024],
    ['16 MiB', 16 * mebibyte],
  ] as const)(
    'sockets with a high-water mark of %s: the bytes that arrive are those of the file',
    async ([, mark], context) => {
      needNode(context);
      const {url, authority, bodies} = await slowReader(scheme);
      const file = await writePng(await temporaryDirectory(), 'big.png', 24 * mebibyte);
      const box = await sandboxFor(url, {NODE_OPTIONS: `--require ${preload}`, SOCKET_MARK: String(mark)});
      const parameters = scheme === 'http' ? [] : ['--cacert', authority];
      const {stdout, stderr, exitCode} = await box.run([
        'upload',
        file,
        '--template',
        '{id}\\n',
        ...parameters,
      ]);
      expect({stdout, stderr, exitCode}).toEqual({stdout: 'm_1\n', stderr: '', exitCode: 0});
      expect(bodies.map(body => body.length)).toEqual([24 * mebibyte]);
      expect(bodies[0]?.equals(await readFile(file))).toBe(true);
    },
  );
});
