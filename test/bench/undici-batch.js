// What any upload of many small files by undici costs at least, with none of our care: undici-batch.js URL DIRECTORY CONCURRENCY
import {readdirSync} from 'node:fs';
import {open} from 'node:fs/promises';
import {join} from 'node:path';
import {Client} from 'undici';

const [url, directory, concurrency] = process.argv.slice(2);
const names = readdirSync(directory, {recursive: true}).filter(name => name.endsWith('.gif'));

async function bytesOf(name) {
  const handle = await open(join(directory, name));
  const {size} = await handle.stat();
  const bytes = Buffer.allocUnsafe(size);
  await handle.read(bytes, 0, size, 0);
  await handle.close();
  return bytes;
}

async function work() {
  const client = new Client(url);
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    const bytes = await bytesOf(name);
    const {body} = await client.request({
      method: 'POST',
      path: '/v1/media/upload',
      headers: {'content-type': 'image/gif', 'content-length': String(bytes.length)},
      body: bytes,
    });
    process.stdout.write(`${JSON.stringify(await body.json())}\n`);
  }
}

await Promise.all(Array.from({length: Number(concurrency)}, work));
process.exit();
