import {spawnSync} from 'node:child_process';
import {mkdirSync, readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {filmOf, picturesIn} from '../files.js';
import {inRounds, median, startSinkAt} from '../measure.js';
import {within} from '../within.js';
import {longCells, nameOf, photo, shortCells} from './cells.js';
import {openLine, whyNoLines} from './line.js';

const program = fileURLToPath(new URL('../../../../bin/media.js', import.meta.url));
const far = '10.99.0.2';
const numbers = [8, 16, 32, 64, 128];

/** `-c auto` on lines that this benchmark makes, against fixed numbers and curl, in files a second. */
export const lagRows = [...shortCells, ...longCells].map((cell, index) => ({
  name: `lag: ${nameOf(cell)}`,
  isLong: index >= shortCells.length,
  skip: whyNoLines,
  measure: directory => onLine(directory, cell, place => filesOf(cell, place)),
}));

/** A single file, which is sent over one connection. */
export const lagFileRows = [50, 150].map(rtt => ({
  name: `lag: a file of 500 MiB, ${rtt} ms`,
  isLong: rtt === 150,
  skip: whyNoLines,
  measure: directory => onLine(directory, {rtt}, oneFile),
}));

/** The same number at a time as curl, which waits for `100 Continue` before it sends a body. */
export const lagPeerRows = [1, 8, 16].map(number => ({
  name: `lag: beside curl, ${number} at a time`,
  skip: whyNoLines,
  measure: directory => onLine(directory, {rtt: 10}, place => besideCurl(number, place)),
}));

/** Calls `action` with a way to run commands at the near end of a line, at whose far end there is a service. */
async function onLine(directory, cell, action) {
  const place = join(directory, 'lag');
  mkdirSync(place, {recursive: true});
  const line = await openLine(place, cell);
  const {delay = 0, most = 'Infinity'} = cell;
  const sink = await startSinkAt(line.far, far, '--host', far, '--delay', `${delay}`, '--most', `${most}`);
  const env = {...process.env, MEDIA_BASE_URL: sink.url, MEDIA_API_KEY: 'bench', MEDIA_CONFIG_DIR: place};
  const run = command => {
    const [first, ...rest] = [...line.near, ...command];
    const start = process.hrtime.bigint();
    const {status, stdout} = spawnSync(first, rest, {env, maxBuffer: 1e9, encoding: 'utf8'});
    return {seconds: Number(process.hrtime.bigint() - start) / 1e9, status, stdout};
  };
  const media = (...parameters) =>
    run([process.execPath, program, 'upload', '--ndjson', '--allow-http', ...parameters]);
  try {
    return await action({place, url: sink.url, run, media});
  } finally {
    sink.stop();
    await line.close();
  }
}

function filesOf({files, size, most, atLeast = 0.9, ...line}, {place, url, run, media}) {
  const pictures = picturesIn(join(place, `${files} of ${size}`), files, size);
  const curl = curlConfig(place, pictures, url);
  const counts = () => JSON.parse(run(['curl', '-sS', `${url}/counts`]).stdout);
  counts();
  // A fixed number above what the service takes loses files.
  const rates = (most === undefined ? numbers : [most, 2 * most]).map(number => ({
    number,
    rate: files / media('-r', pictures, '-c', String(number)).seconds,
  }));
  const peer = most === undefined ? files / run(curl).seconds : undefined;
  counts();
  const seconds = [1, 2, 3].map(() => {
    const {seconds, status} = media('-r', pictures, '-c', 'auto');
    if (status !== 0) throw new Error(`-c auto ended with status ${status}`);
    return seconds;
  });
  const {taken, refused} = counts();
  // More than a service takes may be faster, at the price of what it refuses.
  const [first] = rates;
  const best = most === undefined ? rates.toSorted((one, other) => other.rate - one.rate)[0] : first;
  const eight = rates.find(({number}) => number === 8);
  const shown = rates.map(({number, rate}) => `${number}: ${rate.toFixed(0)}`).join(', ');
  const others = `${shown}${peer === undefined ? '' : `; curl: ${peer.toFixed(0)}`}`;
  const what = nameOf({files, size, most, ...line});
  const row = (against, {rate}, bound) => ({
    what,
    unit: 'a second',
    // A lost packet may cost one run a second; the best of the fixed numbers was the luckiest.
    ours: [files / median(seconds)],
    against,
    peer: [rate],
    atLeast: bound,
  });
  const result = row(`-c ${best.number} (${others})`, best, atLeast);
  if (most === undefined) return [result, row('-c 8', eight, 0.9)];
  const part = (100 * refused) / (taken + refused);
  return [result, within(what, '% refused', [part], 5)];
}

async function besideCurl(number, {place, url, run, media}) {
  const size = 3 * photo;
  const count = number === 1 ? 100 : 400;
  const pictures = picturesIn(join(place, `${count} of ${size}`), count, size);
  const curl = curlConfig(place, pictures, url, number);
  const {ours, peer} = await inRounds(3, () => ({
    ours: count / media('-r', pictures, '-c', String(number)).seconds,
    peer: count / run(curl).seconds,
  }));
  const what = `${nameOf({files: count, size, rtt: 10})}, -c ${number}`;
  return [{what, unit: 'a second', ours, against: 'curl --parallel', peer, atLeast: 0.9}];
}

function curlConfig(place, pictures, url, most = 50) {
  const config = join(place, 'curl.config');
  const transfers = readdirSync(pictures, {recursive: true})
    .filter(name => name.endsWith('.gif'))
    .map(name => `url="${url}/v1/media/upload"\nrequest=POST\nupload-file="${join(pictures, name)}"\n`);
  writeFileSync(config, transfers.map(lines => `${lines}output=/dev/null\n`).join(''));
  return ['curl', '-sS', '--parallel', '--parallel-max', String(most), '-K', config];
}

function oneFile({place, url, run, media}) {
  const size = 500;
  const film = filmOf(join(place, `${size}MiB.mp4`), size * 2 ** 20);
  const ours = size / media(film).seconds;
  const peer = size / run(['curl', '-sS', '-X', 'POST', '-T', film, `${url}/v1/media/upload`]).seconds;
  return [{unit: 'MiB/s', ours: [ours], against: 'curl -T', peer: [peer], atLeast: 1}];
}
