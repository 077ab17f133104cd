// Installs the packed package globally with each supported Node, each under a separate prefix, and runs the smoke
// checks: `npm run smoke`, or `npm run smoke -- 22 26` for some versions. Each Node is an npm package, which stays in
// the user's cache directory. With MEDIA_TEST_PROGRAM, checks the single executable that it names instead. Prints a table at the
// end; the status is 1 if a check failed.
import {spawnSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {withMachine} from '../test/machine/packaging/machine.js';
import {checks, ofThePackage} from '../test/machine/packaging/smoke.js';
import {nodeOfMajor} from './node-of-major.js';

const npm = process.env.npm_execpath;
if (npm === undefined)
  throw new Error('Run it by npm run smoke: the npm that runs it is the one that installs.');
const chosen = process.argv.slice(2);
const majors = chosen.length > 0 ? chosen : ['20', '22', '24', '26'];
const {version} = JSON.parse(readFileSync('package.json', 'utf8'));
const scratch = mkdtempSync(join(tmpdir(), 'media-node-versions-'));

try {
  const executable = process.env.MEDIA_TEST_PROGRAM;
  const rows = executable === undefined ? await ofNodes() : await ofExecutable(resolve(executable));
  console.table(rows);
  const [failed, passed] = ['failed', 'passed'].map(one => rows.filter(({result}) => result === one).length);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  rmSync(scratch, {recursive: true, force: true});
}

async function ofNodes() {
  const [{filename}] = JSON.parse(
    call(process.execPath, npm, 'pack', '--json', '--ignore-scripts', '--pack-destination', scratch),
  );
  const rows = [];
  for (const major of majors) {
    const node = nodeOfMajor(major);
    const prefix = join(scratch, major);
    mkdirSync(prefix);
    const tarball = join(scratch, filename);
    call(node, npm, 'install', '--global', '--prefix', prefix, '--no-audit', '--no-fund', tarball);
    rows.push(...(await smoke(call(node, '--version').trim(), node, prefix)));
  }
  return rows;
}

async function ofExecutable(executable) {
  mkdirSync(join(scratch, 'bin'));
  symlinkSync(executable, join(scratch, 'bin/media'));
  return await smoke('executable', executable, scratch);
}

async function smoke(name, node, prefix) {
  const rows = [];
  for (const [check, action] of Object.entries(checks)) {
    if (name === 'executable' && ofThePackage.includes(check)) {
      rows.push({node: name, check, result: 'not run: the package only'});
      continue;
    }
    const start = performance.now();
    const result = await withMachine({node, prefix, version}, action).then(
      () => 'passed',
      error => {
        console.error(`${name}, ${check}: ${error.stack}`);
        return 'failed';
      },
    );
    rows.push({node: name, check, result, seconds: ((performance.now() - start) / 1000).toFixed(1)});
  }
  return rows;
}

function call(file, ...parameters) {
  const {status, stdout} = spawnSync(file, parameters, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`${parameters.join(' ')} ended with status ${status}.`);
  return stdout;
}
