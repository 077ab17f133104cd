// Plays a newcomer on a bare Debian with curl and ca-certificates, one way of docs/install.md after the other:
// `npm run newcomer`, or `npm run newcomer -- script package` for some. Prints a table of seconds and bytes. Needs root,
// debootstrap, Debian's packages and the executable (`npm run executables`). Everything else that a way needs is installed there,
// as docs/install.md says; only the action's Node.js is put there from outside, as the runner brings it.
import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import {createServer} from 'node:http';
import {loadavg, tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {parse} from 'yaml';
import {nodeOfMajor} from '../../../.ci/node-of-major.js';
import {bareDebian, whyNoBareDebian} from '../../support/bare-debian.js';

const source = fileURLToPath(new URL('../../..', import.meta.url));
const all = ['script', 'hand', 'package', 'clone', 'image', 'action'];
const ways = process.argv.length > 2 ? process.argv.slice(2) : all;
const wrong = ways.filter(way => !all.includes(way));
if (wrong.length > 0) throw new Error(`There is no way ${wrong.join(', ')}, only ${all.join(', ')}.`);
const executable = join(source, 'dist-executables/media-linux-x64.gz');
const {version} = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
const scratch = mkdtempSync(join(tmpdir(), 'media-newcomer-'));
const reason = whatIsMissing();
try {
  if (reason === undefined) await visitAll();
  else {
    console.log(`NOT RUN: the newcomer: ${reason}`);
    process.exitCode = 1;
  }
} finally {
  rmSync(scratch, {recursive: true, force: true});
}

function whatIsMissing() {
  if (!existsSync(executable)) return 'npm run executables has not built an executable';
  return whyNoBareDebian();
}

async function visitAll() {
  const bare = bareDebian(scratch);
  const server = await servedRelease();
  const rows = [];
  try {
    for (const way of ways) rows.push(await visit(way, bare, `http://127.0.0.1:${server.address().port}`));
  } finally {
    server.close();
  }
  console.table(rows);
  const failed = rows.filter(row => row.result !== 'passed').length;
  console.log(`${rows.length - failed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

/** The files of a release on loopback. */
async function servedRelease() {
  const [{filename}] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', scratch], {
      cwd: source,
      encoding: 'utf8',
    }),
  );
  const files = {
    'media-linux-x64.gz': executable,
    'install.sh': join(source, 'install.sh'),
    [filename]: join(scratch, filename),
  };
  const sums = Object.entries(files).map(
    ([name, path]) => `${createHash('sha256').update(readFileSync(path)).digest('hex')}  ${name}\n`,
  );
  files.SHA256SUMS = join(scratch, 'SHA256SUMS');
  writeFileSync(files.SHA256SUMS, sums.join(''));
  const server = createServer((request, response) => {
    const path = files[request.url.slice(1)];
    if (path === undefined) response.writeHead(404).end();
    else createReadStream(path).pipe(response);
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** The Node.js of the runner, whose file run-action.sh in this directory runs the action as the runner would, with these inputs. */
function runnerOf(release, directory) {
  const {inputs, runs} = parse(readFileSync(join(source, 'action.yml'), 'utf8'));
  const given = {files: 'photo.png', 'base-url': 'embedded', release};
  const variables = Object.entries(inputs).map(
    ([name, input]) => `'INPUT_${name.toUpperCase()}=${given[name] ?? input.default ?? ''}'`,
  );
  const command = [
    'env',
    ...variables,
    'GITHUB_ACTIONS=true',
    '/runner/node/node',
    `/runner/action/${runs.main}`,
  ];
  writeFileSync(join(directory, 'run-action.sh'), `exec ${command.join(' ')}\n`);
  return nodeOfMajor(/^node(\d+)$/.exec(runs.using)[1]);
}

/** Goes one way on a copy of the bare Debian, in a namespace of its own; what is written stays apart from it. */
async function visit(way, bare, release) {
  const place = join(scratch, way);
  for (const name of ['upper', 'work', 'root', 'tmp']) mkdirSync(join(place, name), {recursive: true});
  const runner = way === 'action' ? runnerOf(release, join(place, 'tmp')) : '';
  const enter = `
    set -e
    cd "$1"; root="$1/root"
    mount -t overlay overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" "$root"
    mkdir "$root/src" "$root/upper"
    mount --bind "$3" "$root/src"; mount -o remount,bind,ro "$root/src"
    mount --bind "$1/upper" "$root/upper"; mount --bind "$1/tmp" "$root/tmp"; chmod 1777 "$root/tmp"
    mount --rbind /dev "$root/dev"; mount -t proc proc "$root/proc"
    cp /etc/resolv.conf /etc/hosts "$root/etc/"; cp /etc/ssl/certs/ca-certificates.crt "$root/tmp/"
    if [ -n "$5" ]; then
      mkdir -p "$root/runner/node" "$root/runner/action"; cp "$5" "$root/runner/node/"
      git -C "$3" archive HEAD | tar -x -C "$root/runner/action"
    fi
    exec chroot "$root" sh /src/test/experiments/newcomer/visit.sh "$4" "$6" "$7"`;
  const registry = execFileSync('npm', ['config', 'get', 'registry'], {encoding: 'utf8'}).trim();
  const values = [place, bare, source, way, runner, release, version];
  const load = loadavg()[0];
  const {stdout, exitCode} = await execa(
    'unshare',
    ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', enter, 'sh', ...values],
    {
      extendEnv: false,
      env: {
        ...{PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root'},
        ...{npm_config_registry: registry, npm_config_update_notifier: 'false', GIT_CONFIG_COUNT: '1'},
        ...{GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*'},
        NODE_EXTRA_CA_CERTS: '/tmp/ca-certificates.crt',
      },
      reject: false,
      stderr: 'inherit',
      timeout: 1_200_000,
    },
  );
  const steps = Object.fromEntries(stdout.split('\n').map(line => line.split(' ')));
  const seconds = name => (steps[name] === undefined ? '' : (steps[name] / 1000).toFixed(1));
  const names = ['needs', 'install', 'upload', 'completion', 'man', 'doctor', 'upgrade', 'uninstall'];
  return {
    way,
    ...Object.fromEntries(names.map(name => [name, seconds(name)])),
    MB: (steps.bytes / 1e6).toFixed(1),
    load: load.toFixed(0),
    result: exitCode === 0 ? 'passed' : 'failed',
  };
}
