import {spawn} from 'node:child_process';
import {readdirSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {bareLoop, environment, media, newestNode, program, upload} from '../commands.js';
import {picturesIn, placeOf, syncLatency} from '../files.js';
import {inRounds, timed} from '../measure.js';
import {within} from '../within.js';

export async function manyFiles(directory, sink) {
  const count = 2000;
  const pictures = picturesIn(join(placeOf(6 * count, directory), 'many'), count, 20_000);
  const names = readdirSync(pictures, {recursive: true})
    .filter(name => name.endsWith('.gif'))
    .map(name => join(pictures, name));
  const address = `${sink.url}/v1/media/upload`;
  const config = join(directory, 'curl.config');
  writeFileSync(
    config,
    names.map(name => `url="${address}"\nrequest=POST\nupload-file="${name}"\noutput=/dev/null\n`).join(''),
  );
  const list = join(directory, 'names');
  writeFileSync(list, names.join('\n'));
  const journal = join(directory, 'journal');
  const bareJournal = join(directory, 'bare.journal');
  const env = environment(sink.url, directory);
  const send = (...parameters) =>
    timed(upload('-r', pictures, '-c', '16', '--ndjson', ...parameters), {env}).wall;
  const {major, node} = newestNode(directory);
  const bareBatch = (...parameters) =>
    timed(bareLoop('undici-batch.js', sink.url, pictures, '16', ...parameters)).wall;
  const {ours, newest, parallel, single, journalled, bare, bareJournalled} = await inRounds(5, () => {
    for (const path of [journal, bareJournal]) rmSync(path, {force: true});
    return {
      ours: send(),
      newest: timed([node, program, 'upload', '-r', pictures, '-c', '16', '--ndjson'], {env}).wall,
      parallel: timed(['curl', '-sS', '--parallel', '--parallel-max', '16', '-K', config]).wall,
      bare: bareBatch(),
      journalled: send('--journal', journal),
      bareJournalled: bareBatch(bareJournal),
      single: timed([
        'xargs',
        '-a',
        list,
        '-P8',
        '-I{}',
        'curl',
        '-sS',
        '-o',
        '/dev/null',
        '-X',
        'POST',
        '-T',
        '{}',
        address,
      ]).wall,
    };
  });
  const rates = times => times.map(time => count / (time / 1000));
  const latency = syncLatency(directory).toFixed(2);
  const row = (what, ours, against, peer, atLeast) => ({
    what,
    unit: 'a second',
    ours: rates(ours),
    against,
    peer: rates(peer),
    atLeast,
  });
  const many = '2,000 files of 20 kB';
  return [
    // No bound on Node 20: the bare loop itself is no faster than ours.
    row(many, ours, 'curl --parallel', parallel),
    row(many, ours, 'bare undici loop', bare, 0.9),
    row(many, ours, 'xargs -P8 curl', single, 10),
    row(`${many}, Node ${major}`, newest, 'curl --parallel', parallel, 0.35),
    row(`${many}, Node ${major}`, newest, 'xargs -P8 curl', single, 10),
    {
      what: `the same, --journal (fsync takes ${latency} ms)`,
      unit: 'ms',
      ours: journalled,
      against: 'without',
      peer: ours,
      atMost: 1.35,
    },
    {
      what: 'the same, --journal',
      unit: 'ms',
      ours: journalled,
      against: 'bare undici loop with two lines for each file, one of them durable before it is sent',
      peer: bareJournalled,
    },
  ];
}

export async function slowAnswers(directory, sink) {
  const pictures = picturesIn(join(directory, 'some'), 400, 3000);
  const env = environment(sink.url, directory);
  const parameters = ['upload', '-r', pictures, '-c', '16', '--ndjson'];
  const {major, node} = newestNode(directory);
  const {ours, newest, bare} = await inRounds(5, () => ({
    ours: timed(media(...parameters), {env}).wall,
    newest: timed([node, program, ...parameters], {env}).wall,
    bare: timed(bareLoop('undici-batch.js', sink.url, pictures, '16')).wall,
  }));
  const ideal = (400 / 16) * 50;
  const row = (what, times) => ({
    what,
    unit: 'ms',
    ours: times,
    against: `${ideal} ms`,
    ratio: times.map(time => time / ideal),
    atMost: 1.15,
  });
  const slow = '400 files, answers after 50 ms';
  const beside = {what: slow, unit: 'ms', ours, against: 'bare undici loop', peer: bare, atMost: 1.05};
  return [row(slow, ours), row(`${slow}, Node ${major}`, newest), beside];
}

export async function tree(directory, sink) {
  const [small, large] = [20_000, 200_000].map(count =>
    picturesIn(join(placeOf(count, directory), `tree${count / 1000}`), count, 43),
  );
  const env = environment(sink.url, directory);
  const results = [];
  for (const [what, parameters] of [
    ['dry run', ['--dry-run']],
    ['upload', []],
  ]) {
    const run = pictures => timed(upload('-r', pictures, '-c', '16', '--ndjson', ...parameters), {env});
    const {ours, peer} = await inRounds(1, () => ({peer: run(small), ours: run(large)}));
    const walls = (times, files) => times.map(({wall}) => (wall * 1000) / files);
    results.push({
      what: `${what} of 200,000 files`,
      unit: 'µs a file',
      ours: walls(ours, 200_000),
      against: 'of 20,000',
      peer: walls(peer, 20_000),
      atMost: 1.1,
    });
    const peaks = ours.map(({peak}) => peak);
    results.push(within(`${what} of 200,000 files`, 'MiB', peaks, 200));
  }
  const {first} = await inRounds(3, async () => ({
    first: await timeToFirstLine(upload('-r', large, '-c', '16', '--ndjson'), env),
  }));
  return [...results, within('first upload of 200,000', 'ms', first, 1000)];
}

/** Starts a command and ends it once it has printed a line. */
async function timeToFirstLine([command, ...parameters], env) {
  const start = process.hrtime.bigint();
  const child = spawn(command, parameters, {
    env: {...process.env, ...env},
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  for await (const _line of createInterface({input: child.stdout})) break;
  const time = Number(process.hrtime.bigint() - start) / 1e6;
  const ended = new Promise(resolve => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
  return time;
}
