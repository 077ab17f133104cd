import {mkdirSync, writeFileSync} from 'node:fs';
import {Readable} from 'node:stream';
import {MediaClient, uploadAll} from '../../../../dist/index.js';
import {begin, compared, tell} from '../census.js';
import {media} from '../program.js';

// Many files in one call of the library: what it holds in the middle of its work. Then the same files by `media upload`.
const {SERVICE: baseUrl, THINGS} = process.env;
const files = Number(THINGS);
const warmUp = 100;
mkdirSync('tmp');
mkdirSync('photos');
const paths = Array.from({length: warmUp + files + 1}, (_, index) => `photos/${index}.png`);
for (const path of paths) writeFileSync(path, `\x89PNG\r\n\x1a\n${path}`.padEnd(57), 'latin1');

const apiKey = 'key-of-the-test';
const client = new MediaClient({baseUrl, apiKey});
const {signal} = new AbortController();
const watched = {directories: ['.'], signals: [signal]};
const results = {};

async function upload(some) {
  const given = {client, signal, concurrency: 1, journal: 'a.journal'};
  for await (const {status} of uploadAll(some, given)) results[status] = (results[status] ?? 0) + 1;
}

let during;
async function* measured() {
  let begun;
  for (const [index, path] of paths.entries()) {
    if (index === warmUp) begun = await begin(watched);
    if (index === warmUp + files) during = await compared(begun, watched, files);
    yield path;
  }
}

Object.assign(process.env, {MEDIA_BASE_URL: baseUrl, MEDIA_API_KEY: apiKey});
const program = inputs => media(['upload', ...inputs, '--journal', 'b.journal', '--verify', 'warn']);
await upload(paths.slice(0, 20));
await program(paths.slice(0, 20));
const begun = await begin(watched);
await upload(measured());

results[`media upload: ${(await program(['-r', 'photos'])).status}`] = 1;
for (let number = 0; number < 20; number += 1) {
  const stdin = Readable.from([Buffer.from(`\x89PNG\r\n\x1a\nstream ${number}`.padEnd(57), 'latin1')]);
  const {status} = await media(['upload', '-', '--name', 'a.png'], {stdin});
  results[`stream: ${status}`] = (results[`stream: ${status}`] ?? 0) + 1;
}
const {more, objectsForEach} = await compared(begun, watched, 2 * files);
await client.close();
tell({
  more: {...during.more, ...more},
  objectsForEach: Math.max(during.objectsForEach, objectsForEach),
  results,
});
