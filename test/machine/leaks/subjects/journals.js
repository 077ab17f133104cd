import {mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import {MediaClient, uploadAll} from '../../../../dist/index.js';
import {leftBy, tell} from '../census.js';
import {media} from '../program.js';

// Journals that are refused, by the library and by the commands.
const {SERVICE: baseUrl, THINGS} = process.env;
Object.assign(process.env, {MEDIA_BASE_URL: baseUrl, MEDIA_API_KEY: 'key-of-the-test'});
mkdirSync('tmp');
writeFileSync('a.png', '\x89PNG\r\n\x1a\na'.padEnd(57), 'latin1');

const client = new MediaClient({baseUrl, apiKey: 'key-of-the-test'});
const other = new MediaClient({baseUrl: `${baseUrl}/elsewhere`, apiKey: 'key-of-the-test'});
const results = {};
function count(name) {
  results[name] = (results[name] ?? 0) + 1;
}

async function upload(journal, given = {}) {
  try {
    for await (const {status} of uploadAll(['a.png'], {client, journal, ...given})) count(status);
  } catch (error) {
    count(error.code);
  }
}

await upload('good');
writeFileSync('text', 'This is no journal.\n');
writeFileSync('newer', '{"event":"header","journal":99,"service":"x"}\n');
mkdirSync('directory');
symlinkSync('good', 'link');
const refused = ['text', 'newer', 'directory', 'link', 'missing/one'];

// Each by two calls and three commands, and five others.
const each = 5 * refused.length + 5;
const found = await leftBy(
  {directories: ['.']},
  async () => {
    for (const name of refused) {
      await upload(name);
      await upload(name, {dryRun: true});
    }
    await upload('good', {client: other});
    await upload('good', {client: other, dryRun: true});
    // One call holds the journal while another asks for it.
    const holding = uploadAll(['a.png', 'a.png'], {client, journal: 'good'});
    await holding.next();
    await upload('good');
    await holding.return();
    for (const name of refused) {
      count(`upload: ${(await media(['upload', 'a.png', '--journal', name])).status}`);
      count(`list: ${(await media(['journal', 'list', name])).status}`);
      count(`merge: ${(await media(['journal', 'merge', 'good', name, '-o', 'merged'])).status}`);
    }
    count(`merge again: ${(await media(['journal', 'merge', 'good', '-o', 'merged'])).status}`);
    count(`merge into: ${(await media(['journal', 'merge', 'good', '-o', 'text'])).status}`);
  },
  {rounds: Math.ceil(Number(THINGS) / each), each, warmUp: 4},
);
await client.close();
await other.close();
tell({...found, results});
