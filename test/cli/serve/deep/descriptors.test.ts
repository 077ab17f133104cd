import {expect, test} from 'vitest';
import {PageClient} from '../../../embedded/page-client.ts';
import {
  parseAnswer,
  png,
  query,
  type RawConnection,
  rawConnection,
  upload,
  uploadHead,
} from '../../../embedded/support.ts';
import {eventually} from '../../../support/eventually.ts';
import {serveWith} from '../../../support/few-descriptors.ts';

test.skipIf(process.platform === 'win32')(
  'media serve out of descriptors: 503 with an error record and nothing stored, and 200 once there are some again',
  async () => {
    const {service, key, records} = await serveWith(64);
    const first = await rawConnection(service);
    const image = png(3, 2);
    const uploadOver = async ({socket, text}: RawConnection) => {
      const before = text().length;
      socket.write(uploadHead(service, key, {'Content-Length': image.length}));
      socket.write(image);
      return eventually(() => parseAnswer(text().slice(before)));
    };
    expect((await uploadOver(first)).status).toBe(200);
    const idle = await Promise.all(
      Array.from({length: 80}, () => rawConnection(service).catch(() => undefined)),
    );
    // The system accepts more connections than the process can take on; it closes what is left over.
    await eventually(() => idle.some(connection => connection?.socket.readableEnded !== false));
    const {status, headers, body} = await uploadOver(first);
    expect({status, retryAfter: headers['retry-after']}).toEqual({status: 503, retryAfter: '1'});
    expect(JSON.parse(body)).toEqual({code: 503, message: 'There are too many open files.'});
    expect(await records()).toHaveLength(1);
    for (const connection of idle) connection?.socket.destroy();
    // Connections that come too soon are closed.
    await eventually(async () => (await upload(service, key, image).catch(() => undefined))?.status === 200);
    expect(await records()).toHaveLength(2);
  },
);

test.skipIf(process.platform === 'win32')(
  'media serve with 64 descriptors and 2,000 requests for a file sent ahead on a connection: others are served',
  async () => {
    const {service, key, records} = await serveWith(64);
    const image = Buffer.concat([png(3, 2), Buffer.alloc(4 * 1024 * 1024)]);
    const {id} = (await (await upload(service, key, image)).json()) as {id: string};
    const {socket, text} = await rawConnection(service);
    socket.write(`GET /files/${id} HTTP/1.1\r\nHost: ${new URL(service.url).host}\r\n\r\n`.repeat(2000));
    await eventually(() => text().startsWith('HTTP/1.1 200'));
    socket.pause();
    for (let count = 2; count <= 10; count += 1) {
      expect((await upload(service, key, png(3, 2))).status).toBe(200);
      expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
      expect(await records()).toHaveLength(count);
    }
  },
);

test.skipIf(process.platform === 'win32')(
  'media serve with 128 descriptors and queries for hundreds of values, each in a file: all of them, none null',
  async () => {
    const {service, key} = await serveWith(128);
    expect((await upload(service, key, png(3, 2))).status).toBe(200);
    const aliases = (field: string) =>
      Array.from({length: 700}, (_, index) => `a${index}: ${field}`).join(' ');
    for (const text of [
      `{viewer {apiKeys {${aliases('lastUsedAt')}}}}`,
      `{${aliases('viewer {name apiKeys {lastUsedAt}}')}}`,
      `{${aliases('mediaList(first: 1) {nodes {id}}')}}`,
    ]) {
      const {data, errors} = await query(service, key, text);
      expect(errors).toBeUndefined();
      expect(JSON.stringify(data)).not.toContain('null');
    }
  },
);

test.skipIf(process.platform === 'win32')(
  'media serve with 80 descriptors and a page of 60 media: a card for each of them, none called damaged',
  async () => {
    const {service, key, link} = await serveWith(80);
    for (let count = 0; count < 60; count += 1) await upload(service, key, png(3, 2));
    const client = new PageClient(service);
    await client.signIn(await eventually(link));
    const text = await client.textOf('/');
    expect(text.match(/<figure class="card">/g)).toHaveLength(60);
    expect(text.match(/damaged/g)).toBeNull();
  },
);

test.skipIf(process.platform === 'win32')(
  'media serve with too few descriptors for a query: an error that says so, and that another try may succeed',
  async () => {
    const {service, key} = await serveWith(64);
    for (let count = 0; count < 40; count += 1) await upload(service, key, png(3, 2));
    // The query uses a connection that is open.
    const {errors} = await eventually(async () => {
      await rawConnection(service);
      const answer = await query(service, key, '{mediaList(first: 40) {nodes {id}}}');
      return answer.errors === undefined ? undefined : answer;
    });
    expect(errors?.[0]).toMatchObject({
      message: 'There are too many open files.',
      extensions: {status: 503},
    });
  },
);
