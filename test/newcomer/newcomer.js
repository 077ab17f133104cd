// Plays a newcomer on a bare Debian (minbase with curl and ca-certificates), one way of docs/install.md after the other:
// `npm run newcomer`, or `npm run newcomer -- script package` for some. Prints a table of seconds and bytes. Needs root,
// debootstrap, a Debian mirror in /etc/apt and the executable (`npm run executables`). Node.js and npm are those of this
// machine: how they get there is not counted. MEDIA_NEWCOMER_ROOT keeps the bare Debian in that directory for the next time.
import {execFileSync, spawnSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import {createServer} from 'node:http';
import {loadavg, tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';

const source = fileURLToPath(new URL('../..', import.meta.url));
const all = ['script', 'hand', 'package', 'clone', 'image'];
const ways = process.argv.length > 2 ? process.argv.slice(2) : all;
const wrong = ways.filter(way => !all.includes(way));
if (wrong.length > 0) throw new Error(`There is no way ${wrong.join(', ')}, only ${all.join(', ')}.`);
const executable = join(source, 'dist-executables/media-linux-x64.gz');
const {version} = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
const scratch = mkdtempSync(join(tmpdir(), 'media-newcomer-'));
const reason = whatIsMissing();
try {
  if (reason === undefined) await visitAll();
  else console.log(`NOT RUN: the newcomer: ${reason}`);
} finally {
  rmSync(scratch, {recursive: true, force: true});
}

function whatIsMissing() {
  if (process.getuid?.() !== 0) return 'only root can make a root directory';
  const missing = ['debootstrap', 'unshare'].filter(
    program => spawnSync(program, ['--version']).error !== undefined,
  );
  if (missing.length > 0)
    return `not installed: ${missing.join(', ')} (Debian and Ubuntu: apt-get install debootstrap util-linux)`;
  if (!existsSync(executable)) return 'npm run executables has not built an executable';
  if (mirror() === undefined) return 'there is no Debian mirror in /etc/apt';
  return undefined;
}

/** The first mirror that apt uses here, in the old format or the new one. */
function mirror() {
  const directory = '/etc/apt/sources.list.d';
  const files = existsSync(directory) ? readdirSync(directory).map(name => join(directory, name)) : [];
  const texts = ['/etc/apt/sources.list', ...files]
    .filter(file => existsSync(file))
    .map(file => readFileSync(file, 'utf8'));
  return texts.flatMap(
    text => /^(?:URIs:|deb(?: \[.*?\])?) (\S+\/debian\/?)(?:\s|$)/m.exec(text)?.[1] ?? [],
  )[0];
}

async function visitAll() {
  const bare = process.env.MEDIA_NEWCOMER_ROOT ?? join(scratch, 'bare');
  if (!existsSync(join(bare, 'usr/bin/curl')))
    execFileSync(
      'debootstrap',
      ['--variant=minbase', '--include=curl,ca-certificates', 'trixie', bare, mirror()],
      {stdio: ['ignore', 2, 2]},
    );
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

/** Goes one way on a copy of the bare Debian, in a namespace of its own; what is written stays apart from it. */
async function visit(way, bare, release) {
  const place = join(scratch, way);
  for (const name of ['upper', 'work', 'root', 'tmp']) mkdirSync(join(place, name), {recursive: true});
  const npm = join(dirname(process.env.npm_execpath), '..');
  const enter = `
    set -e
    cd "$1"; root="$1/root"
    mount -t overlay overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" "$root"
    mkdir "$root/src" "$root/upper"
    mount --bind "$3" "$root/src"; mount -o remount,bind,ro "$root/src"
    mount --bind "$1/upper" "$root/upper"; mount --bind "$1/tmp" "$root/tmp"; chmod 1777 "$root/tmp"
    mount --rbind /dev "$root/dev"; mount -t proc proc "$root/proc"
    cp /etc/resolv.conf /etc/hosts "$root/etc/"
    cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
    case $4 in package | clone)
      mkdir -p "$root/usr/local/lib/node_modules/npm"
      cp "$5" "$root/usr/local/bin/node"; cp -r "$6/." "$root/usr/local/lib/node_modules/npm"
      for name in npm npx; do ln -s "../lib/node_modules/npm/bin/$name-cli.js" "$root/usr/local/bin/$name"; done ;;
    esac
    exec chroot "$root" sh /src/test/newcomer/visit.sh "$4" "$7" "$8"`;
  const registry = execFileSync('npm', ['config', 'get', 'registry'], {encoding: 'utf8'}).trim();
  const values = [place, bare, source, way, process.execPath, npm, release, version];
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
        NODE_EXTRA_CA_CERTS: '/etc/ssl/certs/ca-certificates.crt',
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
