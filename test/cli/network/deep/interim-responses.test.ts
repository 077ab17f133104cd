import {expect, test} from 'vitest';
import {sandboxFor} from '../../../engine/service/program.ts';
import {writeSparsePng} from '../../../engine/service/support.ts';
import {fixture, temporaryDirectory} from '../../../support/media.ts';
import {type ScriptedConnection, scriptedServer, someRecord} from '../../../support/scripted-server.ts';

const goOn = 'HTTP/1.1 100 Continue\r\n\r\n';
const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';

/** Sends these as soon as the head of a request has come, one after the other, and the record when all of it has. */
async function interim(connection: ScriptedConnection, ...texts: string[]): Promise<void> {
  await connection.request(0);
  for (const text of texts) {
    connection.socket.write(text);
    await new Promise(resolve => setImmediate(resolve));
  }
  await connection.request();
  connection.answer(200, someRecord);
}

test.each<[string, string[]]>([
  ['once', [goOn]],
  ['twice', [goOn + goOn]],
  ['with fields, in HTTP/1.0', ['HTTP/1.0 100 Go on\r\nServer: old\r\n\r\n']],
  ['byte by byte', [...goOn]],
  ['before and after 103 Early Hints', [goOn + hints, goOn]],
  ['after 103 Early Hints, byte by byte', [...hints, ...goOn]],
])(
  '100 Continue %s, which nobody asked for: a small file and one of 3 MB are uploaded at once',
  async (_, texts) => {
    const {url, requests} = await scriptedServer(connection => interim(connection, ...texts));
    const box = await sandboxFor(url);
    const large = await writeSparsePng(await temporaryDirectory(), 'large.png', 3_000_000);
    for (const file of [fixture('photo.png'), large]) {
      const {stdout, stderr, exitCode} = await box.run([
        'upload',
        file,
        '--template',
        '{id}\\n',
        '--retries',
        '0',
      ]);
      expect({stdout, stderr, exitCode}).toEqual({stdout: 'm_1\n', stderr: '', exitCode: 0});
    }
    expect(requests.map(({body}) => body.length)).toEqual([13_582, 3_000_000]);
  },
);

test('100 Continue and then nothing: unknown, as without it', async () => {
  const {url} = await scriptedServer(async connection => {
    await connection.request();
    connection.socket.end(goOn);
  });
  const {exitCode} = await (await sandboxFor(url)).run(['upload', fixture('photo.png'), '--retries', '3']);
  expect(exitCode).toBe(5);
});
