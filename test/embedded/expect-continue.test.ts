import {expect, test} from 'vitest';
import {eventually} from '../support/eventually.ts';
import {parseAnswer, png, rawConnection, serviceWithKey, uploadHead} from './support.ts';

const bytes = png(4, 4);
const waiting = {Expect: '100-continue', 'Content-Length': bytes.length};
const continued = 'HTTP/1.1 100 Continue\r\n\r\n';

test('Expect: 100-continue with a good head: 100, then the body, then 200', async () => {
  const {service, key} = await serviceWithKey();
  const {socket, text} = await rawConnection(service);
  socket.write(uploadHead(service, key, waiting));
  await eventually(() => text() === continued);
  socket.write(bytes);
  expect((await eventually(() => parseAnswer(text().slice(continued.length)))).status).toBe(200);
  expect(await service.records()).toHaveLength(1);
});

for (const [status, fields] of [
  [401, {Authorization: 'Bearer mk_unknown'}],
  [403, {Authorization: 'Basic x'}],
  [415, {'Content-Type': 'text/plain'}],
  [400, {'Idempotency-Key': 'unquoted'}],
] as const) {
  test(`Expect: 100-continue with a head that leads to ${status}: the response without a 100`, async () => {
    const {service, key} = await serviceWithKey();
    const {socket, ended} = await rawConnection(service);
    socket.write(uploadHead(service, key, {...waiting, ...fields}));
    const text = await ended();
    expect(text).not.toContain('100 Continue');
    expect(parseAnswer(text)?.status).toBe(status);
  });
}

test('another expectation: ignored', async () => {
  const {service, key} = await serviceWithKey();
  const {socket, text} = await rawConnection(service);
  socket.write(uploadHead(service, key, {...waiting, Expect: 'a-miracle'}));
  socket.write(bytes);
  await eventually(() => text().includes('HTTP/1.1 200 OK'));
  expect(await service.records()).toHaveLength(1);
});
