import {spawn, spawnSync} from 'node:child_process';
import {cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';
import {writeDocuments} from './documents.js';
import {filmOf, newPicture, picturesIn, syncLatency} from './files.js';
import {writeJournal} from './journals.js';
import {lagFileRows, lagRows} from './lag/rows.js';
import {inRounds, startSink, timed, timedOnce} from './measure.js';
import {million} from './million.js';
import {nodeVersions} from './node-versions.js';

const program = fileURLToPath(new URL('../../bin/media.js', import.meta.url));
const compiled = fileURLToPath(new URL('../../dist/compiled', import.meta.url));
const undiciLoop = fileURLToPath(new URL('undici-loop.js', import.meta.url));
const undiciBatch = fileURLToPath(new URL('undici-batch.js', import.meta.url));
const gibibyte = 2 ** 30;
/** curl holds a body of --data-binary in memory, and no more than this. */
const largest = 1000 * 2 ** 20;

const media = (...parameters) => [process.execPath, program, ...parameters];
const upload = (...parameters) => media('upload', ...parameters);

/** The newest Node beside the one that runs this: what is short depends much on how soon it compiles. */
function newestNode(directory) {
  const [[major, node]] = [...nodeVersions(directory)].sort(([a], [b]) => b - a);
  return {major, node};
}

/** The environment of a program that posts to a sink, with no settings of its user's. */
function environment(url, directory) {
  return {MEDIA_BASE_URL: url, MEDIA_API_KEY: 'bench', MEDIA_CONFIG_DIR: join(directory, 'config')};
}

/** Calls `action` with a sink, and ends the sink afterwards. */
async function withSink(parameters, action) {
  const sink = await startSink(...parameters);
  try {
    return await action(sink);
  } finally {
    sink.stop();
  }
}

/** What is measured; each row gives the results of its lines. */
export const rows = [
  {name: 'start-up', measure: startUp},
  {name: 'small upload', measure: directory => withSink([], sink => smallUpload(directory, sink))},
  {name: 'package of root', measure: directory => withSink([], sink => packageOfRoot(directory, sink))},
  {name: 'large file', measure: directory => withSink([], sink => largeFile(directory, sink))},
  {name: 'memory', measure: directory => withSink([], sink => memory(directory, sink))},
  {name: 'many files', measure: directory => withSink([], sink => manyFiles(directory, sink))},
  {
    name: 'slow answers',
    measure: directory => withSink(['--delay', '50'], sink => slowAnswers(directory, sink)),
  },
  {name: 'journal', measure: directory => withSink([], sink => journals(directory, sink))},
  {
    name: 'million',
    measure: (directory, isLong) =>
      withSink([], sink => million(directory, {upload, env: environment(sink.url, directory), isLong})),
  },
  {name: 'tree', measure: directory => withSink([], sink => tree(directory, sink))},
  {name: 'rewrite', measure: directory => withSink([], sink => rewrite(directory, sink))},
  {name: 'TLS', measure: overTls},
  {name: 'package', measure: packageSize},
  ...lagRows,
  ...lagFileRows,
];

async function startUp() {
  const commands = [['--version'], ['--help'], ['completion', 'bash']];
  const known = commands.filter(command => spawnSync(process.execPath, [program, ...command]).status === 0);
  const {node, ...ours} = await inRounds(21, () => {
    const [node, ...times] = timedOnce([
      [process.execPath, '-e', '0'],
      ...known.map(command => media(...command)),
    ]);
    return {node, ...Object.fromEntries(times.map((time, index) => [known[index].join(' '), time]))};
  });
  return Object.entries(ours).map(([command, times]) => ({
    what: `media ${command}`,
    unit: 'ms',
    ours: times,
    against: 'node -e 0',
    peer: node,
    atMost: 1.25,
  }));
}

async function smallUpload(directory, sink) {
  const picture = join(picturesIn(join(directory, 'one'), 1, 3000), '0000', '0000.gif');
  const bounds = {20: 1.7, 26: 3};
  const results = [];
  for (const [major, node] of nodeVersions(directory)) {
    const {ours, first, peer} = await inRounds(21, () => {
      // The first run keeps what it compiled, and the second takes it.
      rmSync(compiled, {recursive: true, force: true});
      const upload = [node, program, 'upload', picture, '--json'];
      const commands = [[node, '-e', '0'], upload, upload];
      const [peer, first, ours] = timedOnce(commands, {env: environment(sink.url, directory)});
      return {ours, first, peer};
    });
    const against = `node -e 0, Node ${major}`;
    results.push({
      what: `media upload 3kB --json, Node ${major}`,
      unit: 'ms',
      ours,
      against,
      peer,
      atMost: bounds[major] ?? 3,
    });
    results.push({what: `the first one, Node ${major}`, unit: 'ms', ours: first, against, peer});
  }
  return results;
}

/** What a user's commands take where root installed the package: the first run, and those after it. */
async function packageOfRoot(directory, sink) {
  if (process.getuid?.() !== 0) return [];
  const root = join(directory, 'installed');
  const source = fileURLToPath(new URL('../..', import.meta.url));
  for (const part of ['bin', 'dist', 'package.json'])
    cpSync(join(source, part), join(root, part), {
      recursive: true,
      filter: path => !path.endsWith('compiled'),
    });
  // Root is the user here, so the package is given to another one.
  spawnSync('chown', ['--recursive', '65534:65534', root]);
  const picture = join(picturesIn(join(directory, 'one'), 1, 3000), '0000', '0000.gif');
  const cache = join(directory, 'cache');
  const env = {...environment(sink.url, directory), XDG_CACHE_HOME: cache};
  const commands = {
    '--version': ['--version'],
    'upload 3kB --json': ['upload', picture, '--json'],
    'whoami --json': ['whoami', '--json'],
  };
  const results = [];
  for (const [major, node] of nodeVersions(directory))
    for (const [name, parameters] of Object.entries(commands)) {
      const {first, ours, peer} = await inRounds(15, () => {
        rmSync(cache, {recursive: true, force: true});
        const command = [node, join(root, 'bin', 'media.js'), ...parameters];
        const [peer, first, ours] = timedOnce([[node, '-e', '0'], command, command], {env});
        return {first, ours, peer};
      });
      const row = {unit: 'ms', against: `node -e 0, Node ${major}`, peer};
      const atMost = name === '--version' ? 1.25 : 2.6;
      results.push({...row, what: `media ${name}, installed by root`, ours, atMost});
      if (name !== '--version') results.push({...row, what: 'the first one', ours: first});
    }
  return results;
}

async function largeFile(directory, sink) {
  const film = filmOf(join(directory, '1000MiB.mp4'), largest);
  const address = `${sink.url}/v1/media/upload`;
  const {ours, streamed, whole, loop} = await inRounds(7, () => ({
    ours: timed(upload(film, '--json'), {env: environment(sink.url, directory)}),
    streamed: timed(['curl', '-sS', '-X', 'POST', '-T', film, address]),
    whole: timed(['curl', '-sS', '--data-binary', `@${film}`, address]),
    loop: timed([process.execPath, undiciLoop, sink.url, film]),
  }));
  const speeds = times => times.map(({wall}) => 1000 / (wall / 1000));
  const user = times => times.map(time => time.user);
  return [
    {
      what: 'upload of 1,000 MiB',
      unit: 'MiB/s',
      ours: speeds(ours),
      against: 'curl -T',
      peer: speeds(streamed),
      atLeast: 0.8,
    },
    {
      what: 'upload of 1,000 MiB',
      unit: 'MiB/s',
      ours: speeds(ours),
      against: 'curl --data-binary',
      peer: speeds(whole),
      atLeast: 1.4,
    },
    {
      what: 'user CPU of 1,000 MiB',
      unit: 'ms',
      ours: user(ours),
      against: 'bare undici loop',
      peer: user(loop),
      atMost: 1.5,
    },
  ];
}

async function memory(directory, sink) {
  const small = filmOf(join(directory, '1GiB.mp4'), gibibyte);
  const large = filmOf(join(directory, '8GiB.mp4'), 8 * gibibyte, {sparse: true});
  const peak = film => timed(upload(film, '--json'), {env: environment(sink.url, directory)}).peak;
  const {ours, peer} = await inRounds(3, () => ({ours: peak(large), peer: peak(small)}));
  return [
    {what: 'peak memory of 8 GiB', unit: 'MiB', ours, against: 'of 1 GiB', peer, atMost: 1.1},
    {
      what: 'peak memory of 8 GiB',
      unit: 'MiB',
      ours,
      against: '110 MiB',
      ratio: ours.map(value => value / 110),
      atMost: 1,
    },
  ];
}

async function rewrite(directory, sink) {
  const home = mkdtempSync(join(directory, 'rewrite-'));
  const env = {...environment(sink.url, home), XDG_STATE_HOME: home};
  writeDocuments(join(home, 'docs'), 2000);
  const {wall, peak} = timed(media('rewrite', '--write', 'docs'), {env, cwd: home});
  rmSync(home, {recursive: true});
  const what = 'rewrite of 2,000 documents with 10,000 references';
  return [
    {what, unit: 'ms', ours: [wall], against: '20 s', ratio: [wall / 20_000], atMost: 1},
    {what, unit: 'MiB', ours: [peak], against: '250 MiB', ratio: [peak / 250], atMost: 1},
  ];
}

async function manyFiles(directory, sink) {
  const count = 2000;
  const pictures = picturesIn(join(directory, 'many'), count, 20_000);
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
  const env = environment(sink.url, directory);
  const send = (...parameters) =>
    timed(upload('-r', pictures, '-c', '16', '--ndjson', ...parameters), {env}).wall;
  const {major, node} = newestNode(directory);
  const {ours, newest, parallel, single, journalled, bare} = await inRounds(5, () => {
    rmSync(journal, {force: true});
    return {
      ours: send(),
      newest: timed([node, program, 'upload', '-r', pictures, '-c', '16', '--ndjson'], {env}).wall,
      parallel: timed(['curl', '-sS', '--parallel', '--parallel-max', '16', '-K', config]).wall,
      bare: timed([process.execPath, undiciBatch, sink.url, pictures, '16']).wall,
      journalled: send('--journal', journal),
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
  ];
}

/** What it takes to go on with a large journal: one more file, and a proof of all. */
async function journals(directory, sink) {
  const path = name => join(directory, `${name}.journal`);
  for (const [name, count] of Object.entries({small: 10_000, tenth: 100_000, large: 1_000_000}))
    writeJournal(path(name), sink.url, count);
  const env = environment(sink.url, directory);
  const picture = join(directory, 'one more.gif');
  const one = name => {
    newPicture(picture);
    return timed(upload(picture, '--json', '--journal', path(name)), {env});
  };
  const {wall, peak, more} = await inRounds(5, () => {
    rmSync(path('new'), {force: true});
    const [without, small, large] = [one('new'), one('small'), one('large')];
    return {...large, more: small.wall - without.wall};
  });
  const checked = timed(media('journal', 'check', path('large'), '--', picture), {env});
  const merged = name => timed(media('journal', 'merge', '-o', path('all'), path(name)), {env});
  const [tenth, whole] = [merged('tenth'), merged('large')];
  return [
    within('a file more with 1,000,000 in its journal', 'ms', wall, 6000),
    within('the same, peak memory', 'MiB', peak, 220),
    within('a file more with 10,000 in its journal: on top of one with none', 'ms', more, 60),
    within('journal check of 1,000,000, peak memory', 'MiB', [checked.peak], 300),
    within('journal merge of 1,000,000, peak memory', 'MiB', [whole.peak], 300),
    {
      what: 'journal merge of 1,000,000',
      unit: 'µs an entry',
      ours: [whole.wall / 1000],
      against: 'of 100,000',
      peer: [tenth.wall / 100],
      atMost: 1.1,
    },
    {
      what: 'files that the journal has the records of',
      unit: 'a second',
      ...(await resumed(directory, path('resumed'), env)),
      against: '8,000 a second',
      atLeast: 1,
    },
  ];
}

/** How many files a second a run goes by that its journal has the records of. */
async function resumed(directory, journal, env) {
  const count = 20_000;
  const all = upload('-r', picturesIn(join(directory, 'tree20'), count, 43), '-c', '16', '--ndjson');
  rmSync(journal, {force: true});
  // The first round uploads them.
  const {ours} = await inRounds(3, () => ({
    ours: count / (timed([...all, '--journal', journal], {env}).wall / 1000),
  }));
  return {ours, ratio: ours.map(rate => rate / 8000)};
}

/** A result that has a limit of its own. */
function within(what, unit, ours, limit) {
  return {what, unit, ours, against: `${limit} ${unit}`, ratio: ours.map(value => value / limit), atMost: 1};
}

async function slowAnswers(directory, sink) {
  const pictures = picturesIn(join(directory, 'some'), 400, 3000);
  const env = environment(sink.url, directory);
  const parameters = ['upload', '-r', pictures, '-c', '16', '--ndjson'];
  const {major, node} = newestNode(directory);
  const {ours, newest, bare} = await inRounds(5, () => ({
    ours: timed(media(...parameters), {env}).wall,
    newest: timed([node, program, ...parameters], {env}).wall,
    bare: timed([process.execPath, undiciBatch, sink.url, pictures, '16']).wall,
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

async function tree(directory, sink) {
  const small = picturesIn(join(directory, 'tree20'), 20_000, 43);
  const large = picturesIn(join(directory, 'tree200'), 200_000, 43);
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
    results.push({
      what: `${what} of 200,000 files`,
      unit: 'MiB',
      ours: peaks,
      against: '200 MiB',
      ratio: peaks.map(peak => peak / 200),
      atMost: 1,
    });
  }
  const {first} = await inRounds(3, async () => ({
    first: await timeToFirstLine(upload('-r', large, '-c', '16', '--ndjson'), env),
  }));
  results.push({
    what: 'first upload of 200,000',
    unit: 'ms',
    ours: first,
    against: '1 s',
    ratio: first.map(time => time / 1000),
    atMost: 1,
  });
  return results;
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

async function overTls(directory) {
  const certificate = join(directory, 'certificate.pem');
  const key = join(directory, 'key.pem');
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const made = [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-keyout',
    key,
    '-out',
    certificate,
    ...subject,
  ];
  if (spawnSync('openssl', made).status !== 0) throw new Error('openssl made no certificate');
  return withSink(['--tls', certificate, key], async sink => {
    const film = filmOf(join(directory, '1GiB.mp4'), gibibyte);
    const address = `${sink.url}/v1/media/upload`;
    const journal = join(directory, 'tls.journal');
    const env = environment(sink.url, directory);
    const curl = ['curl', '-sS', '--cacert', certificate, '-X', 'POST', '-T', film, address];
    const {ours, peer, journalled, hashed} = await inRounds(5, () => {
      rmSync(journal, {force: true});
      const send = (...parameters) =>
        timed(upload(film, '--json', '--cacert', certificate, ...parameters), {env}).wall;
      const beside = `sha256sum '${film}' & ${curl.map(word => `'${word}'`).join(' ')}; wait`;
      return {
        ours: send(),
        peer: timed(curl).wall,
        journalled: send('--journal', journal),
        hashed: timed(['sh', '-c', beside]).wall,
      };
    });
    const speeds = times => times.map(time => 1024 / (time / 1000));
    const row = (what, ours, against, peer) => ({
      what,
      unit: 'MiB/s',
      ours: speeds(ours),
      against,
      peer: speeds(peer),
      atLeast: 0.8,
    });
    return [
      row('1 GiB over TLS', ours, 'curl -T', peer),
      row('1 GiB over TLS, --journal', journalled, 'curl -T with sha256sum beside it', hashed),
    ];
  });
}

async function packageSize(directory) {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const packed = spawnSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', directory], {
    cwd: root,
    encoding: 'utf8',
  });
  const [{filename, unpackedSize, files}] = JSON.parse(packed.stdout);
  const mebibytes = unpackedSize / 2 ** 20;
  const results = [
    {
      what: `package, ${files.length} files, unpacked`,
      unit: 'MiB',
      ours: [mebibytes],
      against: '3 MiB',
      ratio: [mebibytes / 3],
      atMost: 1,
    },
  ];
  const bare = join(directory, 'empty');
  mkdirSync(bare, {recursive: true});
  writeFileSync(join(bare, 'package.json'), '{"name":"empty","version":"1.0.0"}');
  spawnSync('npm', ['pack', '--pack-destination', directory], {cwd: bare});
  const {ours, empty} = await inRounds(3, () => ({
    ours: installTime(directory, join(directory, filename)),
    empty: installTime(directory, join(directory, 'empty-1.0.0.tgz')),
  }));
  results.push({what: 'install', unit: 's', ours, against: 'of an empty package', peer: empty});
  return results;
}

/** How long installing takes in an empty directory with an empty cache, in seconds. */
function installTime(directory, name) {
  const place = mkdtempSync(join(directory, 'install-'));
  const flags = ['--no-audit', '--no-fund', '--loglevel=error', '--cache', join(place, 'cache')];
  const {wall} = timed(['npm', 'install', '--prefix', place, ...flags, name]);
  rmSync(place, {recursive: true});
  return wall / 1000;
}
