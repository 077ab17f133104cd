// What any upload by undici costs at least: undici-loop.js URL FILE
import {open} from 'node:fs/promises';
import {Client} from 'undici';

const [url, file] = process.argv.slice(2);
const handle = await open(file);
const {size} = await handle.stat();
const client = new Client(url);

async function* chunks() {
  const buffer = Buffer.allocUnsafe(256 * 1024);
  for (let position = 0; position < size; ) {
    const {bytesRead} = await handle.read(buffer, 0, buffer.length, position);
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

const {body} = await client.request({
  method: 'POST',
  path: '/v1/media/upload',
  headers: {'content-length': String(size)},
  body: chunks(),
});
await body.dump();
process.exit();
