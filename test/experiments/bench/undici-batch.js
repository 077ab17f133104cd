// What any upload of many small files by undici costs at least, with none of our care: undici-batch.js URL DIRECTORY CONCURRENCY [JOURNAL].
// It calls `dispatch`, the cheapest way that undici has, and reads each file by three calls that block.
// With a journal, a line with the file's hash is durable before the file is sent, and another with the record once it is answered.
import {createHash} from 'node:crypto';
import {closeSync, fdatasync, fstatSync, openSync, readdirSync, readSync, writeSync} from 'node:fs';
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

function bytesOf(name) {
  const descriptor = openSync(join(directory, name));
  const {size} = fstatSync(descriptor);
  const bytes = Buffer.allocUnsafe(size);
  readSync(descriptor, bytes, 0, size, 0);
  closeSync(descriptor);
  return bytes;
}

/** Resolves to the text of a response. */
function send(client, bytes) {
  return new Promise((resolve, reject) => {
    let text = '';
    client.dispatch(
      {
        method: 'POST',
        path: '/v1/media/upload',
        headers: ['content-type', 'image/gif', 'content-length', String(bytes.length)],
        body: bytes,
      },
      {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData: (_controller, chunk) => {
          text += chunk;
        },
        onResponseEnd: () => resolve(text),
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });
}

async function work() {
  const client = new Client(url);
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    const bytes = bytesOf(name);
    if (journal !== undefined)
      await durable({name, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex')});
    const record = JSON.parse(await send(client, bytes));
    const print = () => process.stdout.write(`${JSON.stringify(record)}\n`);
    if (journal === undefined) print();
    else void durable({name, record}).then(print);
  }
}

await Promise.all(Array.from({length: Number(concurrency)}, work));
if (journal !== undefined) await durable({end: true});
process.exit();
