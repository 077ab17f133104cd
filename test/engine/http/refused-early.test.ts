import {expect, onTestFinished, test} from 'vitest';
import {type Body, Connection} from '../../../src/engine/http/http.ts';
import {systemHost} from '../../../src/host.ts';
import {threadedServer} from '../../support/threaded-server.ts';

/** Writes a refusal to the socket. */
const answerIn = `socket.write('HTTP/1.1 401 No\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\nNo')`;

const large = new Uint8Array(256 * 1024);

test.each<[string, string, Body['content'], number]>([
  [
    'of which most was sent',
    `socket => socket.once('data', () => {
      socket.pause();
      allowed(0);
      ${answerIn};
      // Most of the body is unread, so this resets the connection.
      socket.destroy();
      done(1);
    })`,
    async function* () {
      yield large;
      yield new Uint8Array(1);
    },
    large.length + 1,
  ],
  [
    'that is sent with the head',
    `socket => {
      allowed(0);
      ${answerIn};
      socket.resetAndDestroy();
      done(1);
    }`,
    Buffer.from('body'),
    4,
  ],
])(
  'a body %s, whose response comes with a reset, between the check for it and the last write: it is read',
  async (_, listener, content, length) => {
    const {port, allow, waitFor} = await threadedServer(listener);
    const {clock} = systemHost();
    const connection = new Connection(new URL(`http://127.0.0.1:${port}`), {
      clock,
      env: {},
      headers: {'user-agent': 'test'},
    });
    onTestFinished(() => connection.destroy());
    const answer = await connection.request({
      method: 'POST',
      path: '/',
      headers: {},
      body: {
        length,
        content,
        // The server answers and resets while this blocks, so that the last write is the first to find the connection reset.
        release() {
          allow(0);
          waitFor(1);
        },
      },
    });
    expect({...answer, body: answer.body.toString()}).toMatchObject({status: 401, body: 'No', cut: false});
  },
);
