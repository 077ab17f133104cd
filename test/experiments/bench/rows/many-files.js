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
  const memories = ['journal', 'bare.journal', 'manifest.json'].map(name => join(directory, name));
  const [journal, bareJournal, manifest] = memories;
  const env = environment(sink.url, directory);
  const parameters = ['upload', '-r', pictures, '-c', '16', '--ndjson'];
  const send = (...more) => timed(media(...parameters, ...more), {env});
  const {major, node} = newestNode(directory);
  const {ours, newest, parallel, single, journalled, manifested, bare, newestBare, bareJournalled} =
    await inRounds(5, () => {
      for (const path of memories) rmSync(path, {force: true});
      return {
        ours: send(),
        bare: timed(bareLoop('undici-batch.js', sink.url, pictures, '16')),
        newest: timed([node, program, ...parameters], {env}),
        newestBare: timed([node, ...bareLoop('undici-batch.js', sink.url, pictures, '16').slice(1)]),
        parallel: timed(['curl', '-sS', '--parallel', '--parallel-max', '16', '-K', config]),
        journalled: send('--journal', journal),
        bareJournalled: timed(bareLoop('undici-batch.js', sink.url, pictures, '16', bareJournal)),
        manifested: send('--manifest', manifest),
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
        ]),
      };
    });
  const latency = syncLatency(directory).toFixed(2);
  const rate = times => times.map(({wall}) => count / (wall / 1000));
  const cpu = times => times.map(({user, system}) => ((user + system) * 1000) / count);
  const rateRow = (what, ours, against, peer, atLeast) => ({
    what,
    unit: 'a second',
    ours: rate(ours),
    against,
    peer: rate(peer),
    atLeast,
  });
  const cpuRow = (what, ours, against, peer, atMost) => ({
    what: `CPU of ${what}`,
    unit: 'µs a file',
    ours: cpu(ours),
    against,
    peer: cpu(peer),
    atMost,
  });
  const many = '2,000 files of 20 kB';
  const loop = 'undici alone';
  const journalLoop = `${loop}, with two lines for each file, one of them durable before it is sent`;
  return [
    cpuRow(many, ours, loop, bare, 1.25),
    cpuRow(`${many}, Node ${major}`, newest, loop, newestBare, 1.5),
    cpuRow(`${many}, --journal`, journalled, journalLoop, bareJournalled),
    cpuRow(`${many}, --manifest`, manifested, 'without', ours),
    // No bound on Node 20: undici alone is no faster than ours.
    rateRow(many, ours, 'curl --parallel', parallel),
    rateRow(many, ours, 'xargs -P8 curl', single, 10),
    rateRow(`${many}, Node ${major}`, newest, 'curl --parallel', parallel, 0.35),
    rateRow(`${many}, Node ${major}`, newest, 'xargs -P8 curl', single, 10),
    {
      what: `the same, --journal (fsync takes ${latency} ms)`,
      unit: 'ms',
      ours: journalled.map(({wall}) => wall),
      against: 'without',
      peer: ours.map(({wall}) => wall),
      atMost: 1.35,
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
