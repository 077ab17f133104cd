// What any upload of many small files by undici costs at least, with none of our care: undici-batch.js URL DIRECTORY CONCURRENCY [JOURNAL].
// With a journal, a line with the file's hash is durable before the file is sent, and another with the record once it is answered.
import {createHash} from 'node:crypto';
import {fdatasync, openSync, readdirSync, writeSync} from 'node:fs';
import {open} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {Client} from 'undici';

const [url, directory, concurrency, path] = process.argv.slice(2);
const names = readdirSync(directory, {recursive: true}).filter(name => name.endsWith('.gif'));
const journal = path && openSync(path, 'a');
const sync = promisify(fdatasync);
let lines = '';
let waiting = [];
let isSyncing = false;

/** Resolves when a line is durable; those of a turn, and those that come during a sync, share the next one. */
function durable(line) {
  lines += `${JSON.stringify(line)}\n`;
  if (!isSyncing) void syncAll();
  return new Promise(resolve => waiting.push(resolve));
}

async function syncAll() {
  isSyncing = true;
  do {
    await new Promise(setImmediate);
    const [group, text] = [waiting, lines];
    [waiting, lines] = [[], ''];
    writeSync(journal, text);
    await sync(journal);
    for (const resolve of group) resolve();
  } while (waiting.length > 0);
  isSyncing = false;
}

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
    if (journal !== undefined)
      await durable({name, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex')});
    const {body} = await client.request({
      method: 'POST',
      path: '/v1/media/upload',
      headers: {'content-type': 'image/gif', 'content-length': String(bytes.length)},
      body: bytes,
    });
    const record = await body.json();
    const print = () => process.stdout.write(`${JSON.stringify(record)}\n`);
    if (journal === undefined) print();
    else void durable({name, record}).then(print);
  }
}

await Promise.all(Array.from({length: Number(concurrency)}, work));
if (journal !== undefined) await durable({end: true});
process.exit();
